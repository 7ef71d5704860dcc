// hal.buffer_view.*: buffers with shape and element type.
#include <cstdio>

#include "modules/hal/state.h"

namespace bessemer::modules::hal {

namespace {

// More dimensions than any tensor that a compiler makes has.
constexpr size_t kMaxRank = 128;

Result<void> readShape(Span<int64_t> dims, iree_hal_dim_t* shape) {
  if (dims.size() > kMaxRank)
    return vm::fail(StatusCode::ResourceExhausted, "a tensor of rank ", dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0)
      return vm::fail(StatusCode::InvalidArgument, "dimension ", i, " is ", dims[i]);
    shape[i] = static_cast<iree_hal_dim_t>(dims[i]);
  }
  return {};
}

std::string typeText(iree_hal_element_type_t type) {
  char text[32];
  iree_host_size_t length = 0;
  iree_status_t status = iree_hal_format_element_type(type, sizeof(text), text, &length);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return vm::concat("type ", type);
  }
  return std::string(text, length);
}

std::string shapeText(size_t rank, const iree_hal_dim_t* shape) {
  if (rank == 0)
    return "scalar";
  std::string text;
  for (size_t i = 0; i < rank; ++i)
    text += vm::concat(i ? "x" : "", shape[i]);
  return text;
}

Result<RefPtr<iree_hal_buffer_view_t>> create(State& state, Required<iree_hal_buffer_t> source,
                                              uint64_t offset, uint64_t length,
                                              uint32_t element_type, uint32_t encoding,
                                              Span<int64_t> dims) {
  iree_hal_dim_t shape[kMaxRank];
  BESSEMER_RETURN_IF_ERROR(readShape(dims, shape));
  auto buffer = RefPtr<iree_hal_buffer_t>::share(source);
  if (offset != 0 || length != iree_hal_buffer_byte_length(source))
    BESSEMER_RETURN_IF_ERROR(fromStatus(iree_hal_buffer_subspan(
        source, offset, length, state.options.host_allocator, buffer.put())));
  if (encoding == IREE_HAL_ENCODING_TYPE_DENSE_ROW_MAJOR) {
    iree_device_size_t needed = 0;
    BESSEMER_RETURN_IF_ERROR(fromStatus(
        iree_hal_buffer_compute_view_size(dims.size(), shape, element_type, encoding, &needed)));
    if (needed > iree_hal_buffer_byte_length(buffer.get()))
      return vm::fail(StatusCode::OutOfRange, "a view of ", shapeText(dims.size(), shape), "x",
                      typeText(element_type), " has ", needed, " bytes, its buffer ",
                      iree_hal_buffer_byte_length(buffer.get()));
  }
  RefPtr<iree_hal_buffer_view_t> view;
  iree_status_t status =
      iree_hal_buffer_view_create(buffer.get(), dims.size(), shape, element_type, encoding,
                                  state.options.host_allocator, view.put());
  return made(status, std::move(view));
}

// Integers of one width are interchangeable whatever their sign; opaque types fit everything.
bool typesMatch(iree_hal_element_type_t found, iree_hal_element_type_t expected) {
  if (found == expected || iree_hal_element_numerical_type_is_opaque(found) ||
      iree_hal_element_numerical_type_is_opaque(expected))
    return true;
  return iree_hal_element_numerical_type_is_integer(found) &&
         iree_hal_element_numerical_type_is_integer(expected) &&
         iree_hal_element_bit_count(found) == iree_hal_element_bit_count(expected);
}

Result<void> assertView(State&, Required<iree_hal_buffer_view_t> view, vm::Buffer* name,
                        uint32_t element_type, uint32_t encoding, Span<int64_t> dims) {
  std::string_view label = name ? name->text() : std::string_view("buffer view");
  iree_hal_element_type_t found_type = iree_hal_buffer_view_element_type(view);
  if (!typesMatch(found_type, element_type))
    return vm::fail(StatusCode::InvalidArgument, label, ": element type is ", typeText(found_type),
                    ", the program needs ", typeText(element_type));
  iree_hal_encoding_type_t found_encoding = iree_hal_buffer_view_encoding_type(view);
  if (found_encoding != encoding && found_encoding != IREE_HAL_ENCODING_TYPE_OPAQUE &&
      encoding != IREE_HAL_ENCODING_TYPE_OPAQUE)
    return vm::fail(StatusCode::InvalidArgument, label, ": encoding is ", found_encoding,
                    ", the program needs ", encoding);
  size_t rank = iree_hal_buffer_view_shape_rank(view);
  const iree_hal_dim_t* shape = iree_hal_buffer_view_shape_dims(view);
  bool equal = rank == dims.size();
  for (size_t i = 0; equal && i < rank; ++i)
    equal = shape[i] == static_cast<iree_hal_dim_t>(dims[i]);
  if (equal)
    return {};
  std::string expected;
  for (size_t i = 0; i < dims.size(); ++i)
    expected += vm::concat(i ? "x" : "", dims[i]);
  return vm::fail(StatusCode::InvalidArgument, label, ": shape is ", shapeText(rank, shape),
                  ", the program needs ", dims.size() ? expected : std::string("scalar"));
}

Result<RefPtr<iree_hal_buffer_t>> buffer(State&, Required<iree_hal_buffer_view_t> view) {
  return RefPtr<iree_hal_buffer_t>::share(iree_hal_buffer_view_buffer(view));
}

Result<int64_t> dim(State&, Required<iree_hal_buffer_view_t> view, uint32_t index) {
  if (index >= iree_hal_buffer_view_shape_rank(view))
    return 0;
  return static_cast<int64_t>(iree_hal_buffer_view_shape_dim(view, index));
}

Result<uint32_t> rank(State&, Required<iree_hal_buffer_view_t> view) {
  return static_cast<uint32_t>(iree_hal_buffer_view_shape_rank(view));
}

Result<uint32_t> elementType(State&, Required<iree_hal_buffer_view_t> view) {
  return iree_hal_buffer_view_element_type(view);
}

Result<uint32_t> encodingType(State&, Required<iree_hal_buffer_view_t> view) {
  return iree_hal_buffer_view_encoding_type(view);
}

Result<void> trace(State& state, vm::Buffer* key, Span<Required<iree_hal_buffer_view_t>> views) {
  std::string_view label = key ? key->text() : std::string_view("trace");
  if (state.options.trace) {
    std::vector<iree_hal_buffer_view_t*> list;
    for (size_t i = 0; i < views.size(); ++i)
      list.push_back(views[i]);
    state.options.trace(state.options.trace_user, label, list);
    return {};
  }
  std::fprintf(stderr, "=== %.*s ===\n", static_cast<int>(label.size()), label.data());
  for (size_t i = 0; i < views.size(); ++i) {
    constexpr size_t kMaxElements = 1024;
    BESSEMER_RETURN_IF_ERROR(fromStatus(
        iree_hal_buffer_view_fprint(stderr, views[i], kMaxElements, state.options.host_allocator)));
    std::fputc('\n', stderr);
  }
  return {};
}

} // namespace

std::span<const vm::NativeFunction> bufferViewFunctions() {
  static constexpr vm::NativeFunction functions[] = {
      vm::bind<assertView>("buffer_view.assert"),
      vm::bind<buffer>("buffer_view.buffer"),
      vm::bind<create>("buffer_view.create"),
      vm::bind<dim>("buffer_view.dim"),
      vm::bind<elementType>("buffer_view.element_type"),
      vm::bind<encodingType>("buffer_view.encoding_type"),
      vm::bind<rank>("buffer_view.rank"),
      vm::bind<trace>("buffer_view.trace"),
  };
  return functions;
}

} // namespace bessemer::modules::hal
