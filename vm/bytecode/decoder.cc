#include "vm/bytecode/decoder.h"

#include <bit>
#include <cstring>

namespace bessemer::vm::bytecode {

static_assert(std::endian::native == std::endian::little, "the stream is little-endian");

namespace {

// Reads fields; once the bytes run out everything reads as zero and ok() is false.
class Cursor {
public:
  Cursor(std::span<const uint8_t> code, uint32_t pc) : code_(code), pc_(pc) {}

  template <class T>
  T read() {
    T value{};
    if (code_.size() - pc_ < sizeof(T)) {
      exhaust();
      return value;
    }
    std::memcpy(&value, code_.data() + pc_, sizeof(T));
    pc_ += sizeof(T);
    return value;
  }

  std::string_view readText() {
    size_t length = read<uint16_t>();
    if (code_.size() - pc_ < length) {
      exhaust();
      return {};
    }
    std::string_view text(reinterpret_cast<const char*>(code_.data() + pc_), length);
    pc_ += length;
    return text;
  }

  // Count of a list, which begins at an even offset. Refuses counts that the rest cannot hold.
  size_t readCount(size_t element_size) {
    if (pc_ & 1)
      read<uint8_t>();
    size_t count = read<uint16_t>();
    if ((code_.size() - pc_) / element_size < count) {
      exhaust();
      return 0;
    }
    return count;
  }

  void readRegisters(std::vector<Register>& registers) {
    for (size_t count = readCount(2); count; --count)
      registers.push_back(Register{read<uint16_t>()});
  }

  bool ok() const { return ok_; }
  uint32_t pc() const { return static_cast<uint32_t>(pc_); }

private:
  void exhaust() {
    ok_ = false;
    pc_ = code_.size();
  }

  std::span<const uint8_t> code_;
  size_t pc_;
  bool ok_ = true;
};

void readCopies(Cursor& cursor, std::vector<Copy>& copies) {
  for (size_t count = cursor.readCount(4); count; --count) {
    Register source{cursor.read<uint16_t>()};
    copies.push_back({source, Register{cursor.read<uint16_t>()}});
  }
}

} // namespace

Result<void> decode(std::span<const uint8_t> code, uint32_t pc, Instruction& instruction) {
  instruction.pc = pc;
  instruction.registers.clear();
  instruction.immediates.clear();
  instruction.text = {};
  instruction.segments.clear();
  instruction.operands.clear();
  instruction.results.clear();
  instruction.branches.clear();

  Cursor cursor(code, pc);
  uint32_t opcode = cursor.read<uint8_t>();
  if (opcode == kPrefixF32)
    opcode = 0x100 | cursor.read<uint8_t>();
  else if (opcode == kPrefixF64)
    opcode = 0x200 | cursor.read<uint8_t>();
  instruction.info = findOp(opcode);
  if (!cursor.ok() || !instruction.info)
    return fail(StatusCode::InvalidArgument, "unknown operation ", opcode, " at offset ", pc);
  instruction.op = static_cast<Op>(opcode);

  bool written = false;
  std::string_view operands = instruction.info->operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    switch (operands[i]) {
    case '>':
      written = true;
      continue;
    case 'i':
    case 'I':
    case 'f':
    case 'F':
    case 'r':
    case 'R':
      instruction.registers.push_back(Register{cursor.read<uint16_t>()});
      break;
    case '4':
    case 'e':
    case 'g':
    case 'G':
    case 'n':
    case 'o':
    case 't':
    case 'c':
    case 'm':
      instruction.immediates.push_back(cursor.read<uint32_t>());
      break;
    case '8':
    case 'd':
      instruction.immediates.push_back(cursor.read<uint64_t>());
      break;
    case 's':
      instruction.text = cursor.readText();
      break;
    case 'p':
      instruction.branches.push_back({cursor.read<uint32_t>(), {}});
      break;
    case 'x':
      readCopies(cursor, instruction.branches.back().copies);
      break;
    case 'a':
      cursor.readRegisters(written ? instruction.results : instruction.operands);
      break;
    case 'L':
      ++i; // the element kind, which the verifier looks at
      cursor.readRegisters(instruction.operands);
      break;
    case 'S':
      for (size_t count = cursor.readCount(2); count; --count)
        instruction.segments.push_back(cursor.read<uint16_t>());
      break;
    case 'B':
      for (size_t count = cursor.read<uint16_t>(); count && cursor.ok(); --count) {
        instruction.branches.push_back({cursor.read<uint32_t>(), {}});
        readCopies(cursor, instruction.branches.back().copies);
      }
      break;
    default:
      break;
    }
    written = false;
  }
  if (!cursor.ok())
    return fail(StatusCode::InvalidArgument, instruction.info->name, " at offset ", pc,
                " runs past the end of the function");
  instruction.end = cursor.pc();
  return {};
}

} // namespace bessemer::vm::bytecode
