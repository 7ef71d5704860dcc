#include "tools/npy.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <istream>
#include <optional>

namespace bessemer::tools {
namespace {

static_assert(std::endian::native == std::endian::little, "bytes are copied as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy itself refuses longer headers by default; no array needs one.
constexpr size_t kMaxHeader = 64 * 1024;
constexpr size_t kMaxRank = 64;

struct Kind {
  std::string_view descr; // without the byte order
  uint32_t element_type;
};
constexpr std::array kKinds = {
    Kind{"b1", 0x13000008}, Kind{"i1", 0x10000008},  Kind{"i2", 0x10000010}, Kind{"i4", 0x10000020},
    Kind{"i8", 0x10000040}, Kind{"u1", 0x12000008},  Kind{"u2", 0x12000010}, Kind{"u4", 0x12000020},
    Kind{"u8", 0x12000040}, Kind{"f2", 0x21000010},  Kind{"f4", 0x21000020}, Kind{"f8", 0x21000040},
    Kind{"c8", 0x23000040}, Kind{"c16", 0x23000080}, Kind{"V2", 0x00000010},
};

// The header is a Python dictionary literal; this reads the subset that NumPy writes.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  std::expected<Array, std::string> read() {
    Array array;
    std::optional<std::string_view> descr;
    std::optional<bool> fortran;
    bool shaped = false;
    if (!take('{'))
      return fail("the header is not a dictionary");
    while (!take('}')) {
      auto key = string();
      if (!key || !take(':'))
        return fail("the header's dictionary is malformed");
      if (*key == "descr") {
        if (!(descr = string()))
          return fail("'descr' is not a plain type string; structured arrays are not supported");
      } else if (*key == "fortran_order") {
        if (!(fortran = boolean()))
          return fail("'fortran_order' is neither True nor False");
      } else if (*key == "shape") {
        if (!shape(array.shape))
          return fail("'shape' is not a tuple of up to 64 sizes");
        shaped = true;
      } else {
        return fail("unknown header key '" + std::string(*key) + "'");
      }
      take(',');
    }
    if (!descr || !fortran || !shaped)
      return fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    if (*fortran && array.shape.size() > 1)
      return fail("the array is in Fortran order; save it with numpy.ascontiguousarray");
    std::string_view type = *descr;
    if (type.starts_with('>'))
      return fail("the array is big-endian; convert it with astype('<" +
                  std::string(type.substr(1)) + "')");
    if (!type.empty() && std::string_view("<|=").contains(type.front()))
      type.remove_prefix(1);
    for (const Kind& kind : kKinds) {
      if (kind.descr == type) {
        array.element_type = kind.element_type;
        return array;
      }
    }
    return fail("dtype '" + std::string(*descr) +
                "' is not supported (known: bool, int, uint, float and complex numbers, V2)");
  }

private:
  static std::unexpected<std::string> fail(std::string why) {
    return std::unexpected(std::move(why));
  }
  void space() {
    while (!text_.empty() && std::string_view(" \t\r\n").contains(text_.front()))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    space();
    if (!text_.starts_with(c))
      return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string_view> string() {
    space();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"'))
      return std::nullopt;
    size_t end = text_.find(text_.front(), 1);
    if (end == text_.npos)
      return std::nullopt;
    auto value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<bool> boolean() {
    space();
    for (auto [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(std::strlen(word));
        return value;
      }
    }
    return std::nullopt;
  }
  bool shape(std::vector<size_t>& sizes) {
    if (!take('('))
      return false;
    while (!take(')')) {
      space();
      uint64_t size = 0;
      auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || sizes.size() == kMaxRank)
        return false;
      text_.remove_prefix(end - text_.data());
      if (text_.starts_with('L')) // written by Python 2
        text_.remove_prefix(1);
      sizes.push_back(size);
      if (!take(',') && !(space(), text_.starts_with(')')))
        return false;
    }
    return true;
  }

  std::string_view text_;
};

} // namespace

std::expected<uint64_t, std::string> byteLength(uint32_t element_type,
                                                const std::vector<size_t>& shape) {
  uint64_t count = 1;
  for (uint64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count))
      return std::unexpected("the shape has more than 2^64 elements");
  }
  uint64_t bits = element_type & 0xFF;
  uint64_t total = 0;
  if (__builtin_mul_overflow(count, bits, &total) || total > UINT64_MAX - 7)
    return std::unexpected("the shape needs more than 2^61 bytes");
  return (total + 7) / 8;
}

std::expected<Array, std::string> readNpy(std::istream& stream) {
  char prefix[8];
  if (!stream.read(prefix, sizeof(prefix)) || std::string_view(prefix, 6) != kMagic)
    return std::unexpected("this is not a .npy array (it does not begin with \\x93NUMPY)");
  int major = static_cast<uint8_t>(prefix[6]);
  if (major < 1 || major > 3)
    return std::unexpected(".npy version " + std::to_string(major) + " is not known (1 to 3 are)");
  uint32_t header_size = 0;
  if (!stream.read(reinterpret_cast<char*>(&header_size), major == 1 ? 2 : 4))
    return std::unexpected("the file ends inside the header");
  if (header_size > kMaxHeader)
    return std::unexpected("the header has " + std::to_string(header_size) + " bytes; at most " +
                           std::to_string(kMaxHeader) + " make sense");
  std::string header(header_size, '\0');
  if (!stream.read(header.data(), header_size))
    return std::unexpected("the file ends inside the header");
  auto array = HeaderReader(header).read();
  if (!array)
    return array;
  auto size = byteLength(array->element_type, array->shape);
  if (!size)
    return std::unexpected(size.error());
  // Grown as data arrives: a header may promise more than the file, or this machine, has.
  constexpr uint64_t kStep = 16 << 20;
  while (array->data.size() < *size) {
    size_t at = array->data.size();
    size_t step = std::min<uint64_t>(kStep, *size - at);
    array->data.resize(at + step);
    if (!stream.read(reinterpret_cast<char*>(array->data.data() + at), step))
      return std::unexpected("the data ends after " + std::to_string(at + stream.gcount()) +
                             " of " + std::to_string(*size) + " bytes");
  }
  return array;
}

std::expected<Array, std::string> parseNpy(std::string_view bytes, size_t* consumed) {
  struct View : std::streambuf {
    explicit View(std::string_view bytes) {
      char* begin = const_cast<char*>(bytes.data());
      setg(begin, begin, begin + bytes.size());
    }
    size_t position() const { return gptr() - eback(); }
  } view(bytes);
  std::istream stream(&view);
  auto array = readNpy(stream);
  if (consumed)
    *consumed = view.position();
  return array;
}

std::expected<void, std::string> formatNpy(const Array& array, std::string& out) {
  uint32_t type = array.element_type;
  uint32_t numerical = type >> 24, bits = type & 0xFF;
  if (numerical == 0x11) // signed is what NumPy's i means
    type = 0x10u << 24 | bits;
  if (numerical == 0x22 && bits == 16)
    type = 0x00000010;
  std::string descr;
  for (const Kind& kind : kKinds) {
    if (kind.element_type == type)
      descr = (bits == 8 || kind.descr[0] == 'V' ? "|" : "<") + std::string(kind.descr);
  }
  if (descr.empty())
    return std::unexpected("NumPy has no type for these elements; write raw bytes to a .bin file");
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (uint64_t size : array.shape)
    header += std::to_string(size) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The data starts at a multiple of 64 bytes, the line before it ends in a newline.
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  auto header_size = static_cast<uint16_t>(header.size());
  out += kMagic;
  out += {'\x01', '\x00'};
  out.append(reinterpret_cast<const char*>(&header_size), 2);
  out += header;
  out.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  return {};
}

} // namespace bessemer::tools
