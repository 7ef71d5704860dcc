// NSURL, for files.
#pragma once

#include "metal/foundation/string.h"

namespace ns {

class URL : public objc::Object {
public:
  OBJC_CLASS(URL, "NSURL");

  URL() = default;
  /// A file's URL.
  static Ref<URL> file(std::string path);

  void set_path(std::string path);
  void set_text(std::string text);
  bool is_file() const { return is_file_; }
  /// The path of a file URL, decoded; else the part after the host.
  const std::string& path() const { return path_; }
  /// "file:///..." with what must be percent-encoded so.
  const std::string& absolute() const { return absolute_; }

private:
  std::string path_;
  std::string absolute_;
  bool is_file_ = false;
};

} // namespace ns
