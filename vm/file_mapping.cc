#include "vm/file_mapping.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

namespace bessemer::vm {

namespace {

StatusCode codeOf(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
    return StatusCode::NotFound;
  case EACCES:
  case EPERM:
    return StatusCode::PermissionDenied;
  case ENOMEM:
  case EMFILE:
  case ENFILE:
    return StatusCode::ResourceExhausted;
  default:
    return StatusCode::Unavailable;
  }
}

std::unexpected<Error> failOn(const std::string& path, int error) {
  return fail(codeOf(error), "cannot read ", path, ": ", std::strerror(error));
}

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value > STDERR_FILENO)
      close(value);
  }
};

// Pipes and terminals cannot be mapped.
Result<std::vector<std::byte>> readAll(int descriptor, const std::string& path) {
  std::vector<std::byte> bytes;
  size_t size = 0;
  for (;;) {
    if (bytes.size() - size < 65536)
      bytes.resize(bytes.size() * 2 + 65536);
    ssize_t count = read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failOn(path, errno);
    if (count == 0)
      break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

} // namespace

Result<std::shared_ptr<const FileMapping>> FileMapping::open(const std::string& path, Mode mode) {
  bool writes = mode == Mode::ReadWrite;
  int flags = (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC;
  Descriptor descriptor{path == "-" && !writes ? STDIN_FILENO : ::open(path.c_str(), flags)};
  if (descriptor.value < 0)
    return failOn(path, errno);
  struct stat info;
  if (fstat(descriptor.value, &info) != 0)
    return failOn(path, errno);
  if (S_ISDIR(info.st_mode))
    return fail(StatusCode::InvalidArgument, "cannot read ", path, ": it is a directory");

  if (!S_ISREG(info.st_mode)) {
    auto bytes = readAll(descriptor.value, path);
    if (!bytes)
      return propagate(std::move(bytes));
    return fromMemory(*bytes);
  }
  std::shared_ptr<FileMapping> file(new FileMapping());
  auto size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return file;
  void* address = mmap(nullptr, size, PROT_READ | (writes ? PROT_WRITE : 0),
                       writes ? MAP_SHARED : MAP_PRIVATE, descriptor.value, 0);
  if (address == MAP_FAILED)
    return failOn(path, errno);
  file->bytes_ = {static_cast<const std::byte*>(address), size};
  file->mode_ = mode;
  return file;
}

std::shared_ptr<const FileMapping> FileMapping::fromMemory(std::span<const std::byte> bytes) {
  std::shared_ptr<FileMapping> file(new FileMapping());
  file->memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  if (!bytes.empty())
    std::memcpy(file->memory_.get(), bytes.data(), bytes.size());
  file->bytes_ = {file->memory_.get(), bytes.size()};
  return file;
}

FileMapping::~FileMapping() {
  if (!memory_ && !bytes_.empty())
    munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void FileMapping::preload() const {
  if (memory_ || bytes_.empty())
    return;
  (void)madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_WILLNEED);
  constexpr size_t kPage = 4096;
  for (size_t offset = 0; offset < bytes_.size(); offset += kPage)
    (void)*static_cast<const volatile std::byte*>(&bytes_[offset]);
}

} // namespace bessemer::vm
