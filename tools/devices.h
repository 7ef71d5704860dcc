// Devices by name, and the drivers that this build has.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "vm/status.h"

namespace bessemer::tools {

struct DriverInfo {
  std::string name;
  std::string full_name;
};

struct DeviceInfo {
  std::string path; // what --device=driver://PATH takes
  std::string name;
};

// Devices opened for one program.
class DeviceSet {
public:
  // Opens each URI ("metal", "metal://0", "host"): NOT_FOUND for an unknown driver, with those
  // known. None: an empty set.
  static vm::Result<DeviceSet> open(std::span<const std::string> uris);
  DeviceSet() = default;
  DeviceSet(DeviceSet&& other) noexcept;
  DeviceSet& operator=(DeviceSet&& other) noexcept;
  ~DeviceSet();

  const std::vector<iree_hal_device_t*>& devices() const { return devices_; }
  iree_hal_device_t* first() const { return devices_.empty() ? nullptr : devices_[0]; }

private:
  std::vector<iree_hal_device_t*> devices_;
};

// What the device's allocator has given out, on stderr; null prints nothing.
void printAllocatorStatistics(iree_hal_device_t* device);

vm::Result<std::vector<DriverInfo>> listDrivers();
vm::Result<std::vector<DeviceInfo>> listDevices(const std::string& driver);
// The driver's own description of each of its devices, as text.
vm::Result<std::string> describeDevices(const std::string& driver);

} // namespace bessemer::tools
