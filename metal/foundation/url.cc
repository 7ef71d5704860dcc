#include "metal/foundation/url.h"

#include <cctype>
#include <cstdio>

#include <sys/stat.h>
#include <unistd.h>

#include "metal/foundation/file.h"
#include "metal/objc/message.h"

namespace ns {
namespace {

std::string percent_encoded(const std::string& path) {
  std::string text;
  for (unsigned char c : path)
    if (std::isalnum(c) || std::string_view("-._~/!$&'()*+,;=:@").find(static_cast<char>(c)) !=
                               std::string_view::npos) {
      text += static_cast<char>(c);
    } else {
      char code[4];
      std::snprintf(code, sizeof code, "%%%02X", c);
      text += code;
    }
  return text;
}

std::string percent_decoded(const std::string& text) {
  std::string path;
  auto digit = [&](size_t i) {
    return i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i]));
  };
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%' && digit(i + 1) && digit(i + 2)) {
      path += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      path += text[i];
    }
  return path;
}

std::string absolute_path(const std::string& path) {
  if (path.starts_with('/'))
    return path;
  char directory[4096];
  return getcwd(directory, sizeof directory) ? std::string(directory) + "/" + path : path;
}

} // namespace

Ref<URL> URL::file(std::string path) {
  auto url = objc::make<URL>();
  url->set_path(std::move(path));
  return url;
}

void URL::set_path(std::string path) {
  path_ = absolute_path(path);
  while (path_.size() > 1 && path_.back() == '/')
    path_.pop_back();
  absolute_ = "file://" + percent_encoded(path_);
  is_file_ = true;
}

void URL::set_text(std::string text) {
  absolute_ = std::move(text);
  is_file_ = absolute_.starts_with("file:");
  size_t start = absolute_.find("://");
  start = start == std::string::npos ? (is_file_ ? 5 : 0) : absolute_.find('/', start + 3);
  if (start == std::string::npos)
    start = absolute_.size();
  path_ = percent_decoded(absolute_.substr(start, absolute_.find_first_of("?#", start) - start));
}

namespace {

URL* make_file(objc::Class*, String* path) { return URL::file(utf8(path)).autorelease(); }
URL* make_file_directory(objc::Class*, String* path, bool) {
  return URL::file(utf8(path)).autorelease();
}
URL* make_text(objc::Class*, String* text) {
  if (!text)
    return nullptr;
  auto url = objc::make<URL>();
  url->set_text(utf8(text));
  return url.autorelease();
}
URL* init_file(URL* self, String* path) {
  self->set_path(utf8(path));
  return self;
}
URL* init_file_directory(URL* self, String* path, bool) { return init_file(self, path); }
URL* init_text(URL* self, String* text) {
  self->set_text(utf8(text));
  return self;
}

const char* file_system_representation(URL* self) { return self->path().c_str(); }
String* path(URL* self) { return autoreleased_string(self->path()); }
String* absolute(URL* self) { return autoreleased_string(self->absolute()); }
String* scheme(URL* self) {
  size_t colon = self->absolute().find(':');
  return colon == std::string::npos ? nullptr
                                    : autoreleased_string(self->absolute().substr(0, colon));
}
String* last_component(URL* self) { return path_last(path(self)); }
String* extension(URL* self) { return path_extension(path(self)); }
URL* with_path(String* path) { return URL::file(utf8(path)).autorelease(); }
URL* appending(URL* self, String* component) {
  return with_path(path_appending(path(self), component));
}
URL* appending_directory(URL* self, String* component, bool) { return appending(self, component); }
URL* without_last(URL* self) { return with_path(path_without_last(path(self))); }
URL* without_extension(URL* self) { return with_path(path_without_extension(path(self))); }
URL* with_extension(URL* self, String* extension) {
  return with_path(path_with_extension(path(self), extension));
}
bool reachable(URL* self, Error** error) {
  struct stat status{};
  if (stat(self->path().c_str(), &status) == 0)
    return true;
  set_error(error, file_error(errno, self->path(), true));
  return false;
}
bool is_equal_to(URL* self, Object* other) {
  auto* url = objc::cast<URL>(other);
  return url && url->absolute() == self->absolute();
}
UInteger hash(URL* self) { return std::hash<std::string>()(self->absolute()); }
URL* copied(URL* self, void*) { return Ref<URL>(self).take(); }

} // namespace

OBJC_DEFINE_CLASS(
    URL, "NSURL", objc::Object,
    .methods =
        {
            objc::method<&init_file>("initFileURLWithPath:"),
            objc::method<&init_file_directory>("initFileURLWithPath:isDirectory:"),
            objc::method<&init_text>("initWithString:"),
            objc::method<&file_system_representation>("fileSystemRepresentation"),
            objc::method<&path>("path"),
            objc::method<&absolute>("absoluteString"),
            objc::method<&absolute>("description"),
            objc::method<&scheme>("scheme"),
            objc::method<&URL::is_file>("isFileURL"),
            objc::method<&last_component>("lastPathComponent"),
            objc::method<&extension>("pathExtension"),
            objc::method<&appending>("URLByAppendingPathComponent:"),
            objc::method<&appending_directory>("URLByAppendingPathComponent:isDirectory:"),
            objc::method<&without_last>("URLByDeletingLastPathComponent"),
            objc::method<&without_extension>("URLByDeletingPathExtension"),
            objc::method<&with_extension>("URLByAppendingPathExtension:"),
            objc::method<&reachable>("checkResourceIsReachableAndReturnError:"),
            objc::method<&is_equal_to>("isEqual:"),
            objc::method<&hash>("hash"),
            objc::method<&copied>("copyWithZone:"),
        },
    .class_methods =
        {
            objc::method<&make_file>("fileURLWithPath:"),
            objc::method<&make_file_directory>("fileURLWithPath:isDirectory:"),
            objc::method<&make_text>("URLWithString:"),
        },
    .protocols = {"NSCopying", "NSSecureCoding"});

} // namespace ns
