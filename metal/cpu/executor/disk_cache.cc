#include "metal/cpu/executor/disk_cache.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bessemer::metal::cpu {

namespace {

// An entry is this and then the bytes.
struct Header {
  char magic[8];
  uint64_t size; // of what follows
  Digest digest; // of what follows
};

constexpr char kMagic[8] = {'B', 'S', 'M', 'C', 'A', 'C', 'H', '1'};
constexpr uint64_t kLargestEntry = uint64_t{1} << 30;
constexpr time_t kTouchAfterSeconds = 3600;
constexpr time_t kStaleTemporarySeconds = 3600;

struct FileDescriptor {
  int value;
  ~FileDescriptor() {
    if (value >= 0)
      close(value);
  }
};

bool read_exactly(int file, void* target, size_t size) {
  auto* bytes = static_cast<uint8_t*>(target);
  while (size != 0) {
    const ssize_t got = read(file, bytes, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool write_exactly(int file, const void* source, size_t size) {
  auto* bytes = static_cast<const uint8_t*>(source);
  while (size != 0) {
    const ssize_t put = write(file, bytes, size);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes += put;
    size -= static_cast<size_t>(put);
  }
  return true;
}

bool make_directories(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != path.npos; slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0700);
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

// A failed look keeps its old meaning: not there.
bool is_ours(const struct stat& info) {
  return info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

} // namespace

std::string default_cache_directory() {
  const char* base = std::getenv("XDG_CACHE_HOME");
  // The XDG specification: a relative path is to be ignored.
  if (base && base[0] == '/')
    return std::string(base) + "/bessemer";
  const char* home = std::getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/bessemer" : std::string{};
}

DiskCache::DiskCache(std::string directory, uint64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

std::string DiskCache::path(std::string_view kind, const Digest& key) const {
  return directory_ + "/" + std::string(kind) + "-" + hexadecimal(key);
}

bool DiskCache::directory_is_safe() {
  struct stat info;
  return stat(directory_.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && is_ours(info);
}

std::optional<std::vector<uint8_t>> DiskCache::load(std::string_view kind, const Digest& key) {
  if (directory_.empty() || !directory_is_safe())
    return std::nullopt;
  const std::string file_path = path(kind, key);
  const FileDescriptor file{open(file_path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
  struct stat info;
  if (file.value < 0 || fstat(file.value, &info) != 0 || !S_ISREG(info.st_mode) || !is_ours(info))
    return std::nullopt;
  Header header;
  std::vector<uint8_t> bytes;
  const bool whole = [&] {
    if (!read_exactly(file.value, &header, sizeof header) ||
        std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.size > kLargestEntry ||
        static_cast<uint64_t>(info.st_size) != sizeof header + header.size)
      return false;
    bytes.resize(header.size);
    return read_exactly(file.value, bytes.data(), bytes.size()) &&
           Sha256().add(bytes).finish() == header.digest;
  }();
  if (!whole) {
    unlink(file_path.c_str());
    return std::nullopt;
  }
  // The time of last use decides what `trim` removes; written seldom, as it costs a disk access.
  if (std::time(nullptr) - info.st_mtime > kTouchAfterSeconds)
    futimens(file.value, nullptr);
  return bytes;
}

// Readers see the whole file or none. Not synced: after a crash of the machine the checksum tells.
bool DiskCache::write_file(const std::string& path, std::span<const uint8_t> start,
                           std::span<const uint8_t> rest) {
  std::string temporary = directory_ + "/new-XXXXXX";
  const FileDescriptor file{mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.value < 0)
    return false;
  if (write_exactly(file.value, start.data(), start.size()) &&
      write_exactly(file.value, rest.data(), rest.size()) &&
      rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  unlink(temporary.c_str());
  return false;
}

std::string DiskCache::store_text(std::string_view kind, const Digest& key, std::string_view text) {
  if (directory_.empty() || !make_directories(directory_) || !directory_is_safe())
    return {};
  std::string file_path = path(kind, key);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return write_file(file_path, bytes, {}) ? file_path : std::string{};
}

void DiskCache::store(std::string_view kind, const Digest& key, std::span<const uint8_t> bytes) {
  if (directory_.empty() || bytes.size() > kLargestEntry)
    return;
  if (!make_directories(directory_) || !directory_is_safe())
    return;
  Header header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = bytes.size();
  header.digest = Sha256().add(bytes).finish();
  const std::span<const uint8_t> start(reinterpret_cast<const uint8_t*>(&header), sizeof header);
  if (!write_file(path(kind, key), start, bytes))
    return;
  bool trim_now;
  {
    std::lock_guard lock(mutex_);
    stored_since_trim_ += bytes.size();
    // Other processes store too, so the first store of a process looks.
    trim_now = !trimmed_once_ || stored_since_trim_ > limit_bytes_ / 8;
    if (trim_now) {
      trimmed_once_ = true;
      stored_since_trim_ = 0;
    }
  }
  if (trim_now)
    trim();
}

void DiskCache::trim() {
  struct Entry {
    std::string path;
    uint64_t size;
    time_t used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  DIR* listing = opendir(directory_.c_str());
  if (!listing)
    return;
  while (const dirent* item = readdir(listing)) {
    const std::string_view name = item->d_name;
    if (name.find('-') == name.npos)
      continue; // not one of ours
    std::string item_path = directory_ + "/" + std::string(name);
    struct stat info;
    if (lstat(item_path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    if (name.starts_with("new-")) {
      // Left behind by a process that died while it wrote.
      if (std::time(nullptr) - info.st_mtime > kStaleTemporarySeconds)
        unlink(item_path.c_str());
      continue;
    }
    total += static_cast<uint64_t>(info.st_size);
    entries.push_back({std::move(item_path), static_cast<uint64_t>(info.st_size), info.st_mtime});
  }
  closedir(listing);
  if (total <= limit_bytes_)
    return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_ / 4 * 3)
      break;
    if (unlink(entry.path.c_str()) == 0)
      total -= entry.size;
  }
}

} // namespace bessemer::metal::cpu
