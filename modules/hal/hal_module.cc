#include "modules/hal/hal_module.h"

#include "modules/hal/state.h"

namespace bessemer::modules {

namespace {

constexpr uint32_t kVersion = 7;

std::vector<vm::NativeFunction> allFunctions() {
  std::vector<vm::NativeFunction> functions;
  for (std::span<const vm::NativeFunction> topic :
       {hal::allocatorFunctions(), hal::bufferFunctions(), hal::bufferViewFunctions(),
        hal::channelFunctions(), hal::commandBufferFunctions(), hal::deviceFunctions(),
        hal::executableFunctions(), hal::fenceFunctions()})
    functions.insert(functions.end(), topic.begin(), topic.end());
  return functions;
}

class HalModule final : public vm::NativeModule {
public:
  HalModule(std::span<iree_hal_device_t* const> devices, HalModuleOptions options)
      : NativeModule("hal", kVersion, allFunctions()), options_(options) {
    for (iree_hal_device_t* device : devices)
      devices_.push_back(vm::RefPtr<iree_hal_device_t>::share(device));
  }

  vm::Result<std::unique_ptr<vm::NativeState>> createState() const override {
    auto state = std::make_unique<hal::State>();
    state->devices = devices_;
    state->caches.resize(devices_.size());
    state->options = options_;
    return state;
  }

private:
  std::vector<vm::RefPtr<iree_hal_device_t>> devices_;
  HalModuleOptions options_;
};

} // namespace

vm::Result<std::shared_ptr<const vm::NativeModule>>
createHalModule(std::span<iree_hal_device_t* const> devices, HalModuleOptions options) {
  for (iree_hal_device_t* device : devices)
    if (!device)
      return vm::fail(vm::StatusCode::InvalidArgument, "a device is null");
  if (iree_allocator_is_null(options.host_allocator))
    options.host_allocator = iree_allocator_system();
  return std::make_shared<const HalModule>(devices, options);
}

} // namespace bessemer::modules
