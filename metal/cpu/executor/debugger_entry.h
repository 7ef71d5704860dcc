// Tells gdb (through its JIT interface) and perf (through its map file, when BESSEMER_PERF=1) which
// functions lie where.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bessemer::metal::cpu {

// Registered with gdb as long as it lives.
class DebuggerEntry {
public:
  // An ELF image whose section headers hold the addresses that the sections were loaded to.
  explicit DebuggerEntry(std::vector<uint8_t> image);
  ~DebuggerEntry();
  DebuggerEntry(const DebuggerEntry&) = delete;
  DebuggerEntry& operator=(const DebuggerEntry&) = delete;

private:
  struct Entry;
  Entry* entry_;
};

// True when BESSEMER_DEBUG=1: kernels from source get line tables.
bool line_tables_wanted();
// True when BESSEMER_PERF=1.
bool perf_map_wanted();
// Adds a line to /tmp/perf-<pid>.map.
void add_to_perf_map(uint64_t address, uint64_t size, std::string_view name);

} // namespace bessemer::metal::cpu
