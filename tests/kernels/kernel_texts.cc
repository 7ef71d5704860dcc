#include "tests/kernels/kernel_texts.h"

#include <cstring>

#include "flatbuffers/flatbuffers.h"
#include "modules/hal/types.h"
#include "vm/bytecode_module.h"

namespace bessemer::kernels {
namespace {

// Fields of the executable's tables by slot (format metal-msl-fb, identifier MTL1); read by hand,
// so that this check does not lean on the driver it checks.
using flatbuffers::Offset;
using flatbuffers::Table;
using flatbuffers::Vector;

flatbuffers::voffset_t slot(unsigned index) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * index);
}

std::string text(const Table& table, unsigned index) {
  auto* string = table.GetPointer<const flatbuffers::String*>(slot(index));
  return string ? string->str() : std::string();
}

constexpr size_t kHeader = 64;

} // namespace

std::expected<std::vector<KernelText>, std::string> readKernelTexts(const std::string& path) {
  vm::Instance instance;
  if (auto done = modules::registerHalTypes(instance); !done)
    return std::unexpected(done.error().toString());
  auto module = vm::BytecodeModule::loadFile(instance, path);
  if (!module)
    return std::unexpected(module.error().toString());
  std::vector<KernelText> kernels;
  for (size_t i = 0; i < (*module)->rodataCount(); ++i) {
    auto bytes = (*module)->rodata(i);
    if (bytes.size() < kHeader + 8 || std::memcmp(bytes.data(), "MTL1", 4) != 0)
      continue;
    auto* root = flatbuffers::GetRoot<Table>(bytes.data() + kHeader);
    auto* pipelines = root->GetPointer<const Vector<Offset<Table>>*>(slot(0));
    auto* libraries = root->GetPointer<const Vector<Offset<Table>>*>(slot(1));
    for (const Table* pipeline : *pipelines) {
      auto library = pipeline->GetField<uint32_t>(slot(0), 0);
      auto* source = libraries->Get(library)->GetPointer<const Table*>(slot(0));
      if (!source)
        continue;
      KernelText kernel;
      kernel.entry = text(*pipeline, 1);
      kernel.source = text(*source, 1);
      kernel.language_version = source->GetField<uint32_t>(slot(0), 0);
      if (auto* size = pipeline->GetStruct<const uint32_t*>(slot(3)))
        kernel.threads = {size[0], size[1], size[2]};
      kernel.constant_words = pipeline->GetField<uint32_t>(slot(5), 0);
      kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

} // namespace bessemer::kernels
