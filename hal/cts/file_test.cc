// Files in memory and behind descriptors, read and written on queues.

#include <cstdio>
#include <string>

#include "hal/cts/device_test.h"
#include "iree/io/file_handle.h"
#include "iree/testing/temp_file.h"

namespace bessemer::hal::cts {
namespace {

enum class Kind { Memory, Descriptor };

class FileTest : public DeviceTest {
protected:
  static constexpr size_t kSize = 5000;

  /// A file of either kind with known bytes.
  struct File {
    Ref<iree_hal_file_t> file;
    std::vector<uint8_t> memory;
    std::string path;
  };

  void open(Kind kind, iree_hal_memory_access_t access, File* out) {
    out->memory = pattern(kSize, 1);
    iree_io_file_handle_t* handle = nullptr;
    if (kind == Kind::Memory) {
      IREE_ASSERT_OK(iree_io_file_handle_wrap_host_allocation(
          IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE,
          iree_make_byte_span(out->memory.data(), out->memory.size()),
          iree_io_file_handle_release_callback_null(), iree_allocator_system(), &handle));
    } else {
      out->path = ::iree::testing::MakeTempFilePath("hal_cts", ".bin");
      FILE* stream = std::fopen(out->path.c_str(), "wb");
      ASSERT_NE(stream, nullptr);
      std::fwrite(out->memory.data(), 1, out->memory.size(), stream);
      std::fclose(stream);
      IREE_ASSERT_OK(iree_io_file_handle_open(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_WRITE,
                                              iree_make_cstring_view(out->path.c_str()),
                                              iree_allocator_system(), &handle));
    }
    IREE_ASSERT_OK(iree_hal_file_import(device(), IREE_HAL_QUEUE_AFFINITY_ANY, access, handle,
                                        IREE_HAL_EXTERNAL_FILE_FLAG_NONE, out->file.out()));
    iree_io_file_handle_release(handle);
  }

  std::vector<uint8_t> bytesOf(const File& file) {
    if (file.path.empty())
      return file.memory;
    std::vector<uint8_t> bytes(kSize);
    FILE* stream = std::fopen(file.path.c_str(), "rb");
    EXPECT_EQ(std::fread(bytes.data(), 1, bytes.size(), stream), bytes.size());
    std::fclose(stream);
    return bytes;
  }

  iree_status_t read(const File& file, uint64_t offset, iree_hal_buffer_t* target, size_t at,
                     size_t length) {
    Semaphore done = semaphore();
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_read(
        device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{}, Timepoints{{done, 1}}, file.file,
        offset, target, at, length, IREE_HAL_READ_FLAG_NONE));
    return wait(done, 1);
  }
  iree_status_t write(const File& file, uint64_t offset, iree_hal_buffer_t* source, size_t at,
                      size_t length) {
    Semaphore done = semaphore();
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_write(
        device(), IREE_HAL_QUEUE_AFFINITY_ANY, Timepoints{}, Timepoints{{done, 1}}, source, at,
        file.file, offset, length, IREE_HAL_WRITE_FLAG_NONE));
    return wait(done, 1);
  }
};

constexpr iree_hal_memory_access_t kReadWrite =
    IREE_HAL_MEMORY_ACCESS_READ | IREE_HAL_MEMORY_ACCESS_WRITE;

TEST_P(FileTest, MovesExactlyTheRange) {
  for (Kind kind : {Kind::Memory, Kind::Descriptor}) {
    File file;
    ASSERT_NO_FATAL_FAILURE(open(kind, kReadWrite, &file));
    EXPECT_EQ(iree_hal_file_length(file.file), kSize);
    std::vector<uint8_t> expected = pattern(kSize, 1);
    for (const auto& [offset, at, length] :
         {std::tuple<size_t, size_t, size_t>{0, 0, kSize}, {1, 3, 17}, {4095, 1, 31}, {7, 9, 0}}) {
      std::vector<uint8_t> bytes = pattern(kSize + 16, 2);
      Buffer target = buffer(bytes);
      IREE_ASSERT_OK(read(file, offset, target, at, length));
      std::copy_n(expected.begin() + offset, length, bytes.begin() + at);
      EXPECT_EQ(contents(target), bytes);
    }
    const std::vector<uint8_t> sourceBytes = pattern(512, 3);
    Buffer source = buffer(sourceBytes);
    IREE_ASSERT_OK(write(file, 4099, source, 5, 333));
    std::copy_n(sourceBytes.begin() + 5, 333, expected.begin() + 4099);
    EXPECT_EQ(bytesOf(file), expected);
    if (!file.path.empty())
      std::remove(file.path.c_str());
  }
}

TEST_P(FileTest, ReachesBuffersThatCannotBeMapped) {
  for (Kind kind : {Kind::Memory, Kind::Descriptor}) {
    File file;
    ASSERT_NO_FATAL_FAILURE(open(kind, kReadWrite, &file));
    iree_hal_buffer_params_t params = {};
    params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
    params.usage = IREE_HAL_BUFFER_USAGE_TRANSFER;
    Buffer local;
    IREE_ASSERT_OK(iree_hal_allocator_allocate_buffer(allocator(), params, kSize, local.out()));
    IREE_ASSERT_OK(read(file, 100, local, 0, 1001));
    IREE_ASSERT_OK(write(file, 3000, local, 0, 1001));
    std::vector<uint8_t> expected = pattern(kSize, 1);
    std::copy_n(pattern(kSize, 1).begin() + 100, 1001, expected.begin() + 3000);
    EXPECT_EQ(bytesOf(file), expected);
    if (!file.path.empty())
      std::remove(file.path.c_str());
  }
}

TEST_P(FileTest, KeepsToWhatItWasOpenedFor) {
  File file;
  ASSERT_NO_FATAL_FAILURE(open(Kind::Memory, IREE_HAL_MEMORY_ACCESS_READ, &file));
  Buffer target = buffer(64);
  IREE_EXPECT_OK(read(file, 0, target, 0, 64));
  EXPECT_THAT(Status(write(file, 0, target, 0, 64)), StatusIs(StatusCode::kPermissionDenied));
  EXPECT_THAT(Status(read(file, 0, target, 1, 64)), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(Status(read(file, kSize - 1, target, 0, 2)), StatusIs(StatusCode::kOutOfRange));
}

TEST_P(FileTest, IsKeptByWhatUsesIt) {
  Buffer target = buffer(64);
  Semaphore go = semaphore(), done = semaphore();
  std::vector<uint8_t> bytes = pattern(64, 4);
  {
    iree_io_file_handle_t* handle = nullptr;
    IREE_ASSERT_OK(iree_io_file_handle_wrap_host_allocation(
        IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(bytes.data(), bytes.size()),
        iree_io_file_handle_release_callback_null(), iree_allocator_system(), &handle));
    Ref<iree_hal_file_t> file;
    IREE_ASSERT_OK(iree_hal_file_import(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                        IREE_HAL_MEMORY_ACCESS_READ, handle,
                                        IREE_HAL_EXTERNAL_FILE_FLAG_NONE, file.out()));
    iree_io_file_handle_release(handle);
    IREE_ASSERT_OK(iree_hal_device_queue_read(device(), IREE_HAL_QUEUE_AFFINITY_ANY,
                                              Timepoints{{go, 1}}, Timepoints{{done, 1}}, file, 0,
                                              target, 0, 64, IREE_HAL_READ_FLAG_NONE));
  }
  IREE_ASSERT_OK(iree_hal_semaphore_signal(go, 1, nullptr));
  IREE_ASSERT_OK(wait(done, 1));
  EXPECT_EQ(contents(target), bytes);
}

BESSEMER_HAL_CTS(FileTest);

} // namespace
} // namespace bessemer::hal::cts
