// Compiles every kernel of the given files (.vmfb, or .metal with one kernel of a threadgroup of
// 32 threads or what [[max_total_threads_per_threadgroup]] says) and compares what compiled code
// does with what the reference does: random data of the bindings' types, several grids, several
// constants, and all bindings in one buffer.
//
//   kernel_check [--verbose] [--only NAME] [--target TRIPLE --runner COMMAND] FILE...
//
// Exit code 0 when all agree. With --target, code for another kind of processor, run by COMMAND
// (an emulator and kernel_runner).
//
// Where the reference itself depends on the order of threads (bindings that overlap usually make
// races) there is nothing to compare, and the case is counted as such.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <random>

#include "metal/cpu/executor/command_list.h"
#include "metal/cpu/executor/compiler_service.h"
#include "metal/cpu/executor/executor.h"
#include "metal/cpu/executor/pipeline.h"
#include "metal/cpu/executor/queue.h"
#include "metal/cpu/reference/reference.h"
#include "tests/kernels/foreign_kernel.h"
#include "tests/kernels/kernel_texts.h"

namespace bessemer::kernels {
namespace {

namespace cpu = metal::cpu;
using metal::Argument;
using metal::ArgumentKind;

// Address space around a binding: all that a 32-bit index of float4 reaches. Pages exist only once
// written.
constexpr size_t kReach = size_t{64} << 30;
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

// The type of what a pointer member points to; of a struct, that of its first field, which the
// metadata does not tell and the text does: "struct _13\n{\n    ulong _m0[1];".
std::string scalarType(const metal::StructMember& member, const std::string& source) {
  std::string name = member.type_name() ? member.type_name()->str() : std::string();
  const std::string head = "struct " + name + "\n{";
  if (size_t at = source.find(head); at != std::string::npos) {
    at = source.find_first_not_of(" \n", at + head.size());
    return source.substr(at, source.find(' ', at) - at);
  }
  return name;
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

// `any_width`: the program reads words as numbers of other widths too (as_type), so every 16-bit
// half of a word must be a moderate number as half, as bfloat and as the upper half of a float.
void fill(uint8_t* data, Element element, bool any_width, std::mt19937& random) {
  std::uniform_real_distribution<float> real(-2, 2);
  auto moderate = [&] {
    return static_cast<uint16_t>((0x3C00 + random() % 0x500) | (random() & 1) << 15);
  };
  auto each = [&](auto make) {
    auto value = make();
    for (size_t at = 0; at + sizeof(value) <= kFilled; at += sizeof(value)) {
      value = make();
      std::memcpy(data + at, &value, sizeof(value));
    }
  };
  switch (element) {
  case Element::Float:
    if (any_width)
      return each(moderate);
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

float bfloatValue(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

bool near(double a, double b, double relative, double absolute) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b))
    return a == b;
  return std::fabs(a - b) <= relative * std::fabs(b) + absolute;
}

// The first place where two results differ by more than reordered arithmetic explains, or empty.
// Floating-point memory is compared as such, with an absolute part that scales with the largest
// result. With `any_width`, what is not near as floats may be so as pairs of halves or of bfloats.
std::string differ(const uint8_t* got, const uint8_t* want, Element element, bool any_width) {
  if (std::memcmp(got, want, kFilled) == 0)
    return {};
  char text[160];
  auto word16 = [](const uint8_t* data) {
    uint16_t word;
    std::memcpy(&word, data, 2);
    return word;
  };
  auto near16 = [&](uint16_t a, uint16_t b) {
    return near(halfValue(a), halfValue(b), 8e-3, 2e-2) ||
           near(bfloatValue(a), bfloatValue(b), 2e-2, 1e-6);
  };
  const bool real = element == Element::Float || element == Element::Half;
  const size_t size = element == Element::Byte                                ? 1
                      : element == Element::Short || element == Element::Half ? 2
                      : element == Element::Long                              ? 8
                                                                              : 4;
  auto value = [&](const uint8_t* data, size_t i) -> double {
    float single;
    if (element == Element::Half)
      return halfValue(word16(data + 2 * i));
    std::memcpy(&single, data + 4 * i, 4);
    return single;
  };
  double scale = 1;
  for (size_t i = 0; real && i < kFilled / size; ++i) {
    const double v = std::fabs(value(want, i));
    if (std::isfinite(v) && v > scale && v < 1e30)
      scale = v;
  }
  for (size_t i = 0; i < kFilled / size; ++i) {
    const uint8_t *a = got + i * size, *b = want + i * size;
    if (std::memcmp(a, b, size) == 0)
      continue;
    if (element == Element::Half && near16(word16(a), word16(b)))
      continue;
    if (element == Element::Half && near(value(got, i), value(want, i), 8e-3, 2e-3 * scale))
      continue;
    if (element == Element::Float && near(value(got, i), value(want, i), 2e-4, 2e-5 * scale))
      continue;
    if (any_width && size == 4 && near16(word16(a), word16(b)) &&
        near16(word16(a + 2), word16(b + 2)))
      continue;
    if (any_width && size == 2 && near16(word16(a), word16(b)))
      continue;
    if (element == Element::Int) {
      // Integer words may hold floats (as_type). Small integers are no such floats.
      float x, y;
      std::memcpy(&x, a, 4);
      std::memcpy(&y, b, 4);
      if (std::fabs(y) > 1e-6f && std::fabs(y) < 1e30f && near(x, y, 2e-4, 2e-5))
        continue;
    }
    uint64_t bits_a = 0, bits_b = 0;
    std::memcpy(&bits_a, a, size);
    std::memcpy(&bits_b, b, size);
    if (real)
      std::snprintf(text, sizeof(text), "element %zu is %.9g, the reference has %.9g", i,
                    value(got, i), value(want, i));
    else
      std::snprintf(text, sizeof(text), "element %zu is %#llx, the reference has %#llx", i,
                    static_cast<unsigned long long>(bits_a),
                    static_cast<unsigned long long>(bits_b));
    return text;
  }
  return {};
}

// Denormals are flushed, as kernels in fast mode do.
class FlushDenormals {
public:
  FlushDenormals() : saved_(__builtin_ia32_stmxcsr()) { __builtin_ia32_ldmxcsr(saved_ | 0x8040); }
  ~FlushDenormals() { __builtin_ia32_ldmxcsr(saved_); }

private:
  unsigned saved_;
};

struct Totals {
  unsigned kernels = 0, failed = 0, runs = 0, racy = 0;
};

class Checker {
public:
  Checker(bool verbose, ForeignTarget foreign) : foreign_(std::move(foreign)), verbose_(verbose) {}
  Totals totals;

  void check(const KernelText& text) {
    ++totals.kernels;
    std::string problem = checkKernel(text);
    if (problem.empty() && !verbose_)
      return;
    totals.failed += !problem.empty();
    std::printf("%s %s (%ux%ux%u)%s%s\n", problem.empty() ? "ok   " : "WRONG", text.entry.c_str(),
                text.threads[0], text.threads[1], text.threads[2], problem.empty() ? "" : ": ",
                problem.c_str());
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
    auto pipeline = cpu::Pipeline::create(cpu::CompilerService::shared(), {*library, name, {}});
    if (!pipeline)
      return "code: " + pipeline.error().message;
    auto* bitcode = (*library)->modules()->Get(function->module_())->bitcode();
    const std::span<const uint8_t> bytes(bitcode->data(), bitcode->size());
    auto independent = cpu::reference::Kernel::create(bytes, name);
    if (!independent)
      return "reference: " + llvm::toString(independent.takeError());
    auto lockstep =
        cpu::reference::Kernel::create(bytes, name, {}, cpu::reference::Schedule::Lockstep);
    if (!lockstep)
      return "reference: " + llvm::toString(lockstep.takeError());

    ForeignKernel foreign(foreign_, bytes, name, text.threads);
    any_width_ = text.source.find("half") != std::string::npos ||
                 text.source.find("ushort") != std::string::npos;
    bindings_.clear();
    for (const Argument* argument : *function->arguments()) {
      if (argument->kind() == ArgumentKind::ArgumentBuffer) {
        for (const auto* member : *argument->members())
          bindings_.push_back({argument->index(), member->argument_index(), member->offset(),
                               elementOf(scalarType(*member, text.source)), 0});
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
      std::string problem = runCase(text, c, *pipeline, foreign, **independent, **lockstep);
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
          fill(region.data(), binding.element, any_width_, random);
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

  std::string runCase(const KernelText& text, const Case& c,
                      const std::shared_ptr<cpu::Pipeline>& pipeline, ForeignKernel& foreign,
                      cpu::reference::Kernel& independent, cpu::reference::Kernel& lockstep) {
    ++totals.runs;
    cpu::reference::Grid grid;
    grid.threads_per_threadgroup = text.threads;
    for (unsigned i = 0; i < 3; ++i)
      grid.threads[i] = c.threadgroups[i] * text.threads[i];

    auto want = prepare(1, c);
    auto again = prepare(2, c);
    {
      FlushDenormals flush;
      if (auto error = lockstep.run(grid, want))
        return "reference: " + llvm::toString(std::move(error));
      grid.backwards = true;
      if (auto error = independent.run(grid, again))
        return "reference: " + llvm::toString(std::move(error));
    }

    auto got = prepare(0, c);
    std::string failure = foreign_.triple.empty() ? runHere(text, grid, pipeline, got)
                                                  : runElsewhere(c, foreign, got);
    if (!failure.empty())
      return failure;

    bool racy = false;
    std::string problem;
    for (size_t i = 0; i < bindings_.size(); ++i) {
      const size_t count = bindings_.size();
      const uint8_t* reference_data = regions_[count + i].data();
      racy |= std::memcmp(reference_data, regions_[2 * count + i].data(), kFilled) != 0;
      if (problem.empty()) {
        problem = differ(regions_[i].data(), reference_data, bindings_[i].element, any_width_);
        if (!problem.empty())
          problem = "binding " + std::to_string(i) + ": " + problem;
      }
      if (c.overlapping)
        break; // all in the first region
    }
    // In lockstep and one by one, backwards, give different results: then any result will do.
    if (racy && !problem.empty()) {
      ++totals.racy;
      return {};
    }
    return problem;
  }

  std::string runElsewhere(const Case& c, ForeignKernel& foreign, const std::vector<void*>& got) {
    KernelJob job;
    job.filled = kFilled;
    // An emulator keeps books of every page.
    job.reach = kReach / 8;
    for (unsigned d = 0; d < 3; ++d)
      job.threadgroups[d] = c.threadgroups[d];
    std::copy(std::begin(constants_), std::end(constants_), job.constants);
    std::vector<uint8_t*> regions;
    for (size_t i = 0; i < bindings_.size(); ++i)
      regions.push_back(regions_[i].data());
    auto region_at = [&](const void* address) {
      return std::find(regions.begin(), regions.end(), address) - regions.begin();
    };
    for (unsigned n = 0; n < 31; ++n) {
      const bool arguments = got[n] == argument_buffers_[0].data() + size_t{n} * 512;
      job.buffers[n] = !got[n]                ? KernelJob::kNothing
                       : got[n] == constants_ ? KernelJob::kConstants
                       : arguments            ? KernelJob::kArguments
                                              : static_cast<int32_t>(region_at(got[n]));
    }
    for (const Binding& binding : bindings_) {
      if (binding.id < 0)
        continue;
      void* address;
      std::memcpy(&address,
                  argument_buffers_[0].data() + size_t{binding.index} * 512 + binding.offset,
                  sizeof(address));
      job.pointers[job.pointer_count++] = {binding.index, binding.offset,
                                           static_cast<uint32_t>(region_at(address))};
      if (job.pointer_count == std::size(job.pointers))
        return "too many bindings for a job";
    }
    return foreign.run(job, !c.overlapping, regions);
  }

  // What went wrong, or empty.
  std::string runHere(const KernelText& text, const cpu::reference::Grid& grid,
                      const std::shared_ptr<cpu::Pipeline>& pipeline,
                      const std::vector<void*>& got) {
    std::vector<cpu::Binding> bound(31);
    for (unsigned i = 0; i < 31; ++i)
      bound[i] = {got[i], got[i] ? kReach : 0};
    auto queue = cpu::Queue::create(executor_);
    auto list = cpu::CommandList::create(executor_);
    list->dispatch({pipeline,
                    bound,
                    {},
                    {grid.threads[0], grid.threads[1], grid.threads[2]},
                    {text.threads[0], text.threads[1], text.threads[2]}});
    // Not wait_completed, which would lend this thread to the kernel.
    std::promise<void> done;
    list->on_completed([&](const cpu::ListResult&) { done.set_value(); });
    queue->commit(list);
    done.get_future().wait();
    return list->result().ok() ? std::string() : list->result().message;
  }

  // One worker: threadgroups that the program lets race (grids here are larger than its own, and
  // doing a thing twice in turn hides that from the reference) then run in one order.
  cpu::Executor executor_{{.threads = 1}};
  ForeignTarget foreign_; // no triple: code for this machine
  bool verbose_;
  bool any_width_ = false;
  std::vector<Binding> bindings_;
  std::vector<Region> regions_;
  std::vector<uint8_t> argument_buffers_[3];
  uint32_t constants_[32] = {};
};

int run(int argc, char** argv) {
  bool verbose = false;
  std::string only;
  ForeignTarget foreign;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--verbose")
      verbose = true;
    else if (argument == "--only" && i + 1 < argc)
      only = argv[++i];
    else if (argument == "--target" && i + 1 < argc)
      foreign.triple = argv[++i];
    else if (argument == "--runner" && i + 1 < argc)
      foreign.runner = argv[++i];
    else
      files.push_back(argument);
  }
  if (files.empty() || foreign.triple.empty() != foreign.runner.empty()) {
    std::fprintf(stderr, "usage: kernel_check [--verbose] [--only NAME] [--target TRIPLE --runner "
                         "COMMAND] FILE.vmfb|FILE.metal...\n");
    return 2;
  }
  Checker checker(verbose, std::move(foreign));
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
