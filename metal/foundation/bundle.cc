// NSBundle: a directory with resources. The main bundle is where the program is; a framework's or
// application's bundle has its resources in Contents/Resources or Resources.
#include <sys/stat.h>
#include <unistd.h>

#include "metal/foundation/array.h"
#include "metal/foundation/dictionary.h"
#include "metal/foundation/error.h"
#include "metal/foundation/string.h"
#include "metal/foundation/url.h"
#include "metal/objc/message.h"

namespace ns {
namespace {

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string program_path() {
  char path[4096];
  ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return std::string(path, size > 0 ? static_cast<size_t>(size) : 0);
}

std::string parent(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

} // namespace

class Bundle : public objc::Object {
public:
  OBJC_CLASS(Bundle, "NSBundle");

  Bundle() = default;
  explicit Bundle(std::string path) : path_(std::move(path)) {}

  static Bundle* main() {
    static Bundle* const bundle = objc::make<Bundle>(parent(program_path())).take();
    return bundle;
  }

  const std::string& path() const { return path_; }
  bool set_path(std::string path) {
    path_ = std::move(path);
    struct stat status{};
    return stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }
  std::string resources() const {
    for (const char* inside : {"/Contents/Resources", "/Resources"})
      if (exists(path_ + inside))
        return path_ + inside;
    return path_;
  }
  /// Empty when there is none.
  std::string resource(const std::string& name, const std::string& type,
                       const std::string& directory) const {
    std::string path = resources() + "/" + (directory.empty() ? "" : directory + "/") + name +
                       (type.empty() ? "" : (type.starts_with('.') ? "" : ".") + type);
    return exists(path) ? path : std::string();
  }
  std::string executable() const { return this == main() ? program_path() : std::string(); }

private:
  std::string path_;
};

namespace {

String* string_or_null(const std::string& text) {
  return text.empty() ? nullptr : autoreleased_string(text);
}
URL* url_or_null(const std::string& path) {
  return path.empty() ? nullptr : URL::file(path).autorelease();
}

Bundle* main_bundle(objc::Class*) { return Bundle::main(); }
Bundle* init_with_path(Bundle* self, String* path) {
  if (self->set_path(utf8(path)))
    return self;
  objc_release(self);
  return nullptr;
}
Bundle* init_with_url(Bundle* self, URL* url) {
  return init_with_path(self, url ? autoreleased_string(url->path()) : nullptr);
}
Bundle* with_path(objc::Class*, String* path) {
  auto bundle = objc::make<Bundle>();
  return bundle->set_path(utf8(path)) ? bundle.autorelease() : nullptr;
}
Bundle* with_url(objc::Class* cls, URL* url) {
  return url ? with_path(cls, autoreleased_string(url->path())) : nullptr;
}
/// All code of a process is one bundle's here.
Bundle* for_class(objc::Class*, objc::Class*) { return Bundle::main(); }
Bundle* with_identifier(objc::Class*, String*) { return nullptr; }
Array* all_bundles(objc::Class*) {
  Object* bundle = Bundle::main();
  return array(std::span<Object* const>(&bundle, 1)).autorelease();
}
Array* no_bundles(objc::Class*) { return objc::make<Array>().autorelease(); }

bool yes(Bundle*) { return true; }
bool no(Bundle*) { return false; }
bool yes_with_error(Bundle*, Error**) { return true; }

String* bundle_path(Bundle* self) { return autoreleased_string(self->path()); }
URL* bundle_url(Bundle* self) { return url_or_null(self->path()); }
String* resource_path(Bundle* self) { return autoreleased_string(self->resources()); }
URL* resource_url(Bundle* self) { return url_or_null(self->resources()); }
String* executable_path(Bundle* self) { return string_or_null(self->executable()); }
URL* executable_url(Bundle* self) { return url_or_null(self->executable()); }
String* auxiliary_path(Bundle* self, String* name) {
  std::string path = self->path() + "/" + utf8(name);
  return exists(path) ? autoreleased_string(path) : nullptr;
}
URL* auxiliary_url(Bundle* self, String* name) {
  String* path = auxiliary_path(self, name);
  return path ? url_or_null(utf8(path)) : nullptr;
}
String* path_for_resource(Bundle* self, String* name, String* type) {
  return string_or_null(self->resource(utf8(name), utf8(type), ""));
}
String* path_for_resource_in(Bundle* self, String* name, String* type, String* directory) {
  return string_or_null(self->resource(utf8(name), utf8(type), utf8(directory)));
}
URL* url_for_resource(Bundle* self, String* name, String* type) {
  return url_or_null(self->resource(utf8(name), utf8(type), ""));
}
Object* nothing(Bundle*) { return nullptr; }
Dictionary* no_information(Bundle*) { return objc::make<Dictionary>().autorelease(); }
Object* no_value(Bundle*, String*) { return nullptr; }
String* localized(Bundle*, String* key, String* value, String*) {
  return value && !utf8(value).empty() ? value : key;
}

} // namespace

OBJC_DEFINE_CLASS(
    Bundle, "NSBundle", objc::Object,
    .methods =
        {
            objc::method<&init_with_path>("initWithPath:"),
            objc::method<&init_with_url>("initWithURL:"),
            objc::method<&yes>("load"),
            objc::method<&no>("unload"),
            objc::method<&yes>("isLoaded"),
            objc::method<&yes_with_error>("preflightAndReturnError:"),
            objc::method<&yes_with_error>("loadAndReturnError:"),
            objc::method<&bundle_path>("bundlePath"),
            objc::method<&bundle_url>("bundleURL"),
            objc::method<&resource_path>("resourcePath"),
            objc::method<&resource_url>("resourceURL"),
            objc::method<&executable_path>("executablePath"),
            objc::method<&executable_url>("executableURL"),
            objc::method<&auxiliary_path>("pathForAuxiliaryExecutable:"),
            objc::method<&auxiliary_url>("URLForAuxiliaryExecutable:"),
            objc::method<&nothing>("privateFrameworksPath"),
            objc::method<&nothing>("privateFrameworksURL"),
            objc::method<&nothing>("sharedFrameworksPath"),
            objc::method<&nothing>("sharedFrameworksURL"),
            objc::method<&nothing>("sharedSupportPath"),
            objc::method<&nothing>("sharedSupportURL"),
            objc::method<&nothing>("builtInPlugInsPath"),
            objc::method<&nothing>("builtInPlugInsURL"),
            objc::method<&nothing>("appStoreReceiptURL"),
            objc::method<&nothing>("bundleIdentifier"),
            objc::method<&no_information>("infoDictionary"),
            objc::method<&no_information>("localizedInfoDictionary"),
            objc::method<&no_value>("objectForInfoDictionaryKey:"),
            objc::method<&path_for_resource>("pathForResource:ofType:"),
            objc::method<&path_for_resource_in>("pathForResource:ofType:inDirectory:"),
            objc::method<&url_for_resource>("URLForResource:withExtension:"),
            objc::method<&localized>("localizedStringForKey:value:table:"),
        },
    .class_methods = {
        objc::method<&main_bundle>("mainBundle"),
        objc::method<&with_path>("bundleWithPath:"),
        objc::method<&with_url>("bundleWithURL:"),
        objc::method<&for_class>("bundleForClass:"),
        objc::method<&with_identifier>("bundleWithIdentifier:"),
        objc::method<&all_bundles>("allBundles"),
        objc::method<&no_bundles>("allFrameworks"),
    });

} // namespace ns
