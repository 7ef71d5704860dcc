#include "metal/cpu/executor/sha256.h"

#include <string>

#include <gtest/gtest.h>

namespace bessemer::metal::cpu {
namespace {

std::span<const uint8_t> bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string digest(std::string_view text) {
  return hexadecimal(Sha256().add(bytes(text)).finish());
}

// The examples of FIPS 180-4 and of NIST's example file.
TEST(Sha256Test, GivesTheStandardsExamples) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnHowTheBytesAreCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += static_cast<char>(i * 7);
  const std::string whole = digest(text);
  for (size_t piece : {1u, 3u, 63u, 64u, 65u, 127u, 999u}) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.add(bytes(std::string_view(text).substr(at, piece)));
    EXPECT_EQ(hexadecimal(hash.finish()), whole) << piece;
  }
}

TEST(Sha256Test, FieldsCannotRunIntoEachOther) {
  EXPECT_NE(Sha256().add_field(std::string_view("ab")).add_field(std::string_view("c")).finish(),
            Sha256().add_field(std::string_view("a")).add_field(std::string_view("bc")).finish());
}

} // namespace
} // namespace bessemer::metal::cpu
