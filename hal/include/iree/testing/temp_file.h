// Names of temporary files for tests.

#ifndef IREE_TESTING_TEMP_FILE_H_
#define IREE_TESTING_TEMP_FILE_H_

#include <string>

#include "iree/base/api.h"

namespace iree::testing {

// A path that nothing else uses, in the directory for temporary files. No file is made.
std::string MakeTempFilePath(const char* stem, const char* suffix = "");

// Such a path as an owner that can look at and remove what is there; moved, never copied.
class TempFilePath {
public:
  TempFilePath() = default;
  explicit TempFilePath(const char* stem, const char* suffix = "")
      : path_(MakeTempFilePath(stem, suffix)) {}
  TempFilePath(TempFilePath&& other) noexcept = default;
  TempFilePath& operator=(TempFilePath&& other) noexcept = default;
  TempFilePath(const TempFilePath&) = delete;
  TempFilePath& operator=(const TempFilePath&) = delete;

  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  iree_string_view_t path_view() const { return iree_make_string_view(path_.data(), path_.size()); }

  bool Exists() const;
  // False when there was nothing to remove.
  bool Remove() const;
  void Reset() { path_.clear(); }

private:
  std::string path_;
};

} // namespace iree::testing

#endif // IREE_TESTING_TEMP_FILE_H_
