#include "tools/programs.h"

#include "tools/progress.h"
#include "vm/file_mapping.h"

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
  app.add_option("--module_mode", module_mode,
                 "mmap: read modules where they are first used; preload: at once")
      ->check(CLI::IsMember({"mmap", "preload"}))
      ->capture_default_str();
  app.add_option("--parameter_mode", parameter_mode,
                 "file: read weights where they are first used; preload: at once")
      ->check(CLI::IsMember({"file", "preload"}))
      ->capture_default_str();
}

namespace {

vm::Result<void> loadModule(modules::Session& session, const std::string& path, bool preload) {
  if (!preload)
    return session.load(path);
  BESSEMER_ASSIGN_OR_RETURN(auto file, vm::FileMapping::open(path));
  file->preload();
  return session.load(file->bytes(), file, path == "-" ? "standard input" : path);
}

} // namespace

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
  for (const std::string& file : flags.parameters) {
    options.parameters.push_back(modules::ParameterFile::parse(file));
    options.parameters.back().preload = flags.parameter_mode == "preload";
  }
  BESSEMER_ASSIGN_OR_RETURN(auto session, modules::Session::create(std::move(options)));
  {
    Progress progress("loading " + flags.modules.back());
    for (const std::string& path : flags.modules)
      BESSEMER_RETURN_IF_ERROR(loadModule(*session, path, flags.module_mode == "preload"));
    BESSEMER_RETURN_IF_ERROR(session->link());
  }
  return Program(std::move(devices), std::move(session));
}

} // namespace bessemer::tools
