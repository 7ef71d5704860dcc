#include "iree/testing/temp_file.h"

#include <atomic>
#include <cstdlib>
#include <unistd.h>

namespace iree::testing {

std::string MakeTempFilePath(const char* stem, const char* suffix) {
  static std::atomic<unsigned> counter{0};
  const char* directory = nullptr;
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"}) {
    if (!directory)
      directory = std::getenv(variable);
  }
  return std::string(directory ? directory : "/tmp") + '/' + stem + '_' + std::to_string(getpid()) +
         '_' + std::to_string(counter++) + suffix;
}

bool TempFilePath::Exists() const { return !path_.empty() && access(path_.c_str(), F_OK) == 0; }

bool TempFilePath::Remove() const { return !path_.empty() && unlink(path_.c_str()) == 0; }

} // namespace iree::testing
