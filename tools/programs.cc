#include "tools/programs.h"

#include "tools/progress.h"

namespace bessemer::tools {

using vm::fail;
using vm::StatusCode;

void ProgramFlags::addTo(CLI::App& app) {
  app.add_option("--module", modules,
                 "A compiled module (.vmfb); several are linked in order, the last is the program")
      ->allow_extra_args(false);
  app.add_option("--device", devices, "Device to run on: DRIVER or DRIVER://PATH (default: metal)")
      ->allow_extra_args(false);
  app.add_option("--parameters", parameters,
                 "Weights: [SCOPE=]FILE with .irpa, .gguf or .safetensors")
      ->allow_extra_args(false);
}

vm::Result<Program> Program::open(const ProgramFlags& flags, modules::Session::Options options,
                                  TimelineTracer* timeline) {
  if (flags.modules.empty())
    return fail(StatusCode::InvalidArgument, "no module; give --module=FILE.vmfb");
  static const std::vector<std::string> kDefault = {"metal"};
  BESSEMER_ASSIGN_OR_RETURN(DeviceSet devices,
                            DeviceSet::open(flags.devices.empty() ? kDefault : flags.devices));
  if (timeline)
    for (iree_hal_device_t* device : devices.devices())
      BESSEMER_RETURN_IF_ERROR(timeline->watch(device));
  options.devices = devices.devices();
  for (const std::string& file : flags.parameters)
    options.parameters.push_back(modules::ParameterFile::parse(file));
  BESSEMER_ASSIGN_OR_RETURN(auto session, modules::Session::create(std::move(options)));
  {
    Progress progress("loading " + flags.modules.back());
    for (const std::string& path : flags.modules)
      BESSEMER_RETURN_IF_ERROR(session->load(path));
    BESSEMER_RETURN_IF_ERROR(session->link());
  }
  return Program(std::move(devices), std::move(session));
}

} // namespace bessemer::tools
