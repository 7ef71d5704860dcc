// The driver registry, device URIs, executable headers, resource sets and profiling options.

#include <cstring>
#include <string>
#include <vector>

#include "hal/hal/device_uri.h"
#include "iree/base/internal/arena.h"
#include "iree/hal/api.h"
#include "iree/hal/utils/executable_header.h"
#include "iree/hal/utils/resource_set.h"
#include "iree/testing/gtest.h"
#include "iree/testing/status_matchers.h"

namespace {

using ::iree::Status;
using ::iree::StatusCode;
using ::iree::testing::status::StatusIs;

std::string text(iree_string_view_t view) { return {view.data, view.size}; }

/// A factory of drivers that are never made; `self` counts how often it was asked.
iree_hal_driver_factory_t countingFactory(int* count) {
  iree_hal_driver_factory_t factory = {};
  factory.self = count;
  factory.enumerate = [](void*, iree_host_size_t* out_count,
                         const iree_hal_driver_info_t** out_infos) {
    static const iree_hal_driver_info_t infos[] = {
        {.driver_name = IREE_SVL("one"), .full_name = IREE_SVL("The first")},
        {.driver_name = IREE_SVL("two"), .full_name = IREE_SVL("The second")},
    };
    *out_count = std::size(infos);
    *out_infos = infos;
    return iree_ok_status();
  };
  factory.try_create = [](void* self, iree_string_view_t, iree_allocator_t, iree_hal_driver_t**) {
    ++*static_cast<int*>(self);
    return iree_status_from_code(IREE_STATUS_UNAVAILABLE);
  };
  return factory;
}

TEST(DriverRegistry, AsksTheFactoryRegisteredLast) {
  iree_hal_driver_registry_t* registry = nullptr;
  IREE_ASSERT_OK(iree_hal_driver_registry_allocate(iree_allocator_system(), &registry));
  int older = 0, newer = 0;
  const iree_hal_driver_factory_t a = countingFactory(&older), b = countingFactory(&newer);
  IREE_EXPECT_OK(iree_hal_driver_registry_register_factory(registry, &a));
  IREE_EXPECT_OK(iree_hal_driver_registry_register_factory(registry, &b));
  EXPECT_THAT(Status(iree_hal_driver_registry_register_factory(registry, &a)),
              StatusIs(StatusCode::kAlreadyExists));
  iree_hal_driver_t* driver = nullptr;
  auto create = [&](const char* name) {
    return Status(iree_hal_driver_registry_try_create(registry, iree_make_cstring_view(name),
                                                      iree_allocator_system(), &driver));
  };
  EXPECT_THAT(create("one"), StatusIs(StatusCode::kUnavailable));
  EXPECT_EQ(newer, 1);
  EXPECT_EQ(older, 0);
  EXPECT_THAT(create("three"), StatusIs(StatusCode::kNotFound));
  IREE_EXPECT_OK(iree_hal_driver_registry_unregister_factory(registry, &b));
  EXPECT_THAT(Status(iree_hal_driver_registry_unregister_factory(registry, &b)),
              StatusIs(StatusCode::kNotFound));
  EXPECT_THAT(create("two"), StatusIs(StatusCode::kUnavailable));
  EXPECT_EQ(older, 1);

  iree_host_size_t count = 0;
  iree_hal_driver_info_t* infos = nullptr;
  IREE_ASSERT_OK(
      iree_hal_driver_registry_enumerate(registry, iree_allocator_system(), &count, &infos));
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(text(infos[1].driver_name), "two");
  EXPECT_EQ(text(infos[0].full_name), "The first");
  iree_allocator_free(iree_allocator_system(), infos);

  std::vector<iree_hal_driver_factory_t> many(16, countingFactory(&older));
  for (int i = 0; i < 15; ++i) {
    IREE_EXPECT_OK(iree_hal_driver_registry_register_factory(registry, &many[i]));
  }
  EXPECT_THAT(Status(iree_hal_driver_registry_register_factory(registry, &many[15])),
              StatusIs(StatusCode::kResourceExhausted));
  EXPECT_THAT(Status(iree_hal_driver_registry_register_factory(registry, &many[3])),
              StatusIs(StatusCode::kAlreadyExists));
  iree_hal_driver_registry_free(registry);
}

TEST(DeviceUri, SplitsIntoDriverPathAndParameters) {
  bessemer::hal::DeviceUri uri;
  IREE_ASSERT_OK(bessemer::hal::parseDeviceUri(IREE_SV("metal"), &uri));
  EXPECT_EQ(text(uri.driver), "metal");
  EXPECT_EQ(uri.path.size, 0u);
  EXPECT_EQ(uri.paramCount, 0u);
  IREE_ASSERT_OK(
      bessemer::hal::parseDeviceUri(IREE_SV("metal://00ff/x?queues=2&flag&name=a=b&"), &uri));
  EXPECT_EQ(text(uri.driver), "metal");
  EXPECT_EQ(text(uri.path), "00ff/x");
  ASSERT_EQ(uri.paramCount, 3u);
  EXPECT_EQ(text(uri.params[0].key), "queues");
  EXPECT_EQ(text(uri.params[0].value), "2");
  EXPECT_EQ(text(uri.params[1].key), "flag");
  EXPECT_EQ(uri.params[1].value.size, 0u);
  EXPECT_EQ(text(uri.params[2].value), "a=b");
  std::string many = "d://?";
  for (int i = 0; i < 129; ++i)
    many += "k=v&";
  EXPECT_THAT(Status(bessemer::hal::parseDeviceUri(iree_make_cstring_view(many.c_str()), &uri)),
              StatusIs(StatusCode::kOutOfRange));
}

TEST(ExecutableHeader, IsChecked) {
  std::vector<uint8_t> data(64 + 32, 0);
  auto set = [&](const char* identifier, uint32_t version, uint64_t size) {
    std::memcpy(data.data(), identifier, 4);
    std::memcpy(data.data() + 4, &version, sizeof(version));
    std::memcpy(data.data() + 8, &size, sizeof(size));
  };
  iree_const_byte_span_t content;
  auto read = [&](size_t length, bool infer = false) {
    return Status(iree_hal_read_executable_flatbuffer_header(
        iree_make_const_byte_span(data.data(), length), infer, "MTL1", &content));
  };
  set("MTL1", 0, 24);
  EXPECT_THAT(read(data.size()), StatusIs(StatusCode::kOk));
  EXPECT_EQ(content.data, data.data() + 64);
  EXPECT_EQ(content.data_length, 24u);
  EXPECT_THAT(read(63), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(read(64 + 23), StatusIs(StatusCode::kOutOfRange));
  EXPECT_THAT(read(0), StatusIs(StatusCode::kInvalidArgument));
  EXPECT_THAT(read(0, true), StatusIs(StatusCode::kOk));
  EXPECT_EQ(content.data_length, 24u);
  set("MTL1", 0, UINT64_MAX);
  EXPECT_THAT(read(data.size()), StatusIs(StatusCode::kOutOfRange));
  set("MTL1", 0, 0);
  EXPECT_THAT(read(data.size()), StatusIs(StatusCode::kInvalidArgument));
  set("MTL1", 1, 24);
  EXPECT_THAT(read(data.size()), StatusIs(StatusCode::kIncompatible));
  set("XXXX", 0, 24);
  EXPECT_THAT(read(data.size()), StatusIs(StatusCode::kInvalidArgument));
}

/// A resource that counts the references to it.
struct CountedResource {
  iree_hal_resource_t resource;
  static inline int destroyed = 0;

  CountedResource() {
    static const iree_hal_resource_vtable_t vtable = {[](iree_hal_resource_t*) { ++destroyed; }};
    iree_hal_resource_initialize(&vtable, &resource);
  }
};

TEST(ResourceSet, KeepsEverythingUntilItIsFreed) {
  iree_arena_block_pool_t pool;
  iree_arena_block_pool_initialize(1024, iree_allocator_system(), &pool);
  iree_hal_resource_set_t* set = nullptr;
  IREE_ASSERT_OK(iree_hal_resource_set_allocate(&pool, &set));
  CountedResource::destroyed = 0;
  std::vector<CountedResource> resources(500);
  std::vector<void*> pointers;
  for (auto& resource : resources)
    pointers.push_back(&resource);
  pointers.push_back(nullptr);
  IREE_ASSERT_OK(iree_hal_resource_set_insert(set, pointers.size(), pointers.data()));
  // What was inserted lately is not inserted again.
  for (int i = 0; i < 100; ++i)
    IREE_ASSERT_OK(iree_hal_resource_set_insert(set, 1, &pointers[499]));
  EXPECT_EQ(iree_atomic_ref_count_load(&resources[499].resource.ref_count), 2);
  struct Record {
    int other;
    void* pointer;
  } const records[] = {{1, pointers[0]}, {2, nullptr}, {3, pointers[1]}};
  IREE_ASSERT_OK(iree_hal_resource_set_insert_strided(set, 3, records, offsetof(Record, pointer),
                                                      sizeof(Record)));
  for (auto& resource : resources)
    iree_hal_resource_release(&resource);
  EXPECT_EQ(CountedResource::destroyed, 0);
  iree_hal_resource_set_freeze(set);
  iree_hal_resource_set_free(set);
  EXPECT_EQ(CountedResource::destroyed, 500);
  iree_hal_resource_set_free(nullptr);
  IREE_EXPECT_OK(iree_hal_resource_set_insert(nullptr, pointers.size(), pointers.data()));
  iree_arena_block_pool_deinitialize(&pool);
}

TEST(ProfilingOptions, AreClonedWithAllTheyPointAt) {
  std::string pattern = "matmul*", set = "cache", counter = "hits";
  auto view = [](const std::string& s) { return iree_make_string_view(s.data(), s.size()); };
  iree_string_view_t counters[] = {view(counter)};
  iree_hal_profile_counter_set_selection_t selection = {};
  selection.name = view(set);
  selection.counter_name_count = 1;
  selection.counter_names = counters;
  iree_hal_device_profiling_options_t options = {};
  options.capture_filter.executable_function_pattern = view(pattern);
  options.counter_set_count = 1;
  options.counter_sets = &selection;
  iree_hal_device_profiling_options_t clone;
  iree_hal_device_profiling_options_storage_t* storage = nullptr;
  IREE_ASSERT_OK(
      iree_hal_device_profiling_options_clone(&options, iree_allocator_system(), &clone, &storage));
  pattern = set = counter = "-------";
  selection = {};
  counters[0] = {};
  EXPECT_EQ(text(clone.capture_filter.executable_function_pattern), "matmul*");
  ASSERT_EQ(clone.counter_set_count, 1u);
  EXPECT_EQ(text(clone.counter_sets[0].name), "cache");
  EXPECT_EQ(text(clone.counter_sets[0].counter_names[0]), "hits");
  iree_hal_device_profiling_options_storage_free(storage, iree_allocator_system());
}

TEST(ProfilingOptions, FiltersMatchPlaces) {
  iree_hal_profile_capture_filter_t filter = iree_hal_profile_capture_filter_default();
  EXPECT_TRUE(iree_hal_profile_capture_filter_matches_location(&filter, 1, 2, 3, 4));
  filter.flags = IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_COMMAND_INDEX |
                 IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_QUEUE_ORDINAL;
  filter.command_index = 2;
  filter.queue_ordinal = 4;
  EXPECT_TRUE(iree_hal_profile_capture_filter_matches_location(&filter, 1, 2, 3, 4));
  EXPECT_FALSE(iree_hal_profile_capture_filter_matches_location(&filter, 1, 3, 3, 4));
  EXPECT_FALSE(iree_hal_profile_capture_filter_matches_location(&filter, 1, 2, 3, 5));
  EXPECT_FALSE(iree_hal_profile_capture_filter_matches_location(&filter, 0, 2, 3, 4));
}

TEST(ProfileMetrics, AreFoundByIdAndName) {
  ASSERT_EQ(iree_hal_profile_builtin_metric_descriptor_count(), 15u);
  for (size_t i = 0; i < 15; ++i) {
    const auto* metric = iree_hal_profile_builtin_metric_descriptor_at(i);
    EXPECT_EQ(metric, iree_hal_profile_builtin_metric_descriptor_lookup(metric->metric_id));
    EXPECT_EQ(metric, iree_hal_profile_builtin_metric_descriptor_lookup_name(metric->name));
    EXPECT_NE(text(iree_hal_profile_metric_unit_string(metric->unit)), "unknown");
  }
  EXPECT_EQ(iree_hal_profile_builtin_metric_descriptor_at(15), nullptr);
  EXPECT_EQ(iree_hal_profile_builtin_metric_descriptor_lookup(UINT64_MAX), nullptr);
}

} // namespace
