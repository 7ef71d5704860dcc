// .safetensors: the length of a JSON text, the text, then data. Each member of the JSON object is a
// tensor
// {"dtype", "shape", "data_offsets": [begin, end]} with offsets from the end of the text.
#include "modules/io_parameters/archive.h"
#include "modules/io_parameters/byte_reader.h"

namespace bessemer::modules {

namespace {

using vm::fail;
using vm::StatusCode;

// As much of JSON as these files have, checked as it is read (RFC 8259).
class JsonReader {
public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  size_t at() const { return at_; }

  // Reads `{`, then for each member its key, which `member` answers by reading the value.
  template <class Member>
  void readObject(Member member) {
    if (!accept('{'))
      return giveUp();
    if (accept('}'))
      return;
    do {
      std::string key = readString();
      if (!accept(':'))
        return giveUp();
      member(key);
    } while (ok_ && accept(','));
    if (!accept('}'))
      giveUp();
  }

  template <class Element>
  void readArray(Element element) {
    if (!accept('['))
      return giveUp();
    if (accept(']'))
      return;
    do {
      element();
    } while (ok_ && accept(','));
    if (!accept(']'))
      giveUp();
  }

  uint64_t readUnsigned() {
    skipSpace();
    size_t begin = at_;
    uint64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      auto digit = static_cast<uint64_t>(text_[at_++] - '0');
      if (value > (UINT64_MAX - digit) / 10)
        giveUp();
      value = value * 10 + digit;
    }
    if (at_ == begin)
      giveUp();
    return value;
  }

  std::string readString() {
    std::string value;
    if (!accept('"')) {
      giveUp();
      return value;
    }
    while (ok_) {
      if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) {
        giveUp();
        break;
      }
      char c = text_[at_++];
      if (c == '"')
        break;
      if (c == '\\')
        readEscape(value);
      else
        value += c;
    }
    return value;
  }

  void skipValue(int depth = 0) {
    constexpr int kMaxDepth = 64;
    skipSpace();
    if (at_ >= text_.size() || depth > kMaxDepth)
      return giveUp();
    switch (text_[at_]) {
    case '{':
      return readObject([&](const std::string&) { skipValue(depth + 1); });
    case '[':
      return readArray([&] { skipValue(depth + 1); });
    case '"':
      readString();
      return;
    default: {
      // A number, true, false or null.
      size_t begin = at_;
      while (at_ < text_.size() &&
             std::string_view("+-.0123456789aeflnrstuE").find(text_[at_]) != std::string_view::npos)
        ++at_;
      if (at_ == begin)
        giveUp();
    }
    }
  }

  // Only space is left.
  bool atEnd() {
    skipSpace();
    return at_ == text_.size();
  }

private:
  void giveUp() { ok_ = false; }

  void skipSpace() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool accept(char c) {
    skipSpace();
    if (!ok_ || at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  uint32_t readHex() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      char c = at_ < text_.size() ? text_[at_++] : ' ';
      if (c >= '0' && c <= '9')
        value = value * 16 + static_cast<uint32_t>(c - '0');
      else if ((c | 32) >= 'a' && (c | 32) <= 'f')
        value = value * 16 + static_cast<uint32_t>((c | 32) - 'a' + 10);
      else
        giveUp();
    }
    return value;
  }

  void readEscape(std::string& value) {
    static constexpr std::pair<char, char> simple[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},
                                                       {'b', '\b'}, {'f', '\f'},  {'n', '\n'},
                                                       {'r', '\r'}, {'t', '\t'}};
    char c = at_ < text_.size() ? text_[at_++] : ' ';
    for (auto [letter, meaning] : simple)
      if (c == letter) {
        value += meaning;
        return;
      }
    if (c != 'u')
      return giveUp();
    uint32_t code = readHex();
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + ((readHex() - 0xDC00) & 0x3FF);
    }
    appendUtf8(value, code);
  }

  static void appendUtf8(std::string& value, uint32_t code) {
    auto put = [&](uint32_t byte) { value += static_cast<char>(byte); };
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
      put(0x80 | (code & 63));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 63));
      put(0x80 | (code & 63));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 63));
      put(0x80 | (code >> 6 & 63));
      put(0x80 | (code & 63));
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

} // namespace

vm::Result<Archive> readSafetensors(std::shared_ptr<const vm::FileMapping> file,
                                    const std::string& path) {
  Archive archive;
  archive.path = path;
  ByteReader reader(file->bytes());
  auto length = reader.read<uint64_t>();
  std::string_view text = reader.readText(length);
  if (!reader.ok())
    return fail(StatusCode::InvalidArgument, "truncated: the header has ", length,
                " bytes, the file ", file->bytes().size());
  uint64_t data = reader.offset();
  uint64_t data_length = reader.left();
  JsonReader json(text);
  std::string outside;
  json.readObject([&](const std::string& name) {
    if (name == "__metadata__")
      return json.skipValue();
    uint64_t offsets[2] = {};
    size_t count = 0;
    json.readObject([&](const std::string& key) {
      if (key != "data_offsets")
        return json.skipValue();
      json.readArray([&] {
        uint64_t value = json.readUnsigned();
        if (count < 2)
          offsets[count] = value;
        ++count;
      });
    });
    bool good = count == 2 && offsets[0] <= offsets[1] && offsets[1] <= data_length;
    if (!good && outside.empty())
      outside = name;
    Parameter parameter;
    parameter.offset = data + offsets[0];
    parameter.length = offsets[1] - offsets[0];
    parameter.file = file;
    archive.parameters.insert_or_assign(name, std::move(parameter));
  });
  if (!json.ok() || !json.atEnd())
    return fail(StatusCode::InvalidArgument, "the header is no JSON of tensors (at byte ",
                8 + json.at(), ")");
  if (!outside.empty())
    return fail(StatusCode::InvalidArgument, outside,
                ": its data_offsets are not two offsets inside the data's ", data_length, " bytes");
  return archive;
}

} // namespace bessemer::modules
