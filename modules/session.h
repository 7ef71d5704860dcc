// The shortest way to run a program: devices, modules, functions, calls.
//
//   auto session = Session::create({.devices = {device}});
//   session->load("model.vmfb");
//   auto main = session->function("main");
//   auto outputs = session->call(*main, inputs);   // vectors of vm::Value (hal.buffer_view and
//   numbers)
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "modules/hal/hal_module.h"
#include "modules/hal/types.h"
#include "modules/io_parameters/io_parameters_module.h"
#include "vm/bytecode_module.h"
#include "vm/invocation.h"

namespace bessemer::modules {

class Session {
public:
  struct Options {
    // Retained; the first is where calls put their inputs. Devices that are in no device group yet
    // are put into one of the session's own.
    std::vector<iree_hal_device_t*> devices;
    std::vector<ParameterFile> parameters; // what io_parameters finds weights in
    // More native modules, linked before any program.
    std::vector<std::shared_ptr<const vm::Module>> modules;
    vm::Tracer* tracer = nullptr; // sees every operation of the programs; null: none
    HalModuleOptions hal;
  };

  static vm::Result<std::unique_ptr<Session>> create(Options options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Adds programs, in order of need: the last may import from those before. Nothing runs yet.
  vm::Result<void> load(const std::string& path);
  vm::Result<void> load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                        std::string origin);
  vm::Instance& instance();
  iree_hal_device_t* device() const; // the first, or null

  // Links the programs and runs their initialisers; the first use of a function does it otherwise.
  vm::Result<void> link();
  // "module.function" or a function of the last program. "" picks the only sensible one: exports
  // that begin with "__" or hold '$' aside, there must be exactly one.
  vm::Result<vm::Function> function(std::string_view name);
  std::span<const std::shared_ptr<const vm::Module>> programs() const;
  // Every export of every program.
  vm::Result<std::vector<vm::Function>> functions();

  // Calls and waits. For a function with fences (Function::usesFences) `arguments` are without
  // them: the wait fence is null, and the call waits on a signal fence of its own.
  vm::Result<std::vector<vm::Value>> call(const vm::Function& function,
                                          std::span<const vm::Value> arguments);

private:
  vm::Result<void> add(vm::Result<std::shared_ptr<vm::BytecodeModule>> module);

  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace bessemer::modules
