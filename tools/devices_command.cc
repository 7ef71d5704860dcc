#include <cstdio>

#include "tools/command.h"
#include "tools/devices.h"

namespace bessemer::tools {

CommandResult printDrivers() {
  BESSEMER_ASSIGN_OR_RETURN(auto drivers, listDrivers());
  for (const DriverInfo& driver : drivers)
    std::printf("%s: %s\n", driver.name.c_str(), driver.full_name.c_str());
  return 0;
}

CommandResult printDevices(const std::string& only, bool describe) {
  BESSEMER_ASSIGN_OR_RETURN(auto drivers, listDrivers());
  bool any = false;
  for (const DriverInfo& driver : drivers) {
    if (!only.empty() && driver.name != only)
      continue;
    any = true;
    if (describe) {
      BESSEMER_ASSIGN_OR_RETURN(std::string text, describeDevices(driver.name));
      std::printf("# %s: %s\n%s", driver.name.c_str(), driver.full_name.c_str(), text.c_str());
      continue;
    }
    BESSEMER_ASSIGN_OR_RETURN(auto devices, listDevices(driver.name));
    for (const DeviceInfo& device : devices)
      std::printf("%s://%s  %s\n", driver.name.c_str(), device.path.c_str(), device.name.c_str());
  }
  if (!any)
    return vm::fail(vm::StatusCode::NotFound, "no driver '", only,
                    "'; `bessemer devices` lists all");
  return 0;
}

std::function<CommandResult()> addDevicesCommand(CLI::App& app) {
  struct Flags {
    std::string driver;
    bool describe = false;
  };
  auto flags = std::make_shared<Flags>();
  app.add_option("driver", flags->driver, "Only this driver's devices");
  app.add_flag("--describe", flags->describe, "Each device's limits and features");
  return [flags] { return printDevices(flags->driver, flags->describe); };
}

} // namespace bessemer::tools
