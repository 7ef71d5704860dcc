#include "metal/runtime/command_encoder.h"

#include <cstdarg>
#include <cstdio>
#include <new>

#include "metal/runtime/buffer.h"
#include "metal/runtime/fence.h"
#include "metal/runtime/misuse.h"
#include "metal/runtime/sample_buffer_attachment.h"

namespace mtl {

namespace {

struct Sample {
  CounterSampleBuffer* samples;
  UInteger index;
};

void take_sample(void* context) {
  auto* sample = static_cast<Sample*>(context);
  sample->samples->sample(sample->index);
}

} // namespace

CommandEncoder::CommandEncoder(CommandBuffer* buffer, const char* name,
                               SampleBufferAttachmentArray* samples)
    : DeviceObject(buffer->device()), buffer_(buffer), name_(name), samples_(samples) {
  if (!samples_ || !buffer_->accepts_commands())
    return;
  for (UInteger i = 0; i < SampleBufferAttachmentArray::kCount; ++i)
    if (auto* attachment = samples_->at(i); attachment->sample_buffer)
      record_sample(attachment->sample_buffer.get(), attachment->start_index);
}

CommandEncoder::~CommandEncoder() {
  if (ended_)
    return;
  misused("dealloc", "the encoder was released before endEncoding");
  end_encoding();
}

void CommandEncoder::end_encoding() {
  if (ended_)
    return report_closed("endEncoding");
  if (samples_ && buffer_->accepts_commands())
    for (UInteger i = 0; i < SampleBufferAttachmentArray::kCount; ++i)
      if (auto* attachment = samples_->at(i); attachment->sample_buffer)
        record_sample(attachment->sample_buffer.get(), attachment->end_index);
  ended_ = true;
  buffer_->encoder_ended(this);
}

void CommandEncoder::misused(const char* method, const char* format, ...) {
  char text[384];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  char where[160];
  std::snprintf(where, sizeof where, "%s %s", name_, method);
  buffer_->fail(misuse_text(where, "%s", text));
}

void CommandEncoder::report_closed(const char* method) {
  // After a wrong call everything is dropped, which needs no second message.
  if (reported_closed_ || (!ended_ && !buffer_->is_committed()))
    return;
  reported_closed_ = true;
  misused(method, ended_ ? "the encoder has ended" : "the command buffer is committed");
}

void CommandEncoder::record_sample(CounterSampleBuffer* samples, UInteger index) {
  if (index == kCounterDontSample)
    return;
  if (index >= samples->sample_count())
    return misused("sampleBufferAttachments", "sample index %llu is not below the buffer's %llu",
                   static_cast<unsigned long long>(index),
                   static_cast<unsigned long long>(samples->sample_count()));
  buffer_->keep(samples);
  void* context = list().allocate(sizeof(Sample), alignof(Sample));
  list().host_function(&take_sample, new (context) Sample{samples, index});
}

void CommandEncoder::sample_counters(const char* method, CounterSampleBuffer* samples,
                                     UInteger index) {
  if (!records(method))
    return;
  if (!samples)
    return misused(method, "sampleBuffer is null");
  if (index >= samples->sample_count())
    return misused(method, "sample index %llu is not below the buffer's %llu",
                   static_cast<unsigned long long>(index),
                   static_cast<unsigned long long>(samples->sample_count()));
  record_sample(samples, index);
}

void CommandEncoder::check_fence(const char* method, Fence* fence) {
  if (records(method) && !fence)
    misused(method, "fence is null");
}

bool CommandEncoder::check_range(const char* method, const char* what, Buffer* buffer,
                                 UInteger offset, UInteger size) {
  if (!buffer) {
    misused(method, "%s is null", what);
    return false;
  }
  if (offset <= buffer->length() && size <= buffer->length() - offset)
    return true;
  misused(method, "%s: offset %llu and size %llu end after the buffer's %llu bytes", what,
          static_cast<unsigned long long>(offset), static_cast<unsigned long long>(size),
          static_cast<unsigned long long>(buffer->length()));
  return false;
}

namespace {

// Names for tools that capture; there is none to show them.
void insert_debug_signpost(CommandEncoder*, ns::String*) {}
void push_debug_group(CommandEncoder*, ns::String*) {}
void pop_debug_group(CommandEncoder*) {}

} // namespace

OBJC_DEFINE_CLASS(CommandEncoder, "BSMCommandEncoder", DeviceObject,
                  .methods =
                      {
                          objc::method<&CommandEncoder::end_encoding>("endEncoding"),
                          objc::method<&insert_debug_signpost>("insertDebugSignpost:"),
                          objc::method<&push_debug_group>("pushDebugGroup:"),
                          objc::method<&pop_debug_group>("popDebugGroup"),
                      },
                  .protocols = {"MTLCommandEncoder"});

} // namespace mtl
