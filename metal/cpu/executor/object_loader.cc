#include "metal/cpu/executor/object_loader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "metal/cpu/executor/debugger_entry.h"
#include "metal/cpu/executor/kernel_symbols.h"
#include "metal/cpu/executor/relocation.h"

namespace bessemer::metal::cpu {

namespace {

constexpr uint64_t kLargestImage = uint64_t{256} << 20; // keeps everything within branch range
constexpr uint64_t kLargestAlignment = 4096;            // the smallest page there is

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

uint64_t page_size() {
  static const uint64_t size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Where sections of one protection lie; each area starts on a page.
struct Area {
  uint64_t start = 0;
  uint64_t size = 0;

  uint64_t place(uint64_t bytes, uint64_t alignment) {
    const uint64_t offset = align_up(size, alignment);
    size = offset + bytes;
    return offset;
  }
};

enum AreaKind : uint8_t { Code, Constants, Data, AreaCount, NotLoaded = AreaCount };

struct Section {
  Elf64_Shdr header;
  AreaKind area = NotLoaded;
  uint64_t offset = 0; // in its area

  bool loaded() const { return area != NotLoaded; }
};

class Loader {
public:
  Loader(std::span<const uint8_t> object, std::string_view name) : object_(object), name_(name) {}

  // The steps in the order in which they must be called; each false after `error` was set.
  bool read_sections();
  bool read_symbols();
  bool lay_out();
  bool map();
  bool relocate();
  bool protect();
  bool find_entry(std::string_view entry);

  std::string error;
  uint8_t* memory = nullptr;
  uint64_t size = 0;
  void* entry = nullptr;

  std::vector<uint8_t> image_for_debugger() const;
  void describe_to_perf() const;
  void unmap() {
    if (memory)
      munmap(memory, size);
  }

private:
  struct Symbol {
    Elf64_Sym entry;
    std::string_view name;
    uint64_t common_offset = 0;       // in Data, of a common symbol
    const void* external = nullptr;   // of an undefined one
    uint64_t stub = ~uint64_t{0};     // offset in Code
    uint64_t got_slot = ~uint64_t{0}; // offset in Constants
  };

  bool fail(std::string message) {
    error = "object of " + std::string(name_) + ": " + std::move(message);
    return false;
  }

  bool in_file(uint64_t offset, uint64_t bytes) const {
    return offset <= object_.size() && bytes <= object_.size() - offset;
  }

  template <typename T>
  T read(uint64_t offset) const { // the file need not be aligned
    T value;
    std::memcpy(&value, object_.data() + offset, sizeof value);
    return value;
  }

  // Text of a string table; empty when it does not lie in it.
  std::string_view string(const Elf64_Shdr& table, uint64_t offset) const {
    if (offset >= table.sh_size)
      return {};
    const char* start = reinterpret_cast<const char*>(object_.data()) + table.sh_offset + offset;
    const size_t limit = table.sh_size - offset;
    const size_t length = strnlen(start, limit);
    return length == limit ? std::string_view{} : std::string_view(start, length);
  }

  std::string_view section_name(const Section& section) const {
    if (names_ >= sections_.size() || sections_[names_].header.sh_type != SHT_STRTAB)
      return {};
    return string(sections_[names_].header, section.header.sh_name);
  }

  // Calls visit(section, relocation) for each relocation of what is loaded, until it says false.
  template <typename Visit>
  bool for_each_relocation(Visit&& visit);

  uint64_t address(AreaKind area, uint64_t offset) const {
    return reinterpret_cast<uint64_t>(memory) + areas_[area].start + offset;
  }
  uint64_t symbol_address(const Symbol& symbol) const;

  std::span<const uint8_t> object_;
  std::string_view name_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  uint64_t names_ = 0;
  Area areas_[AreaCount];
};

bool Loader::read_sections() {
  if (!in_file(0, sizeof(Elf64_Ehdr)))
    return fail("too short for an ELF header");
  const auto header = read<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fail("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL)
    return fail("not a 64-bit little-endian relocatable object");
  if (header.e_machine != static_cast<uint16_t>(kHostMachine))
    return fail("for another processor (ELF machine " + std::to_string(header.e_machine) + ")");
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !in_file(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)))
    return fail("the section table lies outside the file");
  names_ = header.e_shstrndx;
  sections_.resize(header.e_shnum);
  for (uint64_t i = 0; i < sections_.size(); ++i) {
    Section& section = sections_[i];
    section.header = read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    const Elf64_Shdr& shdr = section.header;
    if (shdr.sh_type != SHT_NOBITS && shdr.sh_type != SHT_NULL &&
        !in_file(shdr.sh_offset, shdr.sh_size))
      return fail("section " + std::to_string(i) + " lies outside the file");
  }
  for (Section& section : sections_) {
    const Elf64_Shdr& shdr = section.header;
    if (!(shdr.sh_flags & SHF_ALLOC) || shdr.sh_size == 0)
      continue;
    const std::string_view name = section_name(section);
    // Kernels do not unwind.
    if (name == ".eh_frame" || shdr.sh_type == SHT_X86_64_UNWIND || shdr.sh_type == SHT_NOTE)
      continue;
    if ((shdr.sh_type != SHT_PROGBITS && shdr.sh_type != SHT_NOBITS) || (shdr.sh_flags & SHF_TLS))
      return fail("section '" + std::string(name) + "' is of a kind that kernels cannot have");
    if (shdr.sh_addralign > kLargestAlignment ||
        (shdr.sh_addralign != 0 && !std::has_single_bit(shdr.sh_addralign)))
      return fail("section '" + std::string(name) + "' has a bad alignment");
    if (shdr.sh_size > kLargestImage)
      return fail("section '" + std::string(name) + "' is too large");
    const bool written = (shdr.sh_flags & SHF_WRITE) && !name.starts_with(".data.rel.ro");
    if ((shdr.sh_flags & SHF_EXECINSTR) && written)
      return fail("section '" + std::string(name) + "' is writable and executable");
    section.area = shdr.sh_flags & SHF_EXECINSTR ? Code : written ? Data : Constants;
    Area& area = areas_[section.area];
    section.offset = area.place(shdr.sh_size, std::max<uint64_t>(shdr.sh_addralign, 1));
    if (area.size > kLargestImage)
      return fail("too large");
  }
  return true;
}

bool Loader::read_symbols() {
  for (const Section& section : sections_) {
    const Elf64_Shdr& shdr = section.header;
    if (shdr.sh_type != SHT_SYMTAB)
      continue;
    if (!symbols_.empty())
      return fail("two symbol tables");
    if (shdr.sh_entsize != sizeof(Elf64_Sym) || shdr.sh_link >= sections_.size() ||
        sections_[shdr.sh_link].header.sh_type != SHT_STRTAB)
      return fail("a bad symbol table");
    symbols_.resize(shdr.sh_size / sizeof(Elf64_Sym));
    for (uint64_t i = 0; i < symbols_.size(); ++i) {
      Symbol& symbol = symbols_[i];
      symbol.entry = read<Elf64_Sym>(shdr.sh_offset + i * sizeof(Elf64_Sym));
      symbol.name = string(sections_[shdr.sh_link].header, symbol.entry.st_name);
      if (symbol.entry.st_shndx == SHN_COMMON) {
        // The value of a common symbol is its alignment.
        const uint64_t alignment = std::max<uint64_t>(symbol.entry.st_value, 1);
        if (alignment > kLargestAlignment || !std::has_single_bit(alignment) ||
            symbol.entry.st_size > kLargestImage)
          return fail("symbol '" + std::string(symbol.name) + "' has a bad size or alignment");
        symbol.common_offset = areas_[Data].place(symbol.entry.st_size, alignment);
        if (areas_[Data].size > kLargestImage)
          return fail("too large");
      }
    }
  }
  return true;
}

template <typename Visit>
bool Loader::for_each_relocation(Visit&& visit) {
  for (const Section& table : sections_) {
    const Elf64_Shdr& shdr = table.header;
    if (shdr.sh_type != SHT_RELA && shdr.sh_type != SHT_REL)
      continue;
    if (shdr.sh_info >= sections_.size())
      return fail("relocations of a section that is not there");
    const Section& section = sections_[shdr.sh_info];
    if (!section.loaded())
      continue;
    if (shdr.sh_type == SHT_REL || shdr.sh_entsize != sizeof(Elf64_Rela))
      return fail("relocations of an unknown form");
    if (section.header.sh_type == SHT_NOBITS)
      return fail("relocations of a section without contents");
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= shdr.sh_size; at += sizeof(Elf64_Rela))
      if (!visit(section, read<Elf64_Rela>(shdr.sh_offset + at)))
        return false;
  }
  return true;
}

// Checks every relocation and makes room for the stubs and slots that they need.
bool Loader::lay_out() {
  const bool checked =
      for_each_relocation([&](const Section& section, const Elf64_Rela& relocation) {
        const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
        const uint64_t index = ELF64_R_SYM(relocation.r_info);
        const RelocationShape shape = relocation_shape(kHostMachine, type);
        if (shape.need == RelocationNeed::Unknown)
          return fail("relocation type " + std::to_string(type) + " is not known");
        if (shape.need == RelocationNeed::Nothing)
          return true;
        if (relocation.r_offset > section.header.sh_size ||
            shape.width > section.header.sh_size - relocation.r_offset)
          return fail("a relocation lies outside its section");
        if (index >= symbols_.size())
          return fail("a relocation names a symbol that is not there");
        Symbol& symbol = symbols_[index];
        const uint16_t where = symbol.entry.st_shndx;
        if (where == SHN_UNDEF && index != 0 && !symbol.external) {
          symbol.external = find_kernel_symbol(symbol.name);
          if (!symbol.external)
            return fail("a call to '" + std::string(symbol.name) + "', which kernels may not call");
        }
        if (where != SHN_UNDEF && where != SHN_ABS && where != SHN_COMMON) {
          if (where >= sections_.size() || !sections_[where].loaded() ||
              symbol.entry.st_value > sections_[where].header.sh_size)
            return fail("symbol '" + std::string(symbol.name) + "' lies outside what is loaded");
        }
        if (shape.need == RelocationNeed::Call && symbol.external && symbol.stub == ~uint64_t{0})
          symbol.stub = areas_[Code].place(kStubBytes, kStubBytes);
        if (shape.need == RelocationNeed::GotSlot && symbol.got_slot == ~uint64_t{0})
          symbol.got_slot = areas_[Constants].place(sizeof(uint64_t), sizeof(uint64_t));
        return true;
      });
  if (!checked)
    return false;
  for (Area& area : areas_) {
    area.start = size;
    size += align_up(area.size, page_size());
  }
  if (size > kLargestImage)
    return fail("too large");
  return areas_[Code].size != 0 || fail("no code");
}

bool Loader::map() {
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return fail("no memory for " + std::to_string(size) + " bytes of code");
  memory = static_cast<uint8_t*>(mapped);
  for (const Section& section : sections_)
    if (section.loaded() && section.header.sh_type != SHT_NOBITS)
      std::memcpy(memory + areas_[section.area].start + section.offset,
                  object_.data() + section.header.sh_offset, section.header.sh_size);
  return true;
}

uint64_t Loader::symbol_address(const Symbol& symbol) const {
  switch (symbol.entry.st_shndx) {
  case SHN_UNDEF: // external, or the null symbol, whose address is 0
    return reinterpret_cast<uint64_t>(symbol.external);
  case SHN_ABS:
    return symbol.entry.st_value;
  case SHN_COMMON:
    return address(Data, symbol.common_offset);
  default: {
    const Section& section = sections_[symbol.entry.st_shndx];
    return address(section.area, section.offset + symbol.entry.st_value);
  }
  }
}

bool Loader::relocate() {
  return for_each_relocation([&](const Section& section, const Elf64_Rela& relocation) {
    const uint32_t type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
    const RelocationShape shape = relocation_shape(kHostMachine, type);
    if (shape.need == RelocationNeed::Nothing)
      return true;
    const Symbol& symbol = symbols_[ELF64_R_SYM(relocation.r_info)];
    uint64_t target = symbol_address(symbol);
    if (shape.need == RelocationNeed::GotSlot) {
      std::memcpy(memory + areas_[Constants].start + symbol.got_slot, &target, sizeof target);
      target = address(Constants, symbol.got_slot);
    } else if (shape.need == RelocationNeed::Call && symbol.external) {
      write_stub(kHostMachine, memory + areas_[Code].start + symbol.stub, target);
      target = address(Code, symbol.stub);
    }
    const uint64_t place = address(section.area, section.offset + relocation.r_offset);
    if (!apply_relocation(kHostMachine, type, reinterpret_cast<uint8_t*>(place), place, target,
                          relocation.r_addend))
      return fail("relocation type " + std::to_string(type) + " to '" + std::string(symbol.name) +
                  "' is out of range");
    return true;
  });
}

bool Loader::protect() {
  const int protections[AreaCount] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
  for (int i = 0; i < AreaCount; ++i) {
    const Area& area = areas_[i];
    if (area.size != 0 &&
        mprotect(memory + area.start, align_up(area.size, page_size()), protections[i]) != 0)
      return fail("the system does not let memory be made executable");
  }
  __builtin___clear_cache(reinterpret_cast<char*>(memory),
                          reinterpret_cast<char*>(memory + areas_[Code].size));
  return true;
}

bool Loader::find_entry(std::string_view wanted) {
  for (const Symbol& symbol : symbols_) {
    const uint16_t where = symbol.entry.st_shndx;
    if (symbol.name != wanted || where == SHN_UNDEF || where >= sections_.size())
      continue;
    const Section& section = sections_[where];
    if (section.area != Code || symbol.entry.st_value >= section.header.sh_size)
      return fail("'" + std::string(wanted) + "' is not a function");
    entry = reinterpret_cast<void*>(address(Code, section.offset + symbol.entry.st_value));
    return true;
  }
  return fail("has no function '" + std::string(wanted) + "'");
}

std::vector<uint8_t> Loader::image_for_debugger() const {
  std::vector<uint8_t> image(object_.begin(), object_.end());
  const auto header = read<Elf64_Ehdr>(0);
  for (uint64_t i = 0; i < sections_.size(); ++i) {
    Elf64_Shdr shdr = sections_[i].header;
    if (!sections_[i].loaded())
      continue;
    shdr.sh_addr = address(sections_[i].area, sections_[i].offset);
    std::memcpy(image.data() + header.e_shoff + i * sizeof shdr, &shdr, sizeof shdr);
  }
  return image;
}

void Loader::describe_to_perf() const {
  for (const Symbol& symbol : symbols_) {
    const uint16_t where = symbol.entry.st_shndx;
    if (ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC && where < sections_.size() &&
        sections_[where].area == Code)
      add_to_perf_map(address(Code, sections_[where].offset + symbol.entry.st_value),
                      symbol.entry.st_size, symbol.name);
  }
}

} // namespace

LoadedObject::LoadedObject() = default;

LoadedObject::LoadedObject(LoadedObject&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)),
      entry_(std::exchange(other.entry_, nullptr)),
      debugger_entry_(std::move(other.debugger_entry_)) {}

LoadedObject& LoadedObject::operator=(LoadedObject&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  std::swap(entry_, other.entry_);
  std::swap(debugger_entry_, other.debugger_entry_);
  return *this;
}

LoadedObject::~LoadedObject() {
  debugger_entry_.reset();
  if (memory_)
    munmap(memory_, size_);
}

Expected<LoadedObject> LoadedObject::load(std::span<const uint8_t> object, std::string_view entry,
                                          std::string_view name) {
  Loader loader(object, name);
  if (!loader.read_sections() || !loader.read_symbols() || !loader.lay_out() || !loader.map() ||
      !loader.relocate() || !loader.protect() || !loader.find_entry(entry)) {
    loader.unmap();
    return failure(std::move(loader.error));
  }
  LoadedObject result;
  result.memory_ = loader.memory;
  result.size_ = loader.size;
  result.entry_ = loader.entry;
  result.debugger_entry_ = std::make_unique<DebuggerEntry>(loader.image_for_debugger());
  if (perf_map_wanted())
    loader.describe_to_perf();
  return result;
}

} // namespace bessemer::metal::cpu
