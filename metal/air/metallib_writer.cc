#include "metal/air/metallib.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/SHA256.h"

namespace bessemer::air {

namespace {

class Writer {
public:
  template <typename Number>
  void number(Number value) {
    char bytes[sizeof(Number)];
    llvm::support::endian::write<Number, llvm::endianness::little>(bytes, value);
    out_.append(bytes, sizeof(Number));
  }
  void text(llvm::StringRef value) { out_.append(value.data(), value.size()); }
  void tag(llvm::StringRef name, llvm::StringRef payload) {
    text(name);
    number(static_cast<uint16_t>(payload.size()));
    text(payload);
  }
  const std::string& bytes() const { return out_; }
  size_t size() const { return out_.size(); }

private:
  std::string out_;
};

// Darwin's wrapper around bitcode, padded to 16 bytes. LLVM's writer has added it where the
// module's triple is Apple's.
std::string wrap(llvm::StringRef bitcode) {
  if (bitcode.starts_with("\xDE\xC0\x17\x0B")) {
    std::string padded = bitcode.str();
    padded.resize((padded.size() + 15) / 16 * 16);
    return padded;
  }
  Writer writer;
  writer.number(uint32_t{0x0B17C0DE});
  writer.number(uint32_t{0});
  writer.number(uint32_t{20});
  writer.number(static_cast<uint32_t>(bitcode.size()));
  writer.number(uint32_t{0xFFFFFFFF});
  writer.text(bitcode);
  while (writer.size() % 16 != 0)
    writer.number(uint8_t{0});
  return writer.bytes();
}

// u32 size, which counts itself, then tags, then ENDT.
std::string group(const Writer& tags) {
  Writer writer;
  writer.number(static_cast<uint32_t>(tags.size() + 8));
  writer.text(tags.bytes());
  writer.text("ENDT");
  return writer.bytes();
}

std::string constants_group(const MetallibEntry& entry) {
  Writer tags;
  if (!entry.constants.empty()) {
    Writer payload;
    payload.number(static_cast<uint16_t>(entry.constants.size()));
    for (const MetallibConstant& constant : entry.constants) {
      payload.text(constant.name);
      payload.number(uint8_t{0});
      payload.number(static_cast<uint8_t>(constant.data_type));
      payload.number(static_cast<uint16_t>(constant.index));
      payload.number(static_cast<uint8_t>(constant.required));
    }
    tags.tag("CNST", payload.bytes());
  }
  return group(tags);
}

} // namespace

std::string write_metallib(llvm::ArrayRef<MetallibEntry> entries,
                           const MetallibVersions& versions) {
  Writer list, public_metadata, private_metadata, bitcode;
  list.number(static_cast<uint32_t>(entries.size()));
  for (const MetallibEntry& entry : entries) {
    std::string module = wrap(entry.bitcode);
    auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(module));
    Writer tags, type, offsets, version, size;
    type.number(static_cast<uint8_t>(entry.kind));
    offsets.number(uint64_t{public_metadata.size()});
    offsets.number(uint64_t{private_metadata.size()});
    offsets.number(uint64_t{bitcode.size()});
    for (uint16_t part :
         {versions.air[0], versions.air[1], versions.language[0], versions.language[1]})
      version.number(part);
    size.number(uint64_t{module.size()});
    tags.tag("NAME", llvm::StringRef(entry.name.c_str(), entry.name.size() + 1));
    tags.tag("TYPE", type.bytes());
    tags.tag("HASH", llvm::toStringRef(llvm::ArrayRef<uint8_t>(hash)));
    tags.tag("MDSZ", size.bytes());
    tags.tag("OFFT", offsets.bytes());
    tags.tag("VERS", version.bytes());
    list.text(group(tags));
    public_metadata.text(constants_group(entry));
    private_metadata.text(group(Writer()));
    bitcode.text(module);
  }
  constexpr uint64_t kHeaderSize = 88;
  // The list's size leaves out its count; the extension tags behind it are just their end.
  uint64_t public_offset = kHeaderSize + list.size() + 4;
  uint64_t private_offset = public_offset + public_metadata.size();
  uint64_t bitcode_offset = private_offset + private_metadata.size();
  Writer file;
  file.text("MTLB");
  file.number(uint16_t{0x8001}); // macOS
  file.number(uint16_t{2});
  file.number(uint16_t{7});
  file.number(uint8_t{0});    // an executable library
  file.number(uint8_t{0x81}); // macOS
  file.number(versions.os[0]);
  file.number(versions.os[1]);
  file.number(uint64_t{bitcode_offset + bitcode.size()});
  file.number(kHeaderSize);
  file.number(uint64_t{list.size() - 4});
  file.number(public_offset);
  file.number(uint64_t{public_metadata.size()});
  file.number(private_offset);
  file.number(uint64_t{private_metadata.size()});
  file.number(bitcode_offset);
  file.number(uint64_t{bitcode.size()});
  file.text(list.bytes());
  file.text("ENDT");
  file.text(public_metadata.bytes());
  file.text(private_metadata.bytes());
  file.text(bitcode.bytes());
  return file.bytes();
}

} // namespace bessemer::air
