#include "metal/cpu/fuzz/check.h"

#include "metal/air/module.h"
#include "metal/air/simplify.h"
#include "metal/compiler/kernel_abi.h"
#include "metal/cpu/codegen/codegen.h"
#include "metal/cpu/executor/floating_point_mode.h"
#include "metal/cpu/executor/grid.h"
#include "metal/cpu/executor/object_loader.h"
#include "metal/cpu/fuzz/generator.h"
#include "metal/cpu/reference/reference.h"
#include "metal/msl/compiler.h"

#include "llvm/Support/CommandLine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>

namespace bessemer::metal::cpu::fuzz {
namespace {

enum class Contents : uint8_t { Words, Float, Half, Pairs, Parameters, Zeros };

struct BufferKind {
  const char* name;
  Contents contents;
  uint32_t elements; // for each thread where `per_thread`
  uint32_t bytes_each;
  bool per_thread;
};

// In the order of the kernel's arguments.
constexpr BufferKind kBuffers[] = {
    {"in_u", Contents::Words, kInputElements, 4, false},
    {"in_f", Contents::Float, kInputElements, 4, false},
    {"in_b", Contents::Words, kInputElements, 1, false},
    {"in_s", Contents::Words, kInputElements, 2, false},
    {"in_l", Contents::Words, kInputElements, 8, false},
    {"in_h", Contents::Half, kInputElements, 2, false},
    {"p", Contents::Parameters, 1, 48, false},
    {"out", Contents::Zeros, kResultWords, 4, true},
    {"fout", Contents::Float, kResultWords, 4, true},
    {"state", Contents::Words, kStateWords, 4, true},
    {"counters", Contents::Words, kCounters, 4, false},
    {"records", Contents::Pairs, 1, 48, true},
    {"quads", Contents::Float, 4, 4, true},
};
// Bytes of an object.
constexpr size_t kSmallCode = 5 * 1024;
constexpr size_t kLargeCode = 12 * 1024;
constexpr size_t kBufferCount = std::size(kBuffers);

// Memory that ends where the next page cannot be touched, so that code that reads or writes past
// the end of a buffer is found.
class GuardedMemory {
public:
  GuardedMemory() {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = 1 << 20;
    void* memory = mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      std::abort(); // a test tool out of address space has nothing better to do
    base_ = static_cast<uint8_t*>(memory);
    mprotect(base_ + size_, page_, PROT_NONE);
  }
  // The last `bytes` before the guard; they start at a multiple of 16.
  uint8_t* last(size_t bytes) { return base_ + size_ - (bytes + 15) / 16 * 16; }

private:
  uint8_t* base_ = nullptr;
  size_t size_ = 0;
  size_t page_ = 0;
};

uint16_t half_bits(float value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

struct Buffers {
  std::array<std::vector<uint8_t>, kBufferCount> contents;

  explicit Buffers(const Program& program) {
    std::mt19937 random(static_cast<uint32_t>(program.seed));
    const bool exact = program.fast_math;
    auto real = [&] {
      if (exact)
        return static_cast<float>(random() & 15);
      return static_cast<float>(static_cast<int>(random() & 0xffff) - 0x8000) / 8192.0f;
    };
    for (size_t i = 0; i < kBufferCount; ++i) {
      const BufferKind& kind = kBuffers[i];
      const size_t count = kind.elements * size_t{kind.per_thread ? program.thread_count() : 1};
      std::vector<uint8_t>& bytes = contents[i];
      bytes.resize(count * kind.bytes_each);
      auto put = [&](size_t at, auto value) {
        std::memcpy(bytes.data() + at, &value, sizeof(value));
      };
      switch (kind.contents) {
      case Contents::Words:
        // Small numbers as well as large ones, for comparisons to go both ways.
        for (size_t n = 0; n < count; ++n) {
          uint64_t word = uint64_t{random()} << 32 | random();
          if (random() & 1)
            word &= 31;
          std::memcpy(bytes.data() + n * kind.bytes_each, &word, kind.bytes_each);
        }
        break;
      case Contents::Float:
        for (size_t n = 0; n < count; ++n)
          put(4 * n, real());
        break;
      case Contents::Half:
        for (size_t n = 0; n < count; ++n)
          put(2 * n, half_bits(real()));
        break;
      case Contents::Pairs:
        for (size_t n = 0; n < count; ++n) {
          put(48 * n, static_cast<uint32_t>(random()));
          for (size_t e = 0; e < 4; ++e)
            put(48 * n + 16 + 4 * e, real());
          put(48 * n + 32, static_cast<uint32_t>(random()));
          put(48 * n + 36, static_cast<uint8_t>(random()));
          put(48 * n + 40, uint64_t{random()} << 32 | random());
        }
        break;
      case Contents::Parameters:
        put(0, static_cast<uint32_t>(random() & 31));
        put(4, static_cast<int32_t>(random() & 63) - 32);
        put(8, uint32_t{0} - static_cast<uint32_t>(random() & 63)); // wraps when added to
        put(12, real());
        for (size_t e = 0; e < 4; ++e)
          put(16 + 4 * e, static_cast<uint32_t>(random()));
        put(32, static_cast<uint16_t>(random()));
        put(34, half_bits(real()));
        break;
      case Contents::Zeros:
        break;
      }
    }
  }
};

class Checker {
public:
  explicit Checker(const Program& program) : program_(program), initial_(program) {}

  Finding run() {
    llvm::LLVMContext context;
    msl::Options options;
    options.math_mode = program_.fast_math ? msl::MathMode::Fast : msl::MathMode::Safe;
    options.simplify = false;
    msl::Compilation compilation = msl::compile(program_.text(), options, context);
    if (!compilation.module)
      return {Finding::Kind::Invalid, compilation.diagnostics};
    flush_ = air::has_compile_option(*compilation.module, "air.compile.denorms_disable");
    const std::string plain = air::write_bitcode(*compilation.module);
    air::simplify(*compilation.module);
    bitcode_ = air::write_bitcode(*compilation.module);
    if (std::string problem = run_reference(program_.reference_unsimplified ? plain : bitcode_);
        !problem.empty())
      return {Finding::Kind::Invalid, problem};
    return run_compiled();
  }

private:
  struct Code {
    CompiledKernel kernel;
    LoadedObject object;
    std::string name;
    bessemer_kernel_entry_t entry() const {
      return reinterpret_cast<bessemer_kernel_entry_t>(object.entry());
    }
  };

  // Fills the guarded memory and gives its addresses.
  std::vector<void*> place() {
    static auto* memory = new std::array<GuardedMemory, kBufferCount>;
    std::vector<void*> addresses;
    for (size_t i = 0; i < kBufferCount; ++i) {
      uint8_t* at = (*memory)[i].last(initial_.contents[i].size());
      std::memcpy(at, initial_.contents[i].data(), initial_.contents[i].size());
      addresses.push_back(at);
    }
    return addresses;
  }

  std::string run_reference(const std::string& bitcode) {
    auto kernel = reference::Kernel::create(
        {reinterpret_cast<const uint8_t*>(bitcode.data()), bitcode.size()}, "fuzz");
    if (!kernel)
      return "reference: " + llvm::toString(kernel.takeError());
    reference::Grid grid;
    grid.threads = program_.grid;
    grid.threads_per_threadgroup = program_.threads;
    std::vector<void*> addresses = place();
    {
      FloatingPointMode mode(flush_);
      if (auto error = (*kernel)->run(grid, addresses))
        return "reference: " + llvm::toString(std::move(error));
    }
    for (size_t i = 0; i < kBufferCount; ++i) {
      wanted_[i] = initial_.contents[i];
      std::memcpy(wanted_[i].data(), addresses[i], wanted_[i].size());
    }
    return {};
  }

  llvm::Expected<Code> compile(const KernelOptions& options, std::string name) {
    llvm::LLVMContext context;
    auto module = air::parse_module(llvm::MemoryBufferRef(bitcode_, "fuzz"), context);
    if (!module)
      return module.takeError();
    auto kernel = compile_kernel(std::move(*module), options);
    if (!kernel)
      return kernel.takeError();
    Code code{std::move(*kernel), {}, std::move(name)};
    auto object = LoadedObject::load(code.kernel.bytes, code.kernel.entry, "fuzz");
    if (!object)
      return llvm::createStringError(object.error().message);
    code.object = std::move(*object);
    return code;
  }

  Finding run_compiled() {
    Finding finding;
    std::mt19937 random(static_cast<uint32_t>(program_.seed));
    KernelOptions options;
    options.function = "fuzz";
    options.distinct_buffers = random() & 1;
    const bool narrow = random() % 4 == 0; // as on a machine with AVX2 only
    if (narrow) {
      options.triple = host_target().triple;
      options.cpu = "haswell";
      options.features = "";
    }
    const std::string suffix = std::string(narrow ? ", for AVX2" : "") +
                               (options.distinct_buffers ? ", distinct buffers" : "");
    // Code for any size has to run at the grid's edges; of programs that have none, each fourth.
    bool has_edges = program_.seed % 4 == 0;
    for (unsigned i = 0; i < 3; ++i)
      has_edges |= program_.grid[i] % program_.threads[i] != 0;
    std::optional<Code> any_size;
    if (has_edges) {
      auto code = compile(options, "code for any size" + suffix);
      if (!code)
        return {Finding::Kind::Error, llvm::toString(code.takeError())};
      ++finding.compiled;
      any_size = std::move(*code);
      finding.what = compare(nullptr, *any_size);
    }
    options.threads = program_.threads;
    // Small programs take every width, others one besides their own.
    const uint32_t other = std::array<uint32_t, 4>{8, 16, 64, 128}[random() % 4];
    std::vector<uint32_t> seen;
    size_t bytes = 0;
    for (uint32_t lanes : {0u, 8u, 16u, 32u, 64u, 128u}) {
      if (!finding.what.empty() || (lanes && program_.cross_lane))
        break;
      if (std::ranges::find(seen, lanes) != seen.end())
        continue;
      // Nobody chooses such widths for large kernels, whose code takes minutes to schedule.
      if (lanes && (bytes > kSmallCode ? lanes != other : false))
        continue;
      if (lanes >= 64 && bytes > kLargeCode)
        break;
      options.lanes = lanes;
      options.distinct_buffers = random() & 1;
      auto code = compile(options, "width " + std::to_string(lanes) + suffix);
      if (!code)
        return {Finding::Kind::Error, "width " + std::to_string(lanes) + suffix + ": " +
                                          llvm::toString(code.takeError())};
      ++finding.compiled;
      seen.push_back(code->kernel.lanes);
      if (!lanes)
        bytes = code->kernel.bytes.size();
      finding.what = compare(&*code, any_size ? *any_size : *code);
    }
    if (!finding.what.empty())
      finding.kind = Finding::Kind::Difference;
    return finding;
  }

  // Whole threadgroups by `fixed`, where there is such code, those at the edges by `any_size`.
  std::string compare(const Code* fixed, const Code& any_size) {
    std::vector<void*> addresses = place();
    bessemer_dispatch_t dispatch = {};
    std::copy(addresses.begin(), addresses.end(), dispatch.buffers);
    const auto& grid = program_.grid;
    const auto& threads = program_.threads;
    uint64_t simdgroups = 1;
    for (unsigned i = 0; i < 3; ++i) {
      dispatch.threads_per_grid[i] = grid[i];
      dispatch.threads_per_threadgroup[i] = threads[i];
      dispatch.threadgroups_per_grid[i] = (grid[i] + threads[i] - 1) / threads[i];
      simdgroups *= threads[i];
    }
    simdgroups = (simdgroups + 31) / 32;
    auto regions = split_grid({grid[0], grid[1], grid[2]}, {threads[0], threads[1], threads[2]});
    for (const Region& region : regions.span()) {
      const Code& code = region.whole && fixed ? *fixed : any_size;
      dispatch.region_origin[0] = region.origin.x;
      dispatch.region_origin[1] = region.origin.y;
      dispatch.region_origin[2] = region.origin.z;
      dispatch.region_size[0] = region.size.x;
      dispatch.region_size[1] = region.size.y;
      dispatch.region_size[2] = region.size.z;
      Scratch local(code.kernel.threadgroup_bytes + 64),
          frame(code.kernel.frame_bytes * simdgroups + 64);
      FloatingPointMode mode(flush_);
      const uint64_t count = region.size.volume();
      // In two calls, as the executor may cut the range anywhere.
      code.entry()(&dispatch, 0, count / 2, local.data(), frame.data());
      code.entry()(&dispatch, count / 2, count, local.data(), frame.data());
    }
    for (size_t i = 0; i < kBufferCount; ++i) {
      std::string problem = differ(i, static_cast<const uint8_t*>(addresses[i]));
      if (!problem.empty())
        return (fixed ? fixed->name + " (" + std::to_string(fixed->kernel.lanes) + " lanes)"
                      : any_size.name) +
               ": " + problem;
    }
    return {};
  }

  // Memory whose contents a kernel must not rely on.
  class Scratch {
  public:
    explicit Scratch(uint64_t bytes) {
      bytes = (bytes + 4095) / 4096 * 4096;
      data_ = std::aligned_alloc(4096, bytes);
      std::memset(data_, 0xA5, bytes);
    }
    ~Scratch() { std::free(data_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    void* data() const { return data_; }

  private:
    void* data_;
  };

  std::string differ(size_t index, const uint8_t* got) const {
    const BufferKind& kind = kBuffers[index];
    const std::vector<uint8_t>& want = wanted_[index];
    if (std::memcmp(got, want.data(), want.size()) == 0)
      return {};
    const uint32_t size = kind.contents == Contents::Pairs || kind.contents == Contents::Parameters
                              ? 4
                              : kind.bytes_each;
    for (size_t at = 0; at < want.size(); at += size) {
      if (std::memcmp(got + at, want.data() + at, size) == 0)
        continue;
      bool real = kind.contents == Contents::Float;
      if (kind.contents == Contents::Pairs) {
        const size_t field = at % 48;
        if (field >= 4 && field < 16)
          continue; // padding
        real = field >= 16 && field < 32;
        if (field == 36 && got[at] == want[at])
          continue; // padding after a char
      }
      uint64_t a = 0, b = 0;
      std::memcpy(&a, got + at, size);
      std::memcpy(&b, want.data() + at, size);
      char text[200];
      if (real) {
        const float x = std::bit_cast<float>(static_cast<uint32_t>(a));
        const float y = std::bit_cast<float>(static_cast<uint32_t>(b));
        // Which NaN an operation gives is nobody's promise.
        if (std::isnan(x) && std::isnan(y))
          continue;
        std::snprintf(text, sizeof(text),
                      "%s: word %zu is %.9g (%#x), the reference has %.9g (%#x)", kind.name,
                      at / size, x, static_cast<uint32_t>(a), y, static_cast<uint32_t>(b));
      } else {
        std::snprintf(text, sizeof(text), "%s: element %zu is %#llx, the reference has %#llx",
                      kind.name, at / size, static_cast<unsigned long long>(a),
                      static_cast<unsigned long long>(b));
      }
      std::string result = text;
      if (kind.per_thread)
        result += " (" + std::to_string(want.size() / size / program_.thread_count()) +
                  " words a thread, " + std::to_string(program_.thread_count()) + " threads)";
      return result;
    }
    return {};
  }

  const Program& program_;
  Buffers initial_;
  std::array<std::vector<uint8_t>, kBufferCount> wanted_;
  std::string bitcode_;
  bool flush_ = false;
};

} // namespace

void prepare() {
  // Large blocks with many stores are scheduled in quadratic time, which is not what is tested.
  const char* arguments[] = {"kernel_fuzz", "-dag-maps-huge-region=64",
                             "-dag-maps-reduction-size=32"};
  llvm::cl::ParseCommandLineOptions(3, arguments);
  Program program = generate(1);
  check(program);
}

Finding check(const Program& program) { return Checker(program).run(); }

} // namespace bessemer::metal::cpu::fuzz
