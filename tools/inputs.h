// Texts of --input into values, as iree-run-module takes them.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "iree/hal/api.h"
#include "tools/npy.h"
#include "vm/signature.h"
#include "vm/status.h"
#include "vm/value.h"

namespace bessemer::tools {

// Reads the forms
//   42, 3.5             a number, typed by the signature
//   2x3xf32=1 2 3 4 5 6 a tensor; one element fills it, none leaves zeros
//   4xf32=@file.bin     its bytes from a file; +file.bin goes on after the last read of it
//   @x.npy +x.npy *x.npy  the first array of a file, the next one, all the rest
//   &4xf32              storage for a result, as a tensor is
//   (null)              a null reference
// Files stay open between inputs, so that + goes on where the last one ended.
class InputReader {
public:
  // `device` may be null when every input is a number.
  InputReader(iree_hal_device_t* device) : device_(device) {}

  // Values for the arguments of `signature`, without the fences that `usesFences` functions end in.
  // Errors name the input, its text and what is wrong; too few or too many inputs are one.
  vm::Result<std::vector<vm::Value>> read(std::span<const std::string> texts,
                                          std::span<const vm::Signature::Item> arguments);

  // One text without a signature, for --expected_output: a tensor, or a number as f64.
  vm::Result<std::vector<vm::Value>> readExpected(const std::string& text);

private:
  vm::Result<std::ifstream*> open(const std::string& path, bool rewind);
  vm::Result<vm::Value> tensor(const std::string& text);
  vm::Result<vm::Value> rawFile(const std::string& shape, const std::string& path, bool rewind);
  vm::Result<std::vector<vm::Value>> arrays(const std::string& text);
  vm::Result<vm::Value> upload(const Array& array);

  iree_hal_device_t* device_;
  std::map<std::string, std::ifstream> files_;
};

// A number of the given type; INVALID_ARGUMENT when the text is none or does not fit.
vm::Result<vm::Value> parseNumber(std::string_view text, vm::ValueType type);

// A buffer view on the device with a copy of the array.
vm::Result<vm::Value> uploadArray(iree_hal_device_t* device, const Array& array);

// A copy of a buffer view's elements on the host.
vm::Result<Array> downloadArray(iree_hal_device_t* device, iree_hal_buffer_view_t* view);

} // namespace bessemer::tools
