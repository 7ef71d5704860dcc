// Compiled things on disk, by digest of all that they were made from. Several processes may use one
// directory; a damaged or half-written entry is never used.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metal/cpu/executor/sha256.h"

namespace bessemer::metal::cpu {

// Thread safe.
class DiskCache {
public:
  // Makes the directory (mode 0700) at the first store. One that belongs to someone else, or that
  // others may write, is not used: it holds code.
  DiskCache(std::string directory, uint64_t limit_bytes);

  // `kind` keeps different things apart ("kernel", "library"): a short name that can be in a path.
  std::optional<std::vector<uint8_t>> load(std::string_view kind, const Digest& key);
  // Failures are silent: the cache only saves time.
  void store(std::string_view kind, const Digest& key, std::span<const uint8_t> bytes);

  // A file that holds `text` and nothing else, for people and their tools. Its path, or empty.
  std::string store_text(std::string_view kind, const Digest& key, std::string_view text);

  const std::string& directory() const { return directory_; }

  // Removes the entries that were not used for longest until 3/4 of the limit is left.
  void trim();

private:
  std::string path(std::string_view kind, const Digest& key) const;
  bool directory_is_safe();
  bool write_file(const std::string& path, std::span<const uint8_t> start,
                  std::span<const uint8_t> rest);

  std::string directory_;
  uint64_t limit_bytes_;
  std::mutex mutex_;
  uint64_t stored_since_trim_ = 0;
  bool trimmed_once_ = false;
};

// $XDG_CACHE_HOME/bessemer, else ~/.cache/bessemer; empty when there is no home.
std::string default_cache_directory();

} // namespace bessemer::metal::cpu
