// Opens what the flags name: devices, parameter archives, modules.
#pragma once

#include <memory>

#include "modules/session.h"
#include "tools/command.h"
#include "tools/devices.h"
#include "tools/traces.h"

namespace bessemer::tools {

// A session with the devices it runs on.
class Program {
public:
  // Opens the devices, loads and links the modules, runs their initialisers. `options` may hold a
  // tracer and modules; devices and parameters come from the flags. `timeline` watches the devices
  // from before the first initialiser; may be null.
  static vm::Result<Program> open(const ProgramFlags& flags, modules::Session::Options options = {},
                                  TimelineTracer* timeline = nullptr);
  modules::Session& session() { return *session_; }

private:
  Program(DeviceSet devices, std::unique_ptr<modules::Session> session)
      : devices_(std::move(devices)), session_(std::move(session)) {}
  DeviceSet devices_;
  std::unique_ptr<modules::Session> session_;
};

} // namespace bessemer::tools
