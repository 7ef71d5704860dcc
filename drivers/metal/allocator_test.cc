// Memory that comes from elsewhere and goes elsewhere.
#include <cstdlib>
#include <memory>

#include "drivers/metal/device_test.h"

namespace bessemer::metal_driver {
namespace {

using ::testing::Each;

class AllocatorTest : public DeviceTest {
protected:
  iree_hal_allocator_t* allocator() { return iree_hal_device_allocator(device_); }

  iree_status_t Fill(iree_hal_buffer_t* buffer, uint8_t byte) {
    Fence done(device_);
    IREE_RETURN_IF_ERROR(iree_hal_device_queue_fill(device_, kAny, Fence(), done, buffer, 0,
                                                    IREE_HAL_WHOLE_BUFFER, &byte, 1,
                                                    IREE_HAL_FILL_FLAG_NONE));
    return done.Wait();
  }
  iree_status_t Export(iree_hal_buffer_t* buffer, iree_hal_external_buffer_type_t type,
                       iree_hal_external_buffer_t* out_external) {
    return iree_hal_allocator_export_buffer(allocator(), buffer, type,
                                            IREE_HAL_EXTERNAL_BUFFER_FLAG_NONE, out_external);
  }
};

TEST_F(AllocatorTest, ExportedMemoryIsTheBuffersOwn) {
  auto buffer = NewBuffer(100);
  iree_hal_external_buffer_t host = {}, metal = {};
  IREE_ASSERT_OK(Export(buffer.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION, &host));
  IREE_ASSERT_OK(Export(buffer.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION, &metal));
  IREE_ASSERT_OK(Fill(buffer.get(), 0x3C));
  auto* bytes = static_cast<uint8_t*>(host.handle.host_allocation.ptr);
  EXPECT_THAT(std::vector<uint8_t>(bytes, bytes + 100), Each(0x3C));
  EXPECT_EQ(reinterpret_cast<MTL::Buffer*>(metal.handle.device_allocation.ptr)->contents(), bytes);

  // What another user of Metal has is used where it is.
  int released = 0;
  iree_hal_buffer_params_t params = {};
  params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
  params.type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE;
  iree_hal_buffer_release_callback_t callback = {
      [](void* count, iree_hal_buffer_t*) { ++*static_cast<int*>(count); }, &released};
  iree_hal_buffer_t* imported = nullptr;
  IREE_ASSERT_OK(
      iree_hal_allocator_import_buffer(allocator(), params, &metal, callback, &imported));
  IREE_ASSERT_OK(Fill(imported, 0x4D));
  EXPECT_THAT(Read(buffer), Each(0x4D));
  EXPECT_EQ(released, 0);
  iree_hal_buffer_release(imported);
  EXPECT_EQ(released, 1);
}

TEST_F(AllocatorTest, PartsAreExportedToTheHostOnly) {
  auto buffer = NewBuffer(100);
  iree_hal_buffer_t* raw = nullptr;
  IREE_ASSERT_OK(iree_hal_buffer_subspan(buffer.get(), 12, 40, iree_allocator_system(), &raw));
  auto part = HalPtr<iree_hal_buffer_t>::Take(raw);
  iree_hal_external_buffer_t whole = {}, host = {}, metal = {};
  IREE_ASSERT_OK(Export(buffer.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION, &whole));
  IREE_ASSERT_OK(Export(part.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION, &host));
  EXPECT_EQ(host.size, 40u);
  EXPECT_EQ(static_cast<uint8_t*>(host.handle.host_allocation.ptr),
            static_cast<uint8_t*>(whole.handle.host_allocation.ptr) + 12);
  IREE_EXPECT_STATUS_IS(
      IREE_STATUS_UNAVAILABLE,
      Export(part.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION, &metal));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_UNAVAILABLE,
                        Export(buffer.get(), IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD, &metal));
}

// Allocations of the host begin anywhere in their pages; what lies around them is not touched.
TEST_F(AllocatorTest, ImportsOfTheHostKeepToTheirBytes) {
  std::vector<uint8_t> memory(3 * 65536, 0x77);
  for (size_t offset : {size_t{0}, size_t{4}, size_t{4100}, size_t{65532}}) {
    iree_hal_external_buffer_t external = {};
    external.type = IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION;
    external.size = 1000;
    external.handle.host_allocation.ptr = memory.data() + offset;
    iree_hal_buffer_params_t params = {};
    params.usage = IREE_HAL_BUFFER_USAGE_DEFAULT | IREE_HAL_BUFFER_USAGE_MAPPING;
    params.type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE;
    iree_hal_buffer_t* imported = nullptr;
    IREE_ASSERT_OK(iree_hal_allocator_import_buffer(
        allocator(), params, &external, iree_hal_buffer_release_callback_null(), &imported));
    IREE_ASSERT_OK(Fill(imported, 0x88));
    iree_hal_buffer_release(imported);
    std::vector<uint8_t> expected(memory.size(), 0x77);
    std::fill_n(expected.begin() + static_cast<ptrdiff_t>(offset), 1000, 0x88);
    ASSERT_EQ(memory, expected) << "at " << offset;
    std::fill(memory.begin(), memory.end(), 0x77);
  }
}

TEST_F(AllocatorTest, CapturesNeedTheirOwnProviderAndFileName) {
  iree_hal_device_external_capture_options_t options = {};
  options.provider = IREE_SV("renderdoc");
  IREE_EXPECT_STATUS_IS(IREE_STATUS_NOT_FOUND,
                        iree_hal_device_external_capture_begin(device_, &options));
  options.provider = IREE_SV("metal");
  options.file_path = IREE_SV("/tmp/capture.txt");
  IREE_EXPECT_STATUS_IS(IREE_STATUS_INVALID_ARGUMENT,
                        iree_hal_device_external_capture_begin(device_, &options));
  IREE_EXPECT_STATUS_IS(IREE_STATUS_FAILED_PRECONDITION,
                        iree_hal_device_external_capture_end(device_));
}

} // namespace
} // namespace bessemer::metal_driver
