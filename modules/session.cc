#include "modules/session.h"

#include "iree/async/frontier_tracker.h"
#include "modules/check/check_module.h"
#include "modules/hal/hal_module.h"
#include "modules/hal/status.h"

namespace bessemer::modules {

using vm::StatusCode;

namespace {

// Devices find each other's queues through a group; a device is in one at most.
struct DeviceGroup {
  iree_hal_device_group_t* group = nullptr;
  iree_async_frontier_tracker_t* tracker = nullptr;
  DeviceGroup() = default;
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;
  ~DeviceGroup() {
    iree_hal_device_group_release(group);
    if (tracker)
      iree_async_frontier_tracker_release(tracker);
  }
};

bool isGrouped(iree_hal_device_t* device) {
  const iree_hal_device_topology_info_t* info = iree_hal_device_topology_info(device);
  return info && info->topology;
}

vm::Result<void> makeGroup(std::span<iree_hal_device_t* const> devices, DeviceGroup& result) {
  iree_allocator_t host = iree_allocator_system();
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_async_frontier_tracker_create(
      iree_async_frontier_tracker_options_default(), host, &result.tracker)));
  iree_hal_device_group_builder_t builder;
  iree_hal_device_group_builder_initialize(&builder, result.tracker);
  iree_status_t status = iree_ok_status();
  for (iree_hal_device_t* device : devices)
    if (iree_status_is_ok(status))
      status = iree_hal_device_group_builder_add_device(&builder, device);
  if (iree_status_is_ok(status))
    status = iree_hal_device_group_builder_finalize(&builder, host, &result.group);
  iree_hal_device_group_builder_deinitialize(&builder);
  return fromStatus(status);
}

} // namespace

struct Session::State {
  // Destroyed last to first: the context, the modules, the devices, their group.
  DeviceGroup group;
  std::vector<vm::RefPtr<iree_hal_device_t>> devices;
  vm::Instance instance;
  std::vector<std::shared_ptr<const vm::Module>> modules;
  size_t native_modules = 0;
  vm::Tracer* tracer = nullptr;
  std::unique_ptr<vm::Context> context;
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::~Session() = default;

vm::Result<std::unique_ptr<Session>> Session::create(Options options) {
  auto state = std::make_unique<State>();
  for (iree_hal_device_t* device : options.devices) {
    if (!device)
      return vm::fail(StatusCode::InvalidArgument, "a device is null");
    state->devices.push_back(vm::RefPtr<iree_hal_device_t>::share(device));
  }
  bool grouped = true;
  for (iree_hal_device_t* device : options.devices)
    grouped = grouped && isGrouped(device);
  if (!grouped)
    BESSEMER_RETURN_IF_ERROR(makeGroup(options.devices, state->group));
  BESSEMER_RETURN_IF_ERROR(registerHalTypes(state->instance));
  BESSEMER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::NativeModule> hal,
                            createHalModule(options.devices, options.hal));
  state->modules.push_back(std::move(hal));
  // The other modules that compiled programs import are always there: a program that needs
  // parameters is then told which are missing.
  BESSEMER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::NativeModule> parameters,
                            createParametersModule(options.parameters));
  state->modules.push_back(std::move(parameters));
  BESSEMER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::NativeModule> check, createCheckModule());
  state->modules.push_back(std::move(check));
  for (auto& module : options.modules)
    state->modules.push_back(std::move(module));
  state->native_modules = state->modules.size();
  state->tracer = options.tracer;
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

vm::Instance& Session::instance() { return state_->instance; }

iree_hal_device_t* Session::device() const {
  return state_->devices.empty() ? nullptr : state_->devices[0].get();
}

vm::Result<void> Session::add(vm::Result<std::shared_ptr<vm::BytecodeModule>> module) {
  if (!module)
    return vm::propagate(std::move(module));
  state_->modules.push_back(*std::move(module));
  return {};
}

vm::Result<void> Session::load(const std::string& path) {
  if (state_->context)
    return vm::fail(StatusCode::FailedPrecondition, "the session's programs are linked already");
  return add(vm::BytecodeModule::loadFile(
      state_->instance, path,
      {.origin = path == "-" ? "standard input" : path, .trace = state_->tracer != nullptr}));
}

vm::Result<void> Session::load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string origin) {
  if (state_->context)
    return vm::fail(StatusCode::FailedPrecondition, "the session's programs are linked already");
  return add(
      vm::BytecodeModule::load(state_->instance, bytes, std::move(owner),
                               {.origin = std::move(origin), .trace = state_->tracer != nullptr}));
}

vm::Result<void> Session::link() {
  if (state_->context)
    return {};
  if (state_->modules.size() == state_->native_modules)
    return vm::fail(StatusCode::FailedPrecondition, "no program is loaded");
  BESSEMER_ASSIGN_OR_RETURN(state_->context, vm::Context::create(state_->modules, state_->tracer));
  return {};
}

std::span<const std::shared_ptr<const vm::Module>> Session::programs() const {
  return std::span(state_->modules).subspan(state_->native_modules);
}

vm::Result<std::vector<vm::Function>> Session::functions() {
  BESSEMER_RETURN_IF_ERROR(link());
  std::vector<vm::Function> functions;
  for (size_t i = state_->native_modules; i < state_->modules.size(); ++i)
    for (size_t k = 0; k < state_->modules[i]->exports().size(); ++k)
      functions.push_back(state_->context->exportAt(i, k));
  return functions;
}

vm::Result<vm::Function> Session::function(std::string_view name) {
  BESSEMER_RETURN_IF_ERROR(link());
  if (!name.empty()) {
    auto found = state_->context->lookup(name);
    if (found || found.error().code() != StatusCode::NotFound)
      return found;
  }
  std::string names;
  vm::Function only;
  size_t candidates = 0;
  for (size_t k = 0; k < state_->modules.back()->exports().size(); ++k) {
    vm::Function function = state_->context->exportAt(state_->modules.size() - 1, k);
    if (function.name().starts_with("__") || function.name().find('$') != std::string_view::npos)
      continue;
    only = function;
    ++candidates;
    names += vm::concat(names.empty() ? "" : ", ", function.name());
  }
  if (!name.empty())
    return vm::fail(StatusCode::NotFound, "there is no function ", name,
                    candidates ? "; the program has: " : "; the program has none", names);
  if (candidates == 1)
    return only;
  if (candidates == 0)
    return vm::fail(StatusCode::NotFound, "the program exports no function to run");
  return vm::fail(StatusCode::InvalidArgument,
                  "the program has several functions, name one: ", names);
}

vm::Result<std::vector<vm::Value>> Session::call(const vm::Function& function,
                                                 std::span<const vm::Value> arguments) {
  std::vector<vm::Value> results;
  if (!function.usesFences()) {
    BESSEMER_RETURN_IF_ERROR(vm::call(function, arguments, results));
    return results;
  }
  if (!device())
    return vm::fail(StatusCode::FailedPrecondition, function.name(),
                    " works with fences, which needs a device");
  vm::RefPtr<iree_hal_semaphore_t> semaphore;
  BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_semaphore_create(
      device(), IREE_HAL_QUEUE_AFFINITY_ANY, 0, IREE_HAL_SEMAPHORE_FLAG_DEFAULT, semaphore.put())));
  vm::RefPtr<iree_hal_fence_t> done;
  BESSEMER_RETURN_IF_ERROR(fromStatus(
      iree_hal_fence_create_at(semaphore.get(), 1, iree_allocator_system(), done.put())));
  std::vector<vm::Value> all(arguments.begin(), arguments.end());
  all.emplace_back(vm::Ref());
  all.emplace_back(done);
  BESSEMER_RETURN_IF_ERROR(vm::call(function, all, results));
  iree_status_t waited =
      iree_hal_fence_wait(done.get(), iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
  if (!iree_status_is_ok(waited)) {
    // A wait tells only the code; the query has the message.
    iree_status_t full = iree_hal_fence_query(done.get());
    if (!iree_status_is_ok(full) && !iree_status_is_deferred(full))
      std::swap(waited, full);
    iree_status_ignore(full);
    return vm::propagate(fromStatus(waited));
  }
  return results;
}

} // namespace bessemer::modules
