#include "metal/runtime/command_buffer_encoder_info.h"

#include <array>

#include "metal/runtime/constants.h"

namespace mtl {

CommandBufferEncoderInfo::CommandBufferEncoderInfo(ns::String* label,
                                                   CommandEncoderErrorState state)
    : label_(ns::copy(label)), state_(state), signposts_(ns::array({})) {}

objc::Ref<ns::Error>
make_command_buffer_error(CommandBufferError code, const std::string& text,
                          const std::vector<objc::Ref<objc::Object>>& encoder_labels) {
  if (encoder_labels.empty())
    return ns::error(MTLCommandBufferErrorDomain, Integer(code), text);
  std::vector<objc::Ref<CommandBufferEncoderInfo>> infos;
  for (const auto& label : encoder_labels)
    infos.push_back(objc::make<CommandBufferEncoderInfo>(reinterpret_cast<ns::String*>(label.get()),
                                                         CommandEncoderErrorState::Affected));
  objc::Ref<ns::Array> array = ns::array(infos);
  objc::Ref<ns::String> description = ns::string(text);
  std::array<objc::Object*, 2> objects{description.get(), array.get()};
  std::array<objc::Object*, 2> keys{NSLocalizedDescriptionKey, MTLCommandBufferEncoderInfoErrorKey};
  auto user_info = objc::make<ns::Dictionary>(std::span<objc::Object* const>(objects),
                                              std::span<objc::Object* const>(keys));
  return objc::make<ns::Error>(MTLCommandBufferErrorDomain, Integer(code), user_info.get());
}

OBJC_DEFINE_CLASS(
    CommandBufferEncoderInfo, "BSMCommandBufferEncoderInfo", objc::Object,
    .methods =
        {
            objc::method<&CommandBufferEncoderInfo::label>("label"),
            objc::method<&CommandBufferEncoderInfo::error_state>("errorState"),
            objc::method<&CommandBufferEncoderInfo::debug_signposts>("debugSignposts"),
        },
    .protocols = {"MTLCommandBufferEncoderInfo"});

} // namespace mtl
