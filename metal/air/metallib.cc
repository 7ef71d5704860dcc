#include "metal/air/metallib.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

namespace bessemer::air {

namespace {

constexpr uint64_t kHeaderSize = 88;

// A cursor over part of the file. Every read is checked; after a failure the cursor stays failed.
class Cursor {
public:
  Cursor(llvm::ArrayRef<uint8_t> bytes, uint64_t begin, uint64_t end)
      : bytes_(bytes), position_(begin), end_(std::min<uint64_t>(end, bytes.size())) {
    failed_ = begin > end_;
  }

  bool failed() const { return failed_; }
  uint64_t position() const { return position_; }
  uint64_t left() const { return failed_ ? 0 : end_ - position_; }

  template <typename Number>
  Number read() {
    if (!take(sizeof(Number)))
      return 0;
    return llvm::support::endian::read<Number, llvm::endianness::little>(bytes_.data() + position_ -
                                                                         sizeof(Number));
  }

  void skip(uint64_t size) { take(size); }

  llvm::ArrayRef<uint8_t> read_bytes(uint64_t size) {
    if (!take(size))
      return {};
    return bytes_.slice(position_ - size, size);
  }

private:
  bool take(uint64_t size) {
    if (failed_ || size > end_ - position_) {
      failed_ = true;
      return false;
    }
    position_ += size;
    return true;
  }

  llvm::ArrayRef<uint8_t> bytes_;
  uint64_t position_;
  uint64_t end_;
  bool failed_ = false;
};

constexpr uint32_t tag(const char (&text)[5]) {
  return uint32_t{static_cast<uint8_t>(text[0])} | uint32_t{static_cast<uint8_t>(text[1])} << 8 |
         uint32_t{static_cast<uint8_t>(text[2])} << 16 |
         uint32_t{static_cast<uint8_t>(text[3])} << 24;
}

struct Tag {
  uint32_t id = 0;
  uint64_t offset = 0;
  llvm::ArrayRef<uint8_t> payload;
};

// The next tag, or false at ENDT or a failure. RBUF alone has a length of 32 bits.
bool next_tag(Cursor& cursor, Tag& out) {
  out.offset = cursor.position();
  out.id = cursor.read<uint32_t>();
  if (cursor.failed() || out.id == tag("ENDT"))
    return false;
  uint64_t size = out.id == tag("RBUF") ? cursor.read<uint32_t>() : cursor.read<uint16_t>();
  out.payload = cursor.read_bytes(size);
  return !cursor.failed();
}

template <typename... Arguments>
llvm::Error bad(const char* format, Arguments&&... arguments) {
  return llvm::createStringError(
      "metallib: " + llvm::formatv(format, std::forward<Arguments>(arguments)...).str());
}

struct Section {
  uint64_t offset;
  uint64_t size;
};

bool fits(const Section& section, uint64_t file_size) {
  return section.offset <= file_size && section.size <= file_size - section.offset;
}

} // namespace

llvm::Expected<Metallib> Metallib::parse(llvm::ArrayRef<uint8_t> bytes) {
  Metallib library(bytes);
  if (bytes.size() < kHeaderSize)
    return bad("{0} bytes are too few for a header of {1}", bytes.size(), kHeaderSize);
  Cursor header(bytes, 0, kHeaderSize);
  if (header.read<uint32_t>() != tag("MTLB"))
    return bad("it does not start with 'MTLB'");
  header.skip(12); // platform, versions
  uint64_t size = header.read<uint64_t>();
  if (size > bytes.size())
    return bad("truncated: {0} of {1} bytes are there", bytes.size(), size);
  library.bytes_ = bytes = bytes.take_front(size);
  auto section = [&] {
    uint64_t offset = header.read<uint64_t>();
    return Section{offset, header.read<uint64_t>()};
  };
  Section list = section();
  Section public_metadata = section();
  section(); // private metadata: empty in every library
  Section bitcode = section();
  for (auto [name, part] :
       {std::pair{"function list", list}, std::pair{"public metadata", public_metadata},
        std::pair{"bitcode", bitcode}})
    if (!fits(part, size))
      return bad("the {0} at byte {1} with {2} bytes is outside the file of {3}", name, part.offset,
                 part.size, size);
  library.public_end_ = public_metadata.offset + public_metadata.size;

  // The size of the list leaves out its leading count.
  Cursor cursor(bytes, list.offset, list.offset + list.size + sizeof(uint32_t));
  uint32_t count = cursor.read<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t start = cursor.position();
    uint32_t group_size = cursor.read<uint32_t>();
    if (cursor.failed() || group_size < 8 || group_size - 4 > cursor.left())
      return bad("function {0} of {1} at byte {2}: its size of {3} does not fit in the list", i,
                 count, start, group_size);
    Cursor group(bytes, start + 4, start + group_size);
    cursor.skip(group_size - 4);
    MetallibFunction function;
    bool has_name = false, has_offsets = false, has_size = false;
    Tag item;
    while (next_tag(group, item)) {
      Cursor payload(item.payload, 0, item.payload.size());
      switch (item.id) {
      case tag("NAME"):
        function.name = llvm::toStringRef(item.payload).split('\0').first;
        has_name = !function.name.empty();
        break;
      case tag("TYPE"):
        function.type = payload.read<uint8_t>();
        break;
      case tag("OFFT"):
        function.public_offset = payload.read<uint64_t>();
        payload.read<uint64_t>();
        function.bitcode_offset = payload.read<uint64_t>();
        has_offsets = true;
        break;
      case tag("VERS"):
        for (uint16_t* version : {&function.air_version[0], &function.air_version[1],
                                  &function.language_version[0], &function.language_version[1]})
          *version = payload.read<uint16_t>();
        break;
      case tag("MDSZ"):
        function.bitcode_size = payload.read<uint64_t>();
        has_size = true;
        break;
      default:
        break;
      }
      if (payload.failed())
        return bad("function {0} at byte {1}: the tag at byte {2} is too short", i, start,
                   item.offset);
    }
    if (group.failed())
      return bad("function {0} at byte {1}: a tag at byte {2} does not fit", i, start, item.offset);
    if (!has_name || !has_offsets || !has_size)
      return bad("function {0} at byte {1} lacks its name, offsets or size", i, start);
    if (!fits({function.bitcode_offset, function.bitcode_size}, bitcode.size))
      return bad("function '{0}': its module of {1} bytes at {2} is outside the bitcode of {3}",
                 function.name, function.bitcode_size, function.bitcode_offset, bitcode.size);
    if (function.public_offset > public_metadata.size)
      return bad("function '{0}': its metadata at {1} is outside the {2} bytes of all",
                 function.name, function.public_offset, public_metadata.size);
    function.bitcode_offset += bitcode.offset;
    function.public_offset += public_metadata.offset;
    library.functions_.push_back(std::move(function));
  }
  return library;
}

llvm::StringRef Metallib::bitcode(const MetallibFunction& function) const {
  return llvm::toStringRef(bytes_.slice(function.bitcode_offset, function.bitcode_size));
}

llvm::Expected<std::vector<MetallibConstant>>
Metallib::constants(const MetallibFunction& function) const {
  std::vector<MetallibConstant> constants;
  // Some producers' group sizes count themselves and some do not: walk to ENDT.
  Cursor group(bytes_, function.public_offset, public_end_ + sizeof(uint32_t));
  group.read<uint32_t>();
  Tag item;
  while (next_tag(group, item)) {
    if (item.id != tag("CNST"))
      continue;
    Cursor payload(item.payload, 0, item.payload.size());
    uint16_t count = payload.read<uint16_t>();
    for (uint16_t i = 0; i < count; ++i) {
      MetallibConstant constant;
      llvm::StringRef rest = llvm::toStringRef(item.payload.drop_front(payload.position()));
      size_t length = rest.find('\0');
      if (length == llvm::StringRef::npos)
        return bad("function '{0}': the name of constant {1} has no end", function.name, i);
      constant.name = rest.take_front(length);
      payload.skip(length + 1);
      constant.data_type = payload.read<uint8_t>();
      constant.index = payload.read<uint16_t>();
      constant.required = payload.read<uint8_t>() != 0;
      if (payload.failed())
        return bad("function '{0}': its constants are cut off after {1} of {2}", function.name, i,
                   count);
      constants.push_back(std::move(constant));
    }
  }
  if (group.failed())
    return bad("function '{0}': its metadata does not end", function.name);
  return constants;
}

} // namespace bessemer::air
