#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "metal/toolchain/commands.h"
#include "metal/toolchain/files.h"

namespace bessemer::toolchain {

namespace {

constexpr char kName[] = "xcrun";

// The folder of this very program: the others are beside it.
std::string folder() {
  static int anchor = 0;
  const std::string self = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  return llvm::sys::path::parent_path(self).str();
}

} // namespace

int xcrun_command(const std::vector<std::string>& arguments) {
  bool find = false;
  size_t next = 0;
  for (; next < arguments.size(); ++next) {
    llvm::StringRef argument = arguments[next];
    if (!argument.consume_front("-"))
      break;
    argument.consume_front("-");
    if (argument == "sdk" || argument == "toolchain") {
      ++next; // there is one of each
    } else if (argument == "find" || argument == "f") {
      find = true;
    } else if (argument == "version") {
      llvm::outs() << "xcrun of Bessemer " BESSEMER_VERSION "\n";
      return 0;
    } else if (argument == "show-sdk-version" || argument == "show-sdk-platform-version") {
      // Of the Metal API that is there.
      llvm::outs() << "15.0\n";
      return 0;
    } else if (argument == "help" || argument == "h") {
      llvm::outs() << "Usage: xcrun [-sdk NAME] [--find] TOOL [ARGUMENT...]\n"
                      "Runs metal or metallib; both are beside this program.\n";
      return 0;
    } else if (argument.starts_with("show-")) {
      return report(kName, llvm::createStringError("there is no SDK here ('--" + argument.str() +
                                                   "'); only metal and metallib can be run"));
    } else if (argument != "run" && argument != "r" && argument != "log" && argument != "l" &&
               argument != "verbose" && argument != "v" && argument != "no-cache" &&
               argument != "n" && argument != "kill-cache" && argument != "k") {
      return report(kName, llvm::createStringError("unknown flag '" + arguments[next] + "'"));
    }
  }
  if (next >= arguments.size())
    return report(kName, llvm::createStringError("no tool to run; there are metal and metallib"));
  const std::string& tool = arguments[next];
  if (tool != "metal" && tool != "metallib")
    return report(kName, llvm::createStringError("unable to find utility '" + tool +
                                                 "'; there are metal and metallib"));
  const std::string path = folder() + "/" + tool;
  if (find) {
    llvm::outs() << path << '\n';
    return 0;
  }
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(path.c_str()));
  for (size_t i = next + 1; i < arguments.size(); ++i)
    argv.push_back(const_cast<char*>(arguments[i].c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  return report(kName,
                llvm::createStringError("cannot run '" + path + "': " + std::strerror(errno)));
}

} // namespace bessemer::toolchain
