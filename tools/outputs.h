// What becomes of a function's results: printed, written to files, compared.
#pragma once

#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "tools/inputs.h"
#include "vm/status.h"
#include "vm/value.h"

namespace bessemer::tools {

// Prints `value` as iree-run-module does ("4xf32=2 4 6 8", "i32=42"), at most `max_elements` of it.
vm::Result<std::string> formatValue(iree_hal_device_t* device, const vm::Value& value,
                                    size_t max_elements);

// Prints every result: "result[0]: hal.buffer_view" and its contents.
vm::Result<void> printResults(std::FILE* file, iree_hal_device_t* device,
                              std::span<const vm::Value> results, size_t max_elements);

// Handles results by the texts of --output, one for each result in order:
//   @f.npy @f.bin  a new file;  +f.npy +f.bin  appended;  -  printed;  empty  dropped
class OutputWriter {
public:
  OutputWriter(iree_hal_device_t* device, size_t max_elements)
      : device_(device), max_elements_(max_elements) {}
  vm::Result<void> write(std::span<const std::string> texts, std::span<const vm::Value> results);

private:
  iree_hal_device_t* device_;
  size_t max_elements_;
};

struct Tolerance {
  // Largest allowed |got - expected| for each element type.
  double f16 = 0.001;
  double f32 = 0.0001;
  double f64 = 0.0001;
  double bf16 = 0.01;
  // Added to that, times |expected|.
  double relative = 1e-5;
  // Bits must be equal: tolerances are not used.
  bool exact = false;
};

// Compares results with the texts of --expected_output. Returns the differences, a text for each
// wrong result ("result[0]: element at index 2 (5) does not match the expected (6); ..."), empty
// when all is right. "(ignored)" matches anything. An error is an expectation that cannot be read.
vm::Result<std::vector<std::string>> compareResults(iree_hal_device_t* device,
                                                    std::span<const vm::Value> results,
                                                    std::span<const std::string> expected,
                                                    const Tolerance& tolerance);

// The first difference between two arrays, or an empty text. Integers, opaque bits and shapes must
// be equal; floating-point elements within `tolerance`; NaN matches NaN, an infinity only itself.
// Integer types of one width match whatever their sign, and 16-bit opaque matches every 16-bit
// type.
std::string compareArrays(const Array& got, const Array& expected, const Tolerance& tolerance);

} // namespace bessemer::tools
