#include "iree/io/file_handle.h"

#include <cstring>
#include <memory>
#include <string>

#include "iree/io/file_contents.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"
#include "iree/testing/temp_file.h"

namespace {

using iree::testing::TempFilePath;

std::string Str(iree_const_byte_span_t span) {
  return std::string(reinterpret_cast<const char*>(span.data), span.data_length);
}

TEST(FileContentsTest, WritesReadsAndMaps) {
  TempFilePath path("bessemer_file");
  std::string text(10000, 'x');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>('a' + i % 26);
  IREE_ASSERT_OK(iree_io_file_contents_write(path.path_view(),
                                             iree_make_const_byte_span(text.data(), text.size()),
                                             iree_allocator_system()));
  iree_io_file_contents_t* contents = nullptr;
  IREE_ASSERT_OK(iree_io_file_contents_read(path.path_view(), iree_allocator_system(), &contents));
  EXPECT_EQ(Str(contents->const_buffer), text);
  EXPECT_EQ(contents->buffer.data[text.size()], 0);
  void* data = contents->buffer.data;
  iree_allocator_free(iree_io_file_contents_deallocator(contents), data);
  IREE_ASSERT_OK(iree_io_file_contents_map(path.path_view(), IREE_IO_FILE_ACCESS_READ,
                                           iree_allocator_system(), &contents));
  EXPECT_EQ(Str(contents->const_buffer), text);
  iree_io_file_contents_free(contents);
  EXPECT_TRUE(path.Remove());
  IREE_EXPECT_STATUS_IS(
      IREE_STATUS_NOT_FOUND,
      iree_io_file_contents_read(path.path_view(), iree_allocator_system(), &contents));
}

TEST(FileHandleTest, ViewsAtAnyOffsetAndWithinBounds) {
  TempFilePath path("bessemer_file");
  iree_io_file_handle_t* handle = nullptr;
  IREE_ASSERT_OK(iree_io_file_handle_create(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_WRITE,
                                            path.path_view(), 9000, iree_allocator_system(),
                                            &handle));
  iree_io_file_mapping_t* mapping = nullptr;
  IREE_ASSERT_OK(iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_READ | IREE_IO_FILE_ACCESS_WRITE,
                                       4097, 3, 0, iree_allocator_system(), &mapping));
  std::memcpy(iree_io_file_mapping_contents_rw(mapping).data, "abc", 3);
  iree_io_file_mapping_release(mapping);
  IREE_ASSERT_OK(iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_READ, 4090, IREE_HOST_SIZE_MAX,
                                       0, iree_allocator_system(), &mapping));
  EXPECT_EQ(iree_io_file_mapping_length(mapping), 9000u - 4090u);
  EXPECT_EQ(Str(iree_io_file_mapping_contents_ro(mapping)).substr(6, 5), std::string("\0abc\0", 5));
  EXPECT_EQ(iree_io_file_mapping_contents_rw(mapping).data, nullptr);
  iree_io_file_mapping_release(mapping);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_OUT_OF_RANGE,
                        iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_READ, 8999, 2, 0,
                                              iree_allocator_system(), &mapping));
  iree_io_file_handle_release(handle);
  IREE_EXPECT_STATUS_IS(IREE_STATUS_ALREADY_EXISTS,
                        iree_io_file_handle_create(IREE_IO_FILE_MODE_WRITE, path.path_view(), 0,
                                                   iree_allocator_system(), &handle));
  IREE_ASSERT_OK(iree_io_file_handle_open(IREE_IO_FILE_MODE_READ | IREE_IO_FILE_MODE_ASYNC,
                                          path.path_view(), iree_allocator_system(), &handle));
  EXPECT_TRUE(iree_io_file_handle_uses_async_io(handle));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_PERMISSION_DENIED,
                        iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_WRITE, 0, 1, 0,
                                              iree_allocator_system(), &mapping));
  iree_io_file_handle_release(handle);
  path.Remove();
}

TEST(FileHandleTest, MemoryHandlesReleaseOnce) {
  int released = 0;
  uint8_t bytes[16] = {1, 2, 3};
  iree_io_file_handle_t* handle = nullptr;
  IREE_ASSERT_OK(iree_io_file_handle_wrap_host_allocation(
      IREE_IO_FILE_ACCESS_READ, iree_make_byte_span(bytes, sizeof(bytes)),
      {+[](void* count, iree_io_file_handle_primitive_t) { ++*static_cast<int*>(count); },
       &released},
      iree_allocator_system(), &handle));
  iree_io_file_mapping_t* mapping = nullptr;
  IREE_ASSERT_OK(iree_io_file_map_view(handle, IREE_IO_FILE_ACCESS_READ, 2, 1, 0,
                                       iree_allocator_system(), &mapping));
  iree_io_file_handle_release(handle);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(iree_io_file_mapping_contents_ro(mapping).data[0], 3);
  iree_io_file_mapping_release(mapping);
  EXPECT_EQ(released, 1);
}

} // namespace
