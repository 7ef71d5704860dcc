// MTLFunction: a kernel of a library, perhaps with its constants set.
#pragma once

#include <vector>

#include "metal/foundation/dictionary.h"
#include "metal/runtime/device_object.h"
#include "metal/runtime/library.h"

namespace mtl {

class Argument;
class ArgumentEncoder;

class Function : public DeviceObject {
public:
  OBJC_CLASS(Function, "BSMFunction");

  /// `table` is a function of the library. `constants` are what resolve() gave; `is_specialized`
  /// says that it was asked.
  Function(Library* library, const bessemer::metal::Function& table, std::string name,
           std::vector<bessemer::metal::cpu::ConstantValue> constants, bool is_specialized);

  Library* library() const { return library_.get(); }
  const bessemer::metal::Function& table() const { return table_; }
  const std::vector<bessemer::metal::cpu::ConstantValue>& constants() const { return constants_; }
  bool is_specialized() const { return is_specialized_; }

  /// The name it was specialised under, else the kernel's.
  ns::String* name() const { return name_.get(); }
  UInteger function_type() const;
  /// NSString to MTLFunctionConstant.
  ns::Dictionary* constants_dictionary() const { return constants_dictionary_.get(); }
  /// Null, with a message, when there is no argument buffer at the index. The caller owns it.
  ArgumentEncoder* new_argument_encoder(UInteger buffer_index);
  ArgumentEncoder* new_argument_encoder_with_reflection(UInteger buffer_index,
                                                        Argument** reflection);

private:
  objc::Ref<Library> library_;
  const bessemer::metal::Function& table_; // lives as long as the library
  objc::Ref<ns::String> name_;
  std::vector<bessemer::metal::cpu::ConstantValue> constants_;
  bool is_specialized_;
  objc::Ref<ns::Dictionary> constants_dictionary_;
};

} // namespace mtl
