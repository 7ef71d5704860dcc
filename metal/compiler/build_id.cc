#include "metal/compiler/build_id.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string>

namespace bessemer::compiler {

namespace {

// The payload of the GNU build-id note among the notes of a segment.
std::string find_note(const char* notes, size_t size) {
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof(header));
    auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
    size_t name = at + sizeof(header);
    size_t payload = name + padded(header.n_namesz);
    if (payload + header.n_descsz > size)
      break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0)
      return llvm::toHex(llvm::StringRef(notes + payload, header.n_descsz), /*LowerCase=*/true);
    at = payload + padded(header.n_descsz);
  }
  return {};
}

int visit_object(dl_phdr_info* info, size_t, void* out) {
  // The object whose segments hold this very function.
  auto self = reinterpret_cast<ElfW(Addr)>(&visit_object);
  bool holds_self = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    ElfW(Addr) start = info->dlpi_addr + segment.p_vaddr;
    holds_self |= segment.p_type == PT_LOAD && self >= start && self < start + segment.p_memsz;
  }
  if (!holds_self)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    std::string id = find_note(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr),
                               segment.p_memsz);
    if (!id.empty())
      *static_cast<std::string*>(out) = id;
  }
  return 1;
}

} // namespace

const char* build_id() {
  static const std::string id = [] {
    std::string text;
    dl_iterate_phdr(visit_object, &text);
    return text + "-llvm" LLVM_VERSION_STRING;
  }();
  return id.c_str();
}

} // namespace bessemer::compiler
