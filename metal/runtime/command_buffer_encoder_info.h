// MTLCommandBufferEncoderInfo: what an error of a command buffer tells about one of its encoders.
#pragma once

#include <string>
#include <vector>

#include "metal/foundation/array.h"
#include "metal/foundation/error.h"
#include "metal/runtime/types.h"

namespace mtl {

class CommandBufferEncoderInfo : public objc::Object {
public:
  OBJC_CLASS(CommandBufferEncoderInfo, "BSMCommandBufferEncoderInfo");

  CommandBufferEncoderInfo(ns::String* label, CommandEncoderErrorState state);

  ns::String* label() const { return label_.get(); }
  CommandEncoderErrorState error_state() const { return state_; }
  ns::Array* debug_signposts() const { return signposts_.get(); }

private:
  objc::Ref<ns::String> label_;
  CommandEncoderErrorState state_;
  objc::Ref<ns::Array> signposts_;
};

/// An error of MTLCommandBufferErrorDomain. `encoder_labels` (strings) are those of the encoders in
/// the order of recording; when there are any, the error's userInfo has their infos. Which of them
/// failed is not known, so that all are "affected".
objc::Ref<ns::Error>
make_command_buffer_error(CommandBufferError code, const std::string& text,
                          const std::vector<objc::Ref<objc::Object>>& encoder_labels);

} // namespace mtl
