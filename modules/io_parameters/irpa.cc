// .irpa: a header, entries of fixed shape, then their names and data. Little-endian, packed.
#include <filesystem>

#include "modules/io_parameters/archive.h"
#include "modules/io_parameters/byte_reader.h"

namespace bessemer::modules {

namespace {

using vm::fail;
using vm::StatusCode;

constexpr uint32_t kMagic = 0x41505249; // "IRPA"
constexpr uint64_t kHeaderSize = 88;
constexpr uint64_t kEntryAlignment = 16;

enum class EntryType : uint32_t { Skip = 0, Splat = 1, Data = 2, External = 3 };

struct Range {
  uint64_t offset = 0;
  uint64_t length = 0;
};

Range readRange(ByteReader& reader) {
  Range range;
  range.offset = reader.read<uint64_t>();
  range.length = reader.read<uint64_t>();
  return range;
}

struct Segments {
  uint64_t base = 0; // of this header in the file; the ranges count from it
  Range entries, metadata, storage;
};

class Reader {
public:
  Reader(std::shared_ptr<const vm::FileMapping> file, const std::string& path, bool writable)
      : file_(std::move(file)), writable_(writable) {
    archive_.path = path;
  }

  vm::Result<Archive> run() {
    uint64_t base = 0;
    // Archives may follow each other in one file, each at a greater offset.
    for (;;) {
      BESSEMER_ASSIGN_OR_RETURN(uint64_t next, readHeader(base));
      if (next == 0)
        return std::move(archive_);
      if (next > bytes().size() - base)
        return fail(StatusCode::InvalidArgument, "the header at ", base,
                    " says that the next one is ", next, " bytes on, past the file's end");
      base += next;
    }
  }

private:
  std::span<const std::byte> bytes() const { return file_->bytes(); }

  // Answers how far the next header is, or 0.
  vm::Result<uint64_t> readHeader(uint64_t base) {
    ByteReader reader(bytes(), base);
    auto magic = reader.read<uint32_t>();
    auto major = reader.read<uint16_t>();
    reader.read<uint16_t>(); // minor versions only add
    auto header_size = reader.read<uint64_t>();
    auto next = reader.read<uint64_t>();
    reader.read<uint64_t>(); // flags
    auto entry_count = reader.read<uint64_t>();
    Segments segments{base, {}, {}, {}};
    for (Range* range : {&segments.entries, &segments.metadata, &segments.storage})
      *range = readRange(reader);
    if (!reader.ok() || magic != kMagic)
      return fail(StatusCode::InvalidArgument, "no parameter archive at offset ", base);
    if (major != 0 || header_size < kHeaderSize)
      return fail(StatusCode::Unimplemented, "archive version ", major, " with a header of ",
                  header_size, " bytes is not supported");
    for (Range range : {segments.entries, segments.metadata, segments.storage})
      if (!isInside(range.offset, range.length, bytes().size() - base))
        return fail(StatusCode::InvalidArgument, "truncated: a segment of ", range.length,
                    " bytes at ", range.offset, " ends past the file's ", bytes().size(), " bytes");
    BESSEMER_RETURN_IF_ERROR(readEntries(segments, entry_count));
    return next;
  }

  vm::Result<void> readEntries(const Segments& segments, uint64_t count) {
    std::span<const std::byte> all =
        bytes().subspan(segments.base + segments.entries.offset, segments.entries.length);
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; ++i) {
      ByteReader size_reader(all, at);
      auto size = size_reader.read<uint64_t>();
      if (!size_reader.ok() || size < sizeof(uint64_t) || size > all.size() - at)
        return fail(StatusCode::InvalidArgument, "entry ", i, " of ", count,
                    " is not inside the entries' ", all.size(), " bytes");
      auto read = readEntry(segments, all.subspan(at, size));
      if (!read)
        return std::unexpected(std::move(read.error()).prefix(vm::concat("entry ", i)));
      at = std::min<uint64_t>((at + size + kEntryAlignment - 1) & ~(kEntryAlignment - 1),
                              all.size());
    }
    return {};
  }

  vm::Result<std::string> readText(const Segments& segments, Range range) {
    if (!isInside(range.offset, range.length, segments.metadata.length))
      return fail(StatusCode::InvalidArgument, "a text is outside of the metadata");
    ByteReader reader(bytes(), segments.base + segments.metadata.offset + range.offset);
    return std::string(reader.readText(range.length));
  }

  vm::Result<void> readEntry(const Segments& segments, std::span<const std::byte> entry) {
    ByteReader reader(entry);
    reader.read<uint64_t>(); // size
    auto type = static_cast<EntryType>(reader.read<uint32_t>());
    reader.read<uint64_t>(); // flags
    Range name_range = readRange(reader);
    readRange(reader);       // metadata of the producer
    reader.read<uint64_t>(); // minimum alignment: the file has it
    if (type == EntryType::Skip)
      return {};
    BESSEMER_ASSIGN_OR_RETURN(std::string name, readText(segments, name_range));
    Parameter parameter;
    switch (type) {
    case EntryType::Splat: {
      parameter.kind = Parameter::Kind::Splat;
      parameter.length = reader.read<uint64_t>();
      for (std::byte& byte : parameter.pattern)
        byte = reader.read<std::byte>();
      parameter.pattern_length = reader.read<uint8_t>();
      if (parameter.pattern_length == 0 || parameter.pattern_length > 16 ||
          parameter.length % parameter.pattern_length)
        return fail(StatusCode::InvalidArgument, name, ": a splat of ", parameter.length,
                    " bytes with a pattern of ", parameter.pattern_length);
      break;
    }
    case EntryType::Data: {
      Range storage = readRange(reader);
      if (!isInside(storage.offset, storage.length, segments.storage.length))
        return fail(StatusCode::InvalidArgument, name, ": data of ", storage.length, " bytes at ",
                    storage.offset, " is outside of the storage");
      parameter.offset = segments.base + segments.storage.offset + storage.offset;
      parameter.length = storage.length;
      parameter.file = file_;
      break;
    }
    case EntryType::External: {
      Range path_range = readRange(reader);
      Range range = readRange(reader);
      BESSEMER_ASSIGN_OR_RETURN(std::string path, readText(segments, path_range));
      BESSEMER_ASSIGN_OR_RETURN(parameter.file, openExternal(path));
      if (!isInside(range.offset, range.length, parameter.file->bytes().size()))
        return fail(StatusCode::InvalidArgument, name, ": ", range.length, " bytes at ",
                    range.offset, " are outside of ", path);
      parameter.offset = range.offset;
      parameter.length = range.length;
      break;
    }
    default:
      return fail(StatusCode::Unimplemented, name, ": entry type ", static_cast<uint32_t>(type),
                  " is not supported");
    }
    if (!reader.ok())
      return fail(StatusCode::InvalidArgument, name, ": the entry is too short");
    archive_.parameters.insert_or_assign(std::move(name), std::move(parameter));
    return {};
  }

  vm::Result<std::shared_ptr<const vm::FileMapping>> openExternal(const std::string& path) {
    auto& file = external_[path];
    if (!file) {
      std::filesystem::path resolved = std::filesystem::path(archive_.path).parent_path() / path;
      BESSEMER_ASSIGN_OR_RETURN(
          file,
          vm::FileMapping::open(resolved.string(), writable_ ? vm::FileMapping::Mode::ReadWrite
                                                             : vm::FileMapping::Mode::Read));
    }
    return file;
  }

  std::shared_ptr<const vm::FileMapping> file_;
  bool writable_;
  Archive archive_;
  std::map<std::string, std::shared_ptr<const vm::FileMapping>> external_;
};

} // namespace

vm::Result<Archive> readIrpa(std::shared_ptr<const vm::FileMapping> file, const std::string& path,
                             bool writable) {
  return Reader(std::move(file), path, writable).run();
}

} // namespace bessemer::modules
