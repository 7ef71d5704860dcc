#include "metal/foundation/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metal/foundation/number.h"

namespace ns {

Ref<Error> file_error(int error_number, const std::string& path, bool reading) {
  Integer code = reading ? 256 : 512; // NSFileReadUnknownError, NSFileWriteUnknownError
  if (error_number == ENOENT)
    code = reading ? 260 : 4; // NSFileReadNoSuchFileError, NSFileNoSuchFileError
  else if (error_number == EACCES || error_number == EPERM)
    code = reading ? 257 : 513; // no permission
  else if (error_number == ENOSPC)
    code = 640;
  std::string text = path + ": " + std::strerror(error_number);
  Ref<Error> underlying = error(NSPOSIXErrorDomain, error_number, std::strerror(error_number));
  Ref<String> description = string(text), path_string = string(path);
  Object* objects[] = {description.get(), underlying.get(), path_string.get()};
  Object* keys[] = {NSLocalizedDescriptionKey, NSUnderlyingErrorKey, NSFilePathErrorKey};
  return objc::make<Error>(
      NSCocoaErrorDomain, code,
      objc::make<Dictionary>(std::span<Object* const>(objects), std::span<Object* const>(keys))
          .get());
}

std::optional<std::string> read_file(const std::string& path, Error** error) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    set_error(error, file_error(errno, path, true));
    return std::nullopt;
  }
  std::string bytes;
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    bytes.reserve(static_cast<size_t>(status.st_size));
  char buffer[65536];
  for (;;) {
    ssize_t got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      set_error(error, file_error(errno, path, true));
      close(file);
      return std::nullopt;
    }
    if (got == 0)
      break;
    bytes.append(buffer, static_cast<size_t>(got));
  }
  close(file);
  return bytes;
}

bool write_file(const std::string& path, std::string_view bytes, bool atomically, Error** error) {
  std::string target = atomically ? path + ".XXXXXX" : path;
  int file = atomically ? mkstemp(target.data())
                        : open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    set_error(error, file_error(errno, path, false));
    return false;
  }
  bool written = true;
  while (written && !bytes.empty()) {
    ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    written = put > 0;
    if (written)
      bytes.remove_prefix(static_cast<size_t>(put));
  }
  if (atomically && written) {
    mode_t mask = umask(0);
    umask(mask);
    fchmod(file, 0666 & ~mask);
  }
  int failure = errno;
  if (close(file) != 0) {
    failure = errno;
    written = false;
  }
  if (written && atomically && rename(target.c_str(), path.c_str()) != 0) {
    failure = errno;
    written = false;
  }
  if (!written) {
    if (atomically)
      unlink(target.c_str());
    set_error(error, file_error(failure, path, false));
  }
  return written;
}

namespace {

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

std::string join(std::string a, const std::string& b) {
  if (a.empty())
    return without_trailing_slashes(b);
  if (a.back() != '/')
    a += '/';
  return without_trailing_slashes(a + b.substr(std::min(b.find_first_not_of('/'), b.size())));
}

/// Where the last component begins.
size_t last_start(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? 0 : slash + 1;
}

/// Where the extension's dot is; npos when there is none.
size_t dot_of(const std::string& path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos || dot <= last_start(path) || dot + 1 == path.size()
             ? std::string::npos
             : dot;
}

} // namespace

String* path_appending(String* self, String* component) {
  return autoreleased_string(join(utf8(self), utf8(component)));
}

String* path_without_last(String* self) {
  std::string path = without_trailing_slashes(utf8(self));
  size_t start = last_start(path);
  if (start == 0)
    return literal<"">();
  return autoreleased_string(without_trailing_slashes(path.substr(0, start)));
}

String* path_last(String* self) {
  std::string path = without_trailing_slashes(utf8(self));
  return autoreleased_string(path == "/" ? path : path.substr(last_start(path)));
}

String* path_extension(String* self) {
  std::string path = without_trailing_slashes(utf8(self));
  size_t dot = dot_of(path);
  return dot == std::string::npos ? literal<"">() : autoreleased_string(path.substr(dot + 1));
}

String* path_without_extension(String* self) {
  std::string path = without_trailing_slashes(utf8(self));
  return autoreleased_string(path.substr(0, dot_of(path)));
}

String* path_with_extension(String* self, String* extension) {
  return autoreleased_string(without_trailing_slashes(utf8(self)) + "." + utf8(extension));
}

Array* path_components(String* self) {
  std::vector<Ref<String>> parts;
  std::string path = utf8(self);
  if (path.starts_with('/'))
    parts.push_back(string("/"));
  for (size_t at = 0; at < path.size();) {
    size_t start = path.find_first_not_of('/', at);
    if (start == std::string::npos)
      break;
    at = std::min(path.find('/', start), path.size());
    parts.push_back(string(path.substr(start, at - start)));
  }
  return array(parts).autorelease();
}

String* path_with_components(objc::Class*, Array* components) {
  std::string path;
  if (components)
    for (const Ref<Object>& part : components->items())
      path = join(std::move(path), utf8(static_cast<String*>(part.get())));
  return autoreleased_string(path);
}

String* path_expanding_tilde(String* self) {
  std::string path = utf8(self);
  const char* home = std::getenv("HOME");
  if (home && (path == "~" || path.starts_with("~/")))
    path = home + path.substr(1);
  return autoreleased_string(without_trailing_slashes(path));
}

String* path_standardized(String* self) {
  return autoreleased_string(without_trailing_slashes(
      std::filesystem::path(utf8(path_expanding_tilde(self))).lexically_normal().string()));
}

bool path_is_absolute(String* self) {
  std::string path = utf8(self);
  return path.starts_with('/') || path.starts_with('~');
}

} // namespace ns
