// Compiles every kernel of the given files (.vmfb, or .metal with one kernel of a threadgroup of
// 32 threads or what [[max_total_threads_per_threadgroup]] says) and compares what compiled code
// does with what the reference does: random data of the bindings' types, several grids, several
// constants, and all bindings in one buffer.
//
//   kernel_check [--verbose] [--only NAME] FILE...      exit code 0 when all agree
//
// Where the reference itself depends on the order of threads (bindings that overlap usually make
// races) there is nothing to compare, and the case is counted as such.
#include <sys/mman.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/queue.h"
#include "metal/cpu/reference/reference.h"
#include "tests/kernels/kernel_texts.h"

namespace bessemer::kernels {
namespace {

namespace cpu = metal::cpu;
using metal::Argument;
using metal::ArgumentKind;

// Address space around a binding that random indices may touch. Pages exist only once written.
constexpr size_t kReach = size_t{16} << 30;
// Bytes at the binding's address that are filled and compared.
constexpr size_t kFilled = size_t{1} << 20;

class Region {
public:
  Region() {
    void* memory = mmap(nullptr, 2 * kReach, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      std::perror("kernel_check: mmap");
      std::exit(2);
    }
    base_ = static_cast<uint8_t*>(memory);
  }
  Region(Region&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  ~Region() {
    if (base_)
      munmap(base_, 2 * kReach);
  }
  uint8_t* data() const { return base_ + kReach; }
  // Gives all pages back: everything reads zero again.
  void clear() { madvise(base_, 2 * kReach, MADV_DONTNEED); }

private:
  uint8_t* base_;
};

enum class Element { Float, Half, Byte, Short, Int, Long };

Element elementOf(const std::string& type) {
  auto has = [&](const char* word) { return type.find(word) != type.npos; };
  if (has("half"))
    return Element::Half;
  if (has("char") || has("bool"))
    return Element::Byte;
  if (has("short"))
    return Element::Short;
  if (has("long"))
    return Element::Long;
  return has("int") ? Element::Int : Element::Float;
}

uint16_t halfBits(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}
float halfValue(uint16_t bits) {
  _Float16 half;
  std::memcpy(&half, &bits, 2);
  return static_cast<float>(half);
}

void fill(uint8_t* data, Element element, std::mt19937& random) {
  std::uniform_real_distribution<float> real(-2, 2);
  auto each = [&](auto make) {
    auto value = make();
    for (size_t at = 0; at + sizeof(value) <= kFilled; at += sizeof(value)) {
      value = make();
      std::memcpy(data + at, &value, sizeof(value));
    }
  };
  switch (element) {
  case Element::Float:
    return each([&] { return real(random); });
  case Element::Half:
    return each([&] { return halfBits(real(random)); });
  case Element::Byte:
    return each([&] { return static_cast<uint8_t>(random() & 1); });
  case Element::Short:
    return each([&] { return static_cast<uint16_t>(random() & 63); });
  case Element::Int:
    return each([&] { return static_cast<uint32_t>(random() & 63); });
  case Element::Long:
    return each([&] { return static_cast<uint64_t>(random() & 63); });
  }
}

// The first place where two results differ by more than reordered arithmetic explains, or empty.
std::string differ(const uint8_t* got, const uint8_t* want, Element element) {
  if (std::memcmp(got, want, kFilled) == 0)
    return {};
  auto at = [&](auto sample, size_t index, const uint8_t* data) {
    std::memcpy(&sample, data + index * sizeof(sample), sizeof(sample));
    return sample;
  };
  char text[160];
  if (element == Element::Float || element == Element::Half) {
    const bool half = element == Element::Half;
    const size_t count = kFilled / (half ? 2 : 4);
    auto value = [&](const uint8_t* data, size_t i) -> double {
      return half ? halfValue(at(uint16_t{}, i, data)) : at(float{}, i, data);
    };
    double scale = 1;
    for (size_t i = 0; i < count; ++i) {
      const double v = std::fabs(value(want, i));
      if (std::isfinite(v) && v > scale && v < 1e30)
        scale = v;
    }
    for (size_t i = 0; i < count; ++i) {
      const double a = value(got, i), b = value(want, i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      const double slack = half ? 8e-3 : 2e-4;
      // Beyond 1e30 the patterns are integers seen as floats.
      if (std::isfinite(a) && std::isfinite(b) && std::fabs(b) < 1e30 &&
          std::fabs(a - b) <= slack * std::fabs(b) + (half ? 2e-3 : 2e-5) * scale)
        continue;
      std::snprintf(text, sizeof(text), "element %zu is %.9g, the reference has %.9g", i, a, b);
      return text;
    }
    return {};
  }
  const size_t size = element == Element::Byte    ? 1
                      : element == Element::Short ? 2
                      : element == Element::Int   ? 4
                                                  : 8;
  for (size_t i = 0; i < kFilled / size; ++i) {
    if (std::memcmp(got + i * size, want + i * size, size) == 0)
      continue;
    uint64_t a = 0, b = 0;
    std::memcpy(&a, got + i * size, size);
    std::memcpy(&b, want + i * size, size);
    // Integer words may hold floats (as_type): the same rule as for those.
    if (size == 4) {
      const float x = std::bit_cast<float>(static_cast<uint32_t>(a)),
                  y = std::bit_cast<float>(static_cast<uint32_t>(b));
      if (std::isfinite(x) && std::isfinite(y) && std::fabs(y) > 1e-6f && std::fabs(y) < 1e30f &&
          std::fabs(x - y) <= 2e-4f * std::fabs(y) + 2e-5f)
        continue;
    }
    std::snprintf(text, sizeof(text), "element %zu is %#llx, the reference has %#llx", i,
                  static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
    return text;
  }
  return {};
}

struct Totals {
  unsigned kernels = 0, failed = 0, runs = 0, racy = 0;
};

class Checker {
public:
  explicit Checker(bool verbose) : verbose_(verbose) {}
  Totals totals;

  void check(const KernelText& text) {
    ++totals.kernels;
    std::string problem = checkKernel(text);
    if (problem.empty() && !verbose_)
      return;
    totals.failed += !problem.empty();
    std::printf("%s %s%s%s\n", problem.empty() ? "ok   " : "WRONG", text.entry.c_str(),
                problem.empty() ? "" : ": ", problem.c_str());
    std::fflush(stdout);
  }

private:
  struct Case {
    std::array<uint32_t, 3> threadgroups;
    uint32_t constant;
    bool overlapping;
  };

  std::string checkKernel(const KernelText& text) {
    cpu::SourceOptions options;
    options.language_version = text.language_version;
    auto library = cpu::CompilerService::shared().compile_source(text.source, options);
    if (!library)
      return "compile: " + library.error().message;
    const metal::Function* function = nullptr;
    for (const auto* candidate : *(*library)->functions()) {
      if (candidate->name()->str() == text.entry || text.entry.empty())
        function = candidate;
    }
    if (!function)
      return "the library has no such function";
    const std::string name = function->name()->str();
    auto pipeline = cpu::Pipeline::create(
        cpu::CompilerService::shared(),
        {*library, name, {}, {text.threads[0], text.threads[1], text.threads[2]}});
    if (!pipeline)
      return "code: " + pipeline.error().message;
    auto* bitcode = (*library)->modules()->Get(function->module_())->bitcode();
    auto reference = cpu::reference::Kernel::create({bitcode->data(), bitcode->size()}, name);
    if (!reference)
      return "reference: " + llvm::toString(reference.takeError());

    bindings_.clear();
    for (const Argument* argument : *function->arguments()) {
      if (argument->kind() == ArgumentKind::ArgumentBuffer) {
        for (const auto* member : *argument->members())
          bindings_.push_back({argument->index(), member->argument_index(), member->offset(),
                               elementOf(member->type_name()->str()), 0});
      } else if (argument->kind() == ArgumentKind::Buffer) {
        // References to a few words are parameters, everything else is data.
        const bool parameters =
            argument->address_space() == 2 && argument->size() > 0 && argument->size() <= 256;
        bindings_.push_back({argument->index(), -1, 0,
                             elementOf(argument->type_name() ? argument->type_name()->str() : ""),
                             parameters ? argument->size() : 0});
      }
    }
    while (regions_.size() < 3 * bindings_.size())
      regions_.emplace_back();

    const Case cases[] = {
        {{1, 1, 1}, 0, false},  {{3, 1, 1}, 0, false},  {{2, 3, 2}, 0, false},
        {{3, 2, 1}, 64, false}, {{2, 1, 1}, 16, false}, {{2, 1, 1}, 0, true},
    };
    for (const Case& c : cases) {
      std::string problem = runCase(text, c, **pipeline, *pipeline, **reference);
      if (!problem.empty())
        return "grid " + std::to_string(c.threadgroups[0]) + "x" +
               std::to_string(c.threadgroups[1]) + "x" + std::to_string(c.threadgroups[2]) +
               ", constants " + std::to_string(c.constant) +
               (c.overlapping ? ", one buffer for all bindings" : "") + ": " + problem;
    }
    return {};
  }

  struct Binding {
    uint32_t index;  // [[buffer(n)]]
    int32_t id;      // [[id(n)]] in it, or -1
    uint32_t offset; // in the argument buffer
    Element element;
    uint32_t parameter_bytes;
  };

  // Fills one set of regions and gives the addresses to bind; three sets get the same contents.
  std::vector<void*> prepare(unsigned set, const Case& c) {
    const size_t first = set * bindings_.size();
    std::vector<void*> buffers(31);
    argument_buffers_[set].assign(31 * 512, 0);
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const Binding& binding = bindings_[i];
      Region& region = regions_[first + (c.overlapping && !binding.parameter_bytes ? 0 : i)];
      if (!c.overlapping || i == 0 || binding.parameter_bytes) {
        region.clear();
        std::mt19937 random(static_cast<uint32_t>(7 + i));
        if (binding.parameter_bytes) {
          for (uint32_t word = 0; word < binding.parameter_bytes / 4; ++word) {
            const uint32_t value = 48 + c.constant;
            std::memcpy(region.data() + 4 * word, &value, 4);
          }
        } else {
          fill(region.data(), binding.element, random);
        }
      }
      void* address = region.data();
      if (binding.id < 0) {
        buffers[binding.index] = address;
      } else {
        uint8_t* arguments = argument_buffers_[set].data() + size_t{binding.index} * 512;
        std::memcpy(arguments + binding.offset, &address, sizeof(address));
        buffers[binding.index] = arguments;
      }
    }
    // Push constants of compiled programs: pairs of words may be one 64-bit offset, so only low
    // words are set.
    for (size_t word = 0; word < 32; word += 2)
      constants_[word] = c.constant;
    if (!buffers[3])
      buffers[3] = constants_;
    return buffers;
  }

  std::string runCase(const KernelText& text, const Case& c, cpu::Pipeline&,
                      const std::shared_ptr<cpu::Pipeline>& pipeline,
                      cpu::reference::Kernel& reference) {
    ++totals.runs;
    cpu::reference::Grid grid;
    grid.threads_per_threadgroup = text.threads;
    for (unsigned i = 0; i < 3; ++i)
      grid.threads[i] = c.threadgroups[i] * text.threads[i];

    auto want = prepare(1, c);
    if (auto error = reference.run(grid, want))
      return "reference: " + llvm::toString(std::move(error));
    auto again = prepare(2, c);
    grid.backwards = true;
    if (auto error = reference.run(grid, again))
      return "reference: " + llvm::toString(std::move(error));

    auto got = prepare(0, c);
    std::vector<cpu::Binding> bound(31);
    for (unsigned i = 0; i < 31; ++i)
      bound[i] = {got[i], got[i] ? kReach : 0};
    auto& executor = cpu::Executor::shared();
    auto queue = cpu::Queue::create(executor);
    auto list = cpu::CommandList::create(executor);
    list->dispatch({pipeline,
                    bound,
                    {},
                    {grid.threads[0], grid.threads[1], grid.threads[2]},
                    {text.threads[0], text.threads[1], text.threads[2]}});
    queue->commit(list);
    list->wait_completed();
    if (!list->result().ok())
      return list->result().message;

    bool racy = false;
    std::string problem;
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const size_t count = bindings_.size();
      const uint8_t* reference_data = regions_[count + i].data();
      if (std::memcmp(reference_data, regions_[2 * count + i].data(), kFilled) != 0) {
        racy = true;
        continue;
      }
      if (problem.empty()) {
        problem = differ(regions_[i].data(), reference_data, bindings_[i].element);
        if (!problem.empty())
          problem = "binding " + std::to_string(i) + ": " + problem;
      }
      if (c.overlapping)
        break; // all in the first region
    }
    totals.racy += racy;
    return racy ? std::string() : problem;
  }

  bool verbose_;
  std::vector<Binding> bindings_;
  std::vector<Region> regions_;
  std::vector<uint8_t> argument_buffers_[3];
  uint32_t constants_[32] = {};
};

int run(int argc, char** argv) {
  bool verbose = false;
  std::string only;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--verbose")
      verbose = true;
    else if (argument == "--only" && i + 1 < argc)
      only = argv[++i];
    else
      files.push_back(argument);
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: kernel_check [--verbose] [--only NAME] FILE.vmfb|FILE.metal...\n");
    return 2;
  }
  Checker checker(verbose);
  for (const std::string& file : files) {
    std::vector<KernelText> kernels;
    if (file.ends_with(".metal")) {
      std::ifstream stream(file);
      KernelText kernel;
      kernel.source.assign(std::istreambuf_iterator<char>(stream), {});
      kernel.threads = {32, 1, 1};
      // The suite's kernels say how they are launched.
      if (size_t at = kernel.source.find("threads per threadgroup ("); at != std::string::npos)
        std::sscanf(kernel.source.c_str() + at, "threads per threadgroup (%u, %u, %u)",
                    &kernel.threads[0], &kernel.threads[1], &kernel.threads[2]);
      kernels.push_back(std::move(kernel));
    } else {
      auto read = readKernelTexts(file);
      if (!read) {
        std::fprintf(stderr, "%s: %s\n", file.c_str(), read.error().c_str());
        return 2;
      }
      kernels = std::move(*read);
    }
    for (const KernelText& kernel : kernels) {
      if (only.empty() || kernel.entry.find(only) != std::string::npos)
        checker.check(kernel);
    }
  }
  const Totals& t = checker.totals;
  std::printf("%u kernels, %u wrong; %u runs, %u of them depend on the order of threads\n",
              t.kernels, t.failed, t.runs, t.racy);
  return t.failed != 0;
}

} // namespace
} // namespace bessemer::kernels

int main(int argc, char** argv) { return bessemer::kernels::run(argc, argv); }
