#include "drivers/metal/executable_format.h"

#include <cstring>

#include "executable_def_generated.h"

namespace bessemer::metal_driver {
namespace {

/// What precedes the FlatBuffer, 64 bytes.
struct FileHeader {
  char magic[4];
  uint32_t version;
  uint64_t content_size;
  uint64_t reserved[6];
};
static_assert(sizeof(FileHeader) == 64);

constexpr char kMagic[4] = {'M', 'T', 'L', '1'};

/// The newest MTLLanguageVersion that Metal 4 defines: a bound against nonsense.
constexpr uint32_t kMaxLanguageVersion = 4u << 16;

iree_status_t ReadHeader(iree_const_byte_span_t data, FileHeader* out_header) {
  if (!data.data || (data.data_length != 0 && data.data_length < sizeof(FileHeader))) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "executable of %" PRIhsz " bytes: its header has %zu", data.data_length,
                            sizeof(FileHeader));
  }
  std::memcpy(out_header, data.data, sizeof(FileHeader));
  if (std::memcmp(out_header->magic, kMagic, sizeof(kMagic)) != 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "not a Metal executable: it does not begin with 'MTL1'");
  }
  if (out_header->version != 0) {
    return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                            "executable of version %u; this runtime reads version 0",
                            out_header->version);
  }
  if (out_header->content_size == 0)
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable without content");
  if (data.data_length != 0 && out_header->content_size > data.data_length - sizeof(FileHeader)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "executable is cut short: %" PRIu64 " bytes of content, %" PRIhsz
                            " are there",
                            out_header->content_size, data.data_length - sizeof(FileHeader));
  }
  return iree_ok_status();
}

std::string_view View(const flatbuffers::String* string) {
  return string ? std::string_view(string->data(), string->size()) : std::string_view();
}

iree_status_t ReadLibrary(const fb::Library* library, uint32_t ordinal, LibrarySource* out) {
  if (library && library->metallib() && library->metallib()->size() != 0) {
    *out = {View(library->metallib()), /*is_metallib=*/true, 0};
    return iree_ok_status();
  }
  const fb::MslSource* source = library ? library->source() : nullptr;
  if (!source || View(source->code()).empty()) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "library %u has neither MSL text nor a metallib", ordinal);
  }
  if (source->version() > kMaxLanguageVersion) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "library %u is of unknown MSL version 0x%x", ordinal,
                            source->version());
  }
  *out = {View(source->code()), /*is_metallib=*/false, source->version()};
  return iree_ok_status();
}

iree_status_t ReadFunction(const fb::Pipeline* pipeline, uint32_t ordinal, size_t library_count,
                           FunctionSource* out) {
  out->entry_point = View(pipeline->entry_point());
  out->name = View(pipeline->name());
  if (out->name.empty())
    out->name = out->entry_point;
  out->library_ordinal = pipeline->library_ordinal();
  out->constant_count = pipeline->constant_count();
  out->binding_count = pipeline->binding_flags() ? pipeline->binding_flags()->size() : 0;
  if (out->entry_point.empty())
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function %u has no entry point",
                            ordinal);
  if (out->library_ordinal >= library_count) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function %u is in library %u, of %zu",
                            ordinal, out->library_ordinal, library_count);
  }
  if (out->constant_count > kMaxConstantCount || out->binding_count > kMaxBindingCount) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function %u has %u constants and %u bindings; at most %u and %u",
                            ordinal, out->constant_count, out->binding_count, kMaxConstantCount,
                            kMaxBindingCount);
  }
  const fb::ThreadgroupSize* size = pipeline->threadgroup_size();
  if (!size || size->x() == 0 || size->y() == 0 || size->z() == 0) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "function %u has no threadgroup size",
                            ordinal);
  }
  out->threadgroup_size[0] = size->x();
  out->threadgroup_size[1] = size->y();
  out->threadgroup_size[2] = size->z();
  return iree_ok_status();
}

} // namespace

bool IsKnownFormat(iree_string_view_t format) {
  return iree_string_view_equal(format, IREE_SV("metal-msl-fb")) ||
         iree_string_view_equal(format, IREE_SV("MTLE"));
}

iree_status_t InferExecutableSize(iree_const_byte_span_t data, iree_host_size_t* out_size) {
  *out_size = 0;
  FileHeader header;
  IREE_RETURN_IF_ERROR(ReadHeader(data, &header));
  if (!iree_host_size_checked_add(sizeof(FileHeader), header.content_size, out_size))
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE, "executable size overflows");
  return iree_ok_status();
}

iree_status_t ReadExecutable(iree_const_byte_span_t data, ExecutableSource* out_source) {
  *out_source = {};
  FileHeader header;
  if (data.data_length == 0)
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable without bytes");
  IREE_RETURN_IF_ERROR(ReadHeader(data, &header));
  const uint8_t* content = data.data + sizeof(FileHeader);
  // The verifier needs aligned words, and rodata segments are aligned; a copy serves the others.
  flatbuffers::Verifier verifier(content, header.content_size);
  if (!fb::VerifyExecutableBuffer(verifier)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "executable is damaged: its FlatBuffer does not verify");
  }
  const fb::Executable* executable = fb::GetExecutable(content);
  if (!executable->pipelines() || !executable->libraries())
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "executable without functions");
  uint32_t ordinal = 0;
  for (const fb::Library* library : *executable->libraries()) {
    IREE_RETURN_IF_ERROR(ReadLibrary(library, ordinal++, &out_source->libraries.emplace_back()));
  }
  ordinal = 0;
  for (const fb::Pipeline* pipeline : *executable->pipelines()) {
    IREE_RETURN_IF_ERROR(ReadFunction(pipeline, ordinal++, out_source->libraries.size(),
                                      &out_source->functions.emplace_back()));
  }
  return iree_ok_status();
}

} // namespace bessemer::metal_driver
