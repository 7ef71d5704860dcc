// NSProcessInfo.
#include <fstream>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>

#include <climits>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "metal/foundation/array.h"
#include "metal/foundation/dictionary.h"
#include "metal/foundation/string.h"
#include "metal/objc/block.h"

namespace ns {

/// Packed in metal-cpp, but all fields have one size.
struct OperatingSystemVersion {
  Integer major, minor, patch;
};

} // namespace ns

template <>
inline constexpr std::string_view objc::encoding<ns::OperatingSystemVersion> = "{?=qqq}";

namespace ns {

class ProcessInfo : public objc::Object {
public:
  OBJC_CLASS(ProcessInfo, "NSProcessInfo");

  static ProcessInfo* shared() {
    static ProcessInfo* const instance = objc::make<ProcessInfo>().take();
    return instance;
  }

  String* name() {
    std::lock_guard lock(mutex_);
    if (!name_) {
      std::ifstream file("/proc/self/comm");
      std::string text;
      std::getline(file, text);
      name_ = string(text);
    }
    return objc::retain_autorelease(name_.get());
  }
  void set_name(String* name) {
    std::lock_guard lock(mutex_);
    name_ = copy(name);
  }

private:
  std::mutex mutex_;
  Ref<String> name_;
};

namespace {

/// The system that Metal's headers of this version belong to; clients compare it with what they
/// need.
constexpr OperatingSystemVersion kVersion = {15, 0, 0};

ProcessInfo* process_info(objc::Class*) { return ProcessInfo::shared(); }

Array* arguments(ProcessInfo*) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<Ref<String>> list;
  for (std::string argument; std::getline(file, argument, '\0');)
    list.push_back(string(argument));
  return array(list).autorelease();
}

Dictionary* environment(ProcessInfo*) {
  auto dictionary = objc::make<Dictionary>();
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view text = *entry;
    if (size_t equals = text.find('='); equals != std::string_view::npos)
      dictionary->set(string(text.substr(equals + 1)).get(), string(text.substr(0, equals)).get());
  }
  return dictionary.autorelease();
}

String* host_name(ProcessInfo*) {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  return autoreleased_string(name);
}
int process_identifier(ProcessInfo*) { return getpid(); }

String* globally_unique(ProcessInfo*) {
  std::random_device random;
  char text[64];
  std::snprintf(text, sizeof text, "%08X-%04X-4%03X-%04X-%08X%04X", random(), random() & 0xffff,
                random() & 0xfff, (random() & 0x3fff) | 0x8000, random(), random() & 0xffff);
  return autoreleased_string(text);
}

String* user_name(ProcessInfo*) {
  const passwd* user = getpwuid(geteuid());
  return autoreleased_string(user ? user->pw_name : "");
}
String* full_user_name(ProcessInfo*) {
  const passwd* user = getpwuid(geteuid());
  std::string full = user && user->pw_gecos ? user->pw_gecos : "";
  return autoreleased_string(full.substr(0, full.find(',')));
}

UInteger operating_system(ProcessInfo*) { return 5; } // NSMACHOperatingSystem
OperatingSystemVersion version(ProcessInfo*) { return kVersion; }
String* version_string(ProcessInfo*) {
  utsname system{};
  uname(&system);
  return autoreleased_string("Version " + std::to_string(kVersion.major) + "." +
                             std::to_string(kVersion.minor) + " (" + system.sysname + " " +
                             system.release + ")");
}
bool is_at_least(ProcessInfo*, OperatingSystemVersion wanted) {
  auto key = [](const OperatingSystemVersion& v) { return std::tuple(v.major, v.minor, v.patch); };
  return key(kVersion) >= key(wanted);
}

UInteger processor_count(ProcessInfo*) {
  return static_cast<UInteger>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF)));
}
UInteger active_processor_count(ProcessInfo*) {
  return std::max(1u, std::thread::hardware_concurrency());
}
unsigned long long physical_memory(ProcessInfo*) {
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}
double system_uptime(ProcessInfo*) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Nothing here ends a process early or slows it, so these have nothing to do.
void nothing(ProcessInfo*) {}
void nothing_with(ProcessInfo*, Object*) {}
Object* begin_activity(ProcessInfo*, UInteger, String*) {
  return objc::make<objc::Object>().autorelease();
}
void perform_activity(ProcessInfo*, UInteger, String*, objc::Block<void()>* block) { (*block)(); }
void perform_expiring(ProcessInfo*, String*, objc::Block<void(bool)>* block) { (*block)(false); }
Integer thermal_state(ProcessInfo*) { return 0; } // nominal
bool no(ProcessInfo*) { return false; }
bool no_for(ProcessInfo*, Object*) { return false; }
void set_bool(ProcessInfo*, bool) {}

} // namespace

OBJC_DEFINE_CLASS(
    ProcessInfo, "NSProcessInfo", objc::Object,
    .methods =
        {
            objc::method<&arguments>("arguments"),
            objc::method<&environment>("environment"),
            objc::method<&host_name>("hostName"),
            objc::method<&ProcessInfo::name>("processName"),
            objc::method<&ProcessInfo::set_name>("setProcessName:"),
            objc::method<&process_identifier>("processIdentifier"),
            objc::method<&globally_unique>("globallyUniqueString"),
            objc::method<&user_name>("userName"),
            objc::method<&full_user_name>("fullUserName"),
            objc::method<&operating_system>("operatingSystem"),
            objc::method<&version>("operatingSystemVersion"),
            objc::method<&version_string>("operatingSystemVersionString"),
            objc::method<&is_at_least>("isOperatingSystemAtLeastVersion:"),
            objc::method<&processor_count>("processorCount"),
            objc::method<&active_processor_count>("activeProcessorCount"),
            objc::method<&physical_memory>("physicalMemory"),
            objc::method<&system_uptime>("systemUptime"),
            objc::method<&nothing>("disableSuddenTermination"),
            objc::method<&nothing>("enableSuddenTermination"),
            objc::method<&nothing_with>("disableAutomaticTermination:"),
            objc::method<&nothing_with>("enableAutomaticTermination:"),
            objc::method<&no>("automaticTerminationSupportEnabled"),
            objc::method<&set_bool>("setAutomaticTerminationSupportEnabled:"),
            objc::method<&begin_activity>("beginActivityWithOptions:reason:"),
            objc::method<&nothing_with>("endActivity:"),
            objc::method<&perform_activity>("performActivityWithOptions:reason:usingBlock:"),
            objc::method<&perform_expiring>("performExpiringActivityWithReason:usingBlock:"),
            objc::method<&thermal_state>("thermalState"),
            objc::method<&no>("isLowPowerModeEnabled"),
            objc::method<&no>("isiOSAppOnMac"),
            objc::method<&no>("isMacCatalystApp"),
            objc::method<&no_for>("isDeviceCertifiedFor:"),
            objc::method<&no_for>("hasPerformanceProfile:"),
        },
    .class_methods = {objc::method<&process_info>("processInfo")});

} // namespace ns
