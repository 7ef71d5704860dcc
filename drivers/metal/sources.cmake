# The driver's files, for Bessemer's build and for IREE's.
set(driver_metal_sources
  allocator.cc
  argument_arena.cc
  buffer.cc
  builtin_kernels.cc
  command_buffer.cc
  command_list.cc
  device.cc
  device_memory.cc
  dispatch_profile.cc
  dispatch_samples.cc
  driver.cc
  encoder.cc
  event.cc
  executable.cc
  executable_format.cc
  metal_cpp_implementation.cc
  objects.cc
  pipeline.cc
  profiler.cc
  promises.cc
  queue_alloca.cc
  queue_execute.cc
  queue_host.cc
  registration/driver_module.cc
  replay.cc
  semaphore.cc
  slab_provider.cc
  submission.cc
  transient_buffer.cc
  worker_pool.cc)
set(driver_metal_schemas executable_debug_info.fbs executable_def.fbs)
list(TRANSFORM driver_metal_sources PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
