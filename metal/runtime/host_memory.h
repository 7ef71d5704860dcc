// Memory of buffers and heaps: zeroed, stable for life, reachable by every thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mtl {

/// Clients align no-copy memory to this, as `vm_page_size` tells them; also the unit of big
/// buffers.
uint64_t host_page_size();

/// Bytes that an allocation of `length` takes: a multiple of 256, of pages from one page up.
uint64_t host_memory_size(uint64_t length);

/// `size` bytes (from host_memory_size), zeroed, aligned to 256 at least and to pages from one page
/// up; null when the system has no more.
void* host_memory_allocate(uint64_t size);

/// Gives back what host_memory_allocate(size) returned.
void host_memory_free(void* memory, uint64_t size);

/// Physical memory this process may use: the machine's, or its control group's limit.
uint64_t host_memory_total();

} // namespace mtl
