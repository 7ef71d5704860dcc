// Files of parameters, made byte by byte, whole and damaged.
#include "modules/io_parameters/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace bessemer::modules {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Bytes {
public:
  template <class T>
  Bytes& put(T value) {
    data_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Bytes& text(std::string_view value) {
    data_ += value;
    return *this;
  }
  Bytes& sized(std::string_view value) { return put<uint64_t>(value.size()).text(value); }
  Bytes& align(size_t alignment) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  size_t size() const { return data_.size(); }
  const std::string& data() const { return data_; }

private:
  std::string data_;
};

class ArchiveTest : public ::testing::Test {
protected:
  ArchiveTest()
      : folder_(fs::temp_directory_path() / ("bessemer_archive_test_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~ArchiveTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view bytes) {
    fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  // The reader for `name`, over bytes in memory.
  vm::Result<Archive> read(const std::string& name, std::string_view bytes) {
    auto file = vm::FileMapping::fromMemory(std::as_bytes(std::span(bytes)));
    std::string path = (folder_ / name).string();
    return name.ends_with(".irpa")   ? readIrpa(file, path)
           : name.ends_with(".gguf") ? readGguf(file, path)
                                     : readSafetensors(file, path);
  }
  // No shorter file is good, and none is read past its end.
  void truncateEverywhere(const std::string& name, const std::string& bytes) {
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read(name, std::string_view(bytes).substr(0, size)))
          << size << " of " << bytes.size();
  }
  void flipEverywhere(const std::string& name, std::string bytes) {
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
      if (auto archive = read(name, bytes))
        for (auto& [key, parameter] : archive->parameters)
          if (parameter.kind == Parameter::Kind::Data)
            EXPECT_LE(parameter.offset + parameter.length, parameter.file->bytes().size());
      bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    }
  }
  static std::string textOf(const Parameter& parameter) {
    auto bytes = parameter.file->bytes().subspan(parameter.offset, parameter.length);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  fs::path folder_;
};

// Entries: "d" data, "s" splat, a skipped one, "x" external.
std::string irpa() {
  std::string metadata = "dsxother.bin";
  Bytes entries;
  auto head = [&](uint64_t size, uint32_t type, uint64_t name, uint64_t length) {
    entries.align(16).put(size).put(type).put<uint64_t>(0).put(name).put(length);
    entries.put<uint64_t>(0).put<uint64_t>(0).put<uint64_t>(64);
  };
  head(76, 2, 0, 1);
  entries.put<uint64_t>(3).put<uint64_t>(5);
  head(85, 1, 1, 1);
  entries.put<uint64_t>(12).put<uint16_t>(0x3C00);
  for (int k = 0; k < 14; ++k)
    entries.put<uint8_t>(0);
  entries.put<uint8_t>(2);
  head(60, 0, 0, 0);
  head(92, 3, 2, 1);
  entries.put<uint64_t>(3).put<uint64_t>(9).put<uint64_t>(2).put<uint64_t>(4);
  Bytes file;
  uint64_t entries_at = 96;
  uint64_t metadata_at = entries_at + entries.size();
  uint64_t storage_at = (metadata_at + metadata.size() + 63) / 64 * 64;
  file.text("IRPA").put<uint16_t>(0).put<uint16_t>(0).put<uint64_t>(88).put<uint64_t>(0);
  file.put<uint64_t>(0).put<uint64_t>(4).put(entries_at).put<uint64_t>(entries.size());
  file.put(metadata_at).put<uint64_t>(metadata.size()).put(storage_at).put<uint64_t>(16);
  file.align(96).text(entries.data()).text(metadata).align(64).text("0123456789abcdef");
  return file.data();
}

TEST_F(ArchiveTest, IrpaHasDataSplatsAndExternalFiles) {
  write("other.bin", "ABCDEFGH");
  auto archive = openArchive(write("a.irpa", irpa()));
  ASSERT_TRUE(archive) << archive.error().toString();
  ASSERT_EQ(archive->parameters.size(), 3u);
  EXPECT_EQ(textOf(archive->parameters.at("d")), "34567");
  const Parameter& splat = archive->parameters.at("s");
  EXPECT_EQ(splat.kind, Parameter::Kind::Splat);
  EXPECT_EQ(splat.length, 12u);
  EXPECT_EQ(splat.pattern_length, 2u);
  EXPECT_EQ(splat.pattern[1], std::byte(0x3C));
  EXPECT_EQ(textOf(archive->parameters.at("x")), "CDEF");
  truncateEverywhere("b.irpa", irpa());
  flipEverywhere("c.irpa", irpa());
  fs::remove(folder_ / "other.bin");
  auto missing = openArchive(write("d.irpa", irpa()));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("other.bin"));
}

TEST_F(ArchiveTest, SafetensorsAreNamedRanges) {
  std::string json = R"( {"__metadata__":{"format":"pt","n":[1,{"a":null}]},
    "w\u00e9\"1":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},
    "b":{"data_offsets":[8,11],"dtype":"U8","shape":[3]}} )";
  std::string bytes = Bytes().sized(json).text("01234567abc").data();
  auto archive = openArchive(write("a.safetensors", bytes));
  ASSERT_TRUE(archive) << archive.error().toString();
  ASSERT_EQ(archive->parameters.size(), 2u);
  EXPECT_EQ(textOf(archive->parameters.at("w\xC3\xA9\"1")), "01234567");
  EXPECT_EQ(textOf(archive->parameters.at("b")), "abc");
  truncateEverywhere("b.safetensors", bytes);
  flipEverywhere("c.safetensors", bytes);
  for (std::string bad : {"", "[]", "{", "{\"a\":1", "{\"a\":{\"data_offsets\":[0,12]}}",
                          "{\"a\":{\"data_offsets\":[2,1]}}", "{\"a\":{\"data_offsets\":[1]}}",
                          "{\"a\":{}}", "{\"a\" {}}", "{\"a\":{\"data_offsets\":[0,-1]}}",
                          "{\"a\":{\"data_offsets\":[0,99999999999999999999]}}"})
    EXPECT_FALSE(openArchive(write("d.safetensors", Bytes().sized(bad).text("0123456789").data())))
        << bad;
  // Nesting without end does not end the process.
  EXPECT_FALSE(openArchive(
      write("e.safetensors", Bytes().sized("{\"a\":" + std::string(100000, '[')).data())));
}

std::string gguf(uint32_t version = 3, uint32_t type = 8) {
  Bytes file;
  file.text("GGUF").put(version).put<uint64_t>(2).put<uint64_t>(4);
  file.sized("general.name").put<uint32_t>(8).sized("tiny");
  file.sized("general.alignment").put<uint32_t>(4).put<uint32_t>(64);
  file.sized("list").put<uint32_t>(9).put<uint32_t>(8).put<uint64_t>(2).sized("a").sized("bc");
  file.sized("numbers").put<uint32_t>(9).put<uint32_t>(5).put<uint64_t>(3);
  for (int32_t k = 0; k < 3; ++k)
    file.put(k);
  file.sized("q").put<uint32_t>(2).put<uint64_t>(32).put<uint64_t>(2).put(type).put<uint64_t>(0);
  file.sized("f").put<uint32_t>(1).put<uint64_t>(3).put<uint32_t>(0).put<uint64_t>(128);
  file.align(64);
  for (int k = 0; k < 128; ++k)
    file.put<uint8_t>(static_cast<uint8_t>(k));
  return file.put(1.0f).put(2.0f).put(3.0f).data();
}

TEST_F(ArchiveTest, GgufSizesFollowTheBlocks) {
  for (uint32_t version : {2, 3}) {
    auto archive = openArchive(write("a.gguf", gguf(version)));
    ASSERT_TRUE(archive) << archive.error().toString();
    ASSERT_EQ(archive->parameters.size(), 2u);
    EXPECT_EQ(archive->parameters.at("q").length, 2 * 34u); // Q8_0: 34 bytes for 32 elements
    EXPECT_EQ(archive->parameters.at("q").offset % 64, 0u);
    float values[3];
    ASSERT_EQ(archive->parameters.at("f").length, sizeof(values));
    std::memcpy(values, textOf(archive->parameters.at("f")).data(), sizeof(values));
    EXPECT_EQ(values[2], 3.0f);
  }
  truncateEverywhere("b.gguf", gguf());
  flipEverywhere("c.gguf", gguf());
  EXPECT_THAT(openArchive(write("d.gguf", gguf(1))).error().message(), HasSubstr("version 1"));
  EXPECT_THAT(openArchive(write("d.gguf", gguf(3, 77))).error().message(),
              HasSubstr("q: tensor type 77 is not known"));
}

TEST_F(ArchiveTest, ErrorsNameTheFile) {
  EXPECT_THAT(openArchive("/nowhere/w.irpa").error().message(), HasSubstr("/nowhere/w.irpa"));
  EXPECT_THAT(openArchive(write("w.bin", "")).error().message(),
              HasSubstr("must end in .irpa, .gguf or .safetensors"));
  EXPECT_THAT(openArchive(write("w.irpa", "IRPX")).error().message(), HasSubstr("w.irpa: "));
}

} // namespace
} // namespace bessemer::modules
