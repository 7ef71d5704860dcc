// NSFileManager.
#include <cerrno>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "metal/foundation/array.h"
#include "metal/foundation/data.h"
#include "metal/foundation/date.h"
#include "metal/foundation/dictionary.h"
#include "metal/foundation/error.h"
#include "metal/foundation/file.h"
#include "metal/foundation/number.h"
#include "metal/foundation/url.h"

namespace ns {

class FileManager : public objc::Object {
public:
  OBJC_CLASS(FileManager, "NSFileManager");
};

namespace {

namespace fs = std::filesystem;

FileManager* default_manager(objc::Class*) {
  static FileManager* const manager = objc::make<FileManager>().take();
  return manager;
}

bool finish(const std::error_code& failure, String* path, bool reading, Error** error) {
  if (!failure)
    return true;
  set_error(error, file_error(failure.value(), utf8(path), reading));
  return false;
}

bool exists(FileManager*, String* path) { return access(utf8(path).c_str(), F_OK) == 0; }
bool exists_directory(FileManager*, String* path, bool* is_directory) {
  struct stat status{};
  if (stat(utf8(path).c_str(), &status) != 0)
    return false;
  if (is_directory)
    *is_directory = S_ISDIR(status.st_mode);
  return true;
}
bool is_readable(FileManager*, String* path) { return access(utf8(path).c_str(), R_OK) == 0; }
bool is_writable(FileManager*, String* path) { return access(utf8(path).c_str(), W_OK) == 0; }
bool is_executable(FileManager*, String* path) { return access(utf8(path).c_str(), X_OK) == 0; }

Dictionary* attributes(FileManager*, String* path, Error** error) {
  struct stat status{};
  if (lstat(utf8(path).c_str(), &status) != 0) {
    set_error(error, file_error(errno, utf8(path), true));
    return nullptr;
  }
  String* type = S_ISREG(status.st_mode)   ? literal<"NSFileTypeRegular">()
                 : S_ISDIR(status.st_mode) ? literal<"NSFileTypeDirectory">()
                 : S_ISLNK(status.st_mode) ? literal<"NSFileTypeSymbolicLink">()
                                           : literal<"NSFileTypeUnknown">();
  auto result = objc::make<Dictionary>();
  result->set(type, literal<"NSFileType">());
  result->set(number(static_cast<uint64_t>(status.st_size)).get(), literal<"NSFileSize">());
  result->set(number(static_cast<uint64_t>(status.st_mode & 07777)).get(),
              literal<"NSFilePosixPermissions">());
  double modified = static_cast<double>(status.st_mtim.tv_sec) +
                    static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
  result->set(objc::make<Date>(modified - Date::kReference).get(),
              literal<"NSFileModificationDate">());
  return result.autorelease();
}

String* link_destination(FileManager*, String* path, Error** error) {
  std::error_code failure;
  fs::path target = fs::read_symlink(utf8(path), failure);
  return finish(failure, path, true, error) ? autoreleased_string(target.string()) : nullptr;
}
bool create_directory(FileManager*, String* path, bool intermediate, Dictionary*, Error** error) {
  std::error_code failure;
  if (intermediate)
    fs::create_directories(utf8(path), failure);
  else if (!fs::create_directory(utf8(path), failure) && !failure)
    failure = std::make_error_code(std::errc::file_exists);
  return finish(failure, path, false, error);
}
bool create_directory_at_url(FileManager* self, URL* url, bool intermediate, Dictionary* attributes,
                             Error** error) {
  return create_directory(self, autoreleased_string(url ? url->path() : ""), intermediate,
                          attributes, error);
}
bool remove_item(FileManager*, String* path, Error** error) {
  std::error_code failure;
  if (fs::remove_all(utf8(path), failure) == 0 && !failure)
    failure = std::make_error_code(std::errc::no_such_file_or_directory);
  return finish(failure, path, false, error);
}
bool remove_item_at_url(FileManager* self, URL* url, Error** error) {
  return remove_item(self, autoreleased_string(url ? url->path() : ""), error);
}
bool move_item(FileManager*, String* from, String* to, Error** error) {
  std::error_code failure;
  fs::rename(utf8(from), utf8(to), failure);
  return finish(failure, from, false, error);
}
bool copy_item(FileManager*, String* from, String* to, Error** error) {
  std::error_code failure;
  fs::copy(utf8(from), utf8(to), fs::copy_options::recursive, failure);
  return finish(failure, from, false, error);
}
Array* contents_of_directory(FileManager*, String* path, Error** error) {
  std::error_code failure;
  std::vector<Ref<String>> names;
  for (fs::directory_iterator entry(utf8(path), failure), end; !failure && entry != end;
       entry.increment(failure))
    names.push_back(string(entry->path().filename().string()));
  return finish(failure, path, true, error) ? array(names).autorelease() : nullptr;
}
String* current_directory(FileManager*) {
  std::error_code failure;
  return autoreleased_string(fs::current_path(failure).string());
}
Data* contents_at_path(FileManager*, String* path) {
  auto bytes = read_file(utf8(path), nullptr);
  return bytes ? objc::make<Data>(std::move(*bytes)).autorelease() : nullptr;
}
bool create_file(FileManager*, String* path, Object* contents, Dictionary*) {
  auto bytes = bytes_of(contents);
  return write_file(
      utf8(path),
      bytes ? std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size())
            : std::string_view(),
      false, nullptr);
}

} // namespace

OBJC_DEFINE_CLASS(
    FileManager, "NSFileManager", objc::Object,
    .methods =
        {
            objc::method<&exists>("fileExistsAtPath:"),
            objc::method<&exists_directory>("fileExistsAtPath:isDirectory:"),
            objc::method<&is_readable>("isReadableFileAtPath:"),
            objc::method<&is_writable>("isWritableFileAtPath:"),
            objc::method<&is_executable>("isExecutableFileAtPath:"),
            objc::method<&attributes>("attributesOfItemAtPath:error:"),
            objc::method<&link_destination>("destinationOfSymbolicLinkAtPath:error:"),
            objc::method<&create_directory>(
                "createDirectoryAtPath:withIntermediateDirectories:attributes:error:"),
            objc::method<&create_directory_at_url>(
                "createDirectoryAtURL:withIntermediateDirectories:attributes:error:"),
            objc::method<&remove_item>("removeItemAtPath:error:"),
            objc::method<&remove_item_at_url>("removeItemAtURL:error:"),
            objc::method<&move_item>("moveItemAtPath:toPath:error:"),
            objc::method<&copy_item>("copyItemAtPath:toPath:error:"),
            objc::method<&contents_of_directory>("contentsOfDirectoryAtPath:error:"),
            objc::method<&current_directory>("currentDirectoryPath"),
            objc::method<&contents_at_path>("contentsAtPath:"),
            objc::method<&create_file>("createFileAtPath:contents:attributes:"),
        },
    .class_methods = {objc::method<&default_manager>("defaultManager")});

} // namespace ns
