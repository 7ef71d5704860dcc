#include "metal/cpu/executor/compiler_library.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <link.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "metal/cpu/executor/sha256.h"

namespace bessemer::metal::cpu {

namespace {

// Changes when the file is replaced or rewritten; empty when it is not there.
std::string identity_of_file(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return {};
  std::ostringstream text;
  text << info.st_dev << ' ' << info.st_ino << ' ' << info.st_size << ' ' << info.st_mtim.tv_sec
       << '.' << info.st_mtim.tv_nsec;
  return text.str();
}

// The libraries whose code decides what the compiler writes.
std::vector<std::string> loaded_compiler_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        const std::string path = info->dlpi_name;
        if (path.find("libLLVM") != path.npos || path.find("libclang") != path.npos)
          static_cast<std::vector<std::string>*>(context)->push_back(path);
        return 0;
      },
      &paths);
  return paths;
}

std::string beside_this_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&beside_this_library), &info) || !info.dli_fname)
    return "libMetalCompiler.so";
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  const std::string directory = slash == file.npos ? "." : file.substr(0, slash);
  const std::string path = directory + "/libMetalCompiler.so";
  // Linked statically into a program of the build: bin/ and lib/ lie side by side.
  if (access(path.c_str(), F_OK) != 0) {
    const std::string other = directory + "/../lib/libMetalCompiler.so";
    if (access(other.c_str(), F_OK) == 0)
      return other;
  }
  return path;
}

} // namespace

CompilerLibrary::CompilerLibrary(std::string path, std::string stamp_directory)
    : path_(std::move(path)), stamp_directory_(std::move(stamp_directory)) {
  if (!path_.empty())
    return;
  const char* variable = std::getenv("BESSEMER_COMPILER");
  path_ = variable && *variable ? variable : beside_this_library();
}

CompilerLibrary::CompilerLibrary(bessemer_compiler_get_fn get) : get_(get) {}

Expected<const bessemer_compiler_t*> CompilerLibrary::open() {
  std::lock_guard lock(mutex_);
  if (compiler_)
    return compiler_;
  if (!open_error_.empty())
    return failure(open_error_);
  if (!get_) {
    // RTLD_LOCAL: the process may hold another LLVM.
    void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* reason = dlerror();
      open_error_ =
          "the Metal compiler cannot be opened: " + std::string(reason ? reason : path_.c_str()) +
          " (BESSEMER_COMPILER says where it is)";
      return failure(open_error_);
    }
    get_ = reinterpret_cast<bessemer_compiler_get_fn>(dlsym(library, "bessemer_compiler_get"));
  }
  const bessemer_compiler_t* compiler = get_ ? get_(BESSEMER_COMPILER_ABI) : nullptr;
  if (!compiler) {
    open_error_ = "the Metal compiler " + path_ + " is of another version than this library";
    return failure(open_error_);
  }
  compiler_ = compiler;
  if (build_id_ != compiler->build_id) {
    build_id_ = compiler->build_id;
    write_stamp(build_id_);
  }
  return compiler_;
}

Expected<std::string> CompilerLibrary::build_id() {
  {
    std::lock_guard lock(mutex_);
    if (build_id_.empty() && !get_)
      build_id_ = read_stamp();
    if (!build_id_.empty())
      return build_id_;
  }
  if (Expected<const bessemer_compiler_t*> compiler = open(); !compiler)
    return std::unexpected(std::move(compiler.error()));
  std::lock_guard lock(mutex_);
  return build_id_;
}

// ---- The stamp: lines "path<TAB>identity", then "build id<TAB>..." ----

std::string CompilerLibrary::stamp_path() const {
  if (stamp_directory_.empty())
    return {};
  // One for each path, as several builds may share a cache.
  return stamp_directory_ + "/compiler." + hexadecimal(Sha256().add_field(path_).finish());
}

std::string CompilerLibrary::read_stamp() const {
  const std::string path = stamp_path();
  if (path.empty())
    return {};
  std::ifstream file(path);
  bool names_this = false;
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    if (tab == line.npos)
      return {};
    const std::string key = line.substr(0, tab);
    const std::string value = line.substr(tab + 1);
    if (key == "build id")
      return names_this ? value : std::string{};
    if (value.empty() || identity_of_file(key) != value)
      return {};
    names_this |= key == path_;
  }
  return {};
}

void CompilerLibrary::write_stamp(const std::string& build_id) const {
  const std::string path = stamp_path();
  if (path.empty())
    return;
  std::string text = path_ + "\t" + identity_of_file(path_) + "\n";
  for (const std::string& library : loaded_compiler_libraries())
    text += library + "\t" + identity_of_file(library) + "\n";
  text += "build id\t" + build_id + "\n";
  mkdir(stamp_directory_.c_str(), 0700);
  std::string temporary = path + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0)
    return;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!written || rename(temporary.c_str(), path.c_str()) != 0)
    unlink(temporary.c_str());
}

} // namespace bessemer::metal::cpu
