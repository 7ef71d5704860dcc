// The 64 bytes before the tables of an executable: identifier, version, size of what follows.

#include "iree/hal/utils/executable_header.h"

#include <cstring>

namespace {

struct Header {
  char identifier[4];
  uint32_t version;
  uint64_t contentSize;
  uint64_t reserved[6];
};
static_assert(sizeof(Header) == 64);

} // namespace

iree_status_t
iree_hal_read_executable_flatbuffer_header(iree_const_byte_span_t executable_data,
                                           bool unsafe_infer_size, const char file_identifier[4],
                                           iree_const_byte_span_t* out_flatbuffer_data) {
  *out_flatbuffer_data = iree_const_byte_span_empty();
  // A caller that does not know the size vouches for what the header says.
  const bool sizeIsKnown = executable_data.data_length != 0 || !unsafe_infer_size;
  if (!executable_data.data || (sizeIsKnown && executable_data.data_length < sizeof(Header))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "executable of %" PRIhsz
                            " bytes is shorter than its header of %" PRIhsz,
                            executable_data.data_length, sizeof(Header));
  }
  Header header;
  std::memcpy(&header, executable_data.data, sizeof(header));
  if (std::memcmp(header.identifier, file_identifier, sizeof(header.identifier)) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable does not begin with '%.4s'",
                            file_identifier);
  }
  if (header.version != 0) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "executable '%.4s' has version %u; only version 0 is known",
                            file_identifier, header.version);
  }
  if (header.contentSize == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable '%.4s' is empty",
                            file_identifier);
  }
  if (sizeIsKnown && header.contentSize > executable_data.data_length - sizeof(Header)) {
    return iree_make_status(
        IREE_STATUS_OUT_OF_RANGE,
        "executable '%.4s' says it has %" PRIu64 " bytes of content; %" PRIhsz " are given",
        file_identifier, header.contentSize, executable_data.data_length - sizeof(Header));
  }
  *out_flatbuffer_data = iree_make_const_byte_span(executable_data.data + sizeof(Header),
                                                   (iree_host_size_t)header.contentSize);
  return iree_ok_status();
}
