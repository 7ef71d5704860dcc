// How long kernels of compiled models take from MSL to code, cold and from the disk cache.
//
//   compile_bench [--reps N] [--each] FILE.vmfb|FILE.metal|FOLDER...
//
// CPU time of the compiling thread; the least of N runs of each kernel, then mean and worst over
// the kernels. `cold` is everything but the loader's work, with the disk cache off; `cached` is the
// same two calls with everything in the cache, by a service that was just made.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "metal/cpu/executor/compiler_service.h"
#include "tests/kernels/kernel_texts.h"

namespace bessemer {
namespace {

using kernels::KernelText;
using metal::cpu::CompilerService;

double cpu_milliseconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "compile_bench: %s\n", message.c_str());
  std::exit(1);
}

// One column of the result.
struct Figure {
  std::string name;
  double sum = 0;
  double worst = 0;
  std::string worst_kernel;

  void add(double milliseconds, const std::string& kernel) {
    sum += milliseconds;
    if (milliseconds >= worst) {
      worst = milliseconds;
      worst_kernel = kernel;
    }
  }
};

struct Sample {
  double milliseconds = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, double>> stages;
};

Sample compile(CompilerService& service, const KernelText& kernel) {
  Sample sample;
  const double begin = cpu_milliseconds();
  auto library = service.compile_source(
      kernel.source,
      {.language_version = kernel.language_version, .math_mode = BESSEMER_MATH_FAST, .macros = {}});
  if (!library)
    fail(kernel.entry + ": " + library.error().message);
  const metal::Function* function = nullptr;
  for (const metal::Function* candidate : *(*library)->functions())
    if (candidate->name()->string_view() == kernel.entry)
      function = candidate;
  if (!function)
    fail(kernel.entry + ": its source has no such function");
  const auto* bitcode = (*library)->modules()->Get(function->module_())->bitcode();
  auto code =
      service.compile_kernel({.bitcode = {bitcode->data(), bitcode->size()},
                              .function = kernel.entry,
                              .constants = {},
                              .threads = {kernel.threads[0], kernel.threads[1], kernel.threads[2]},
                              .distinct_buffers = true});
  sample.milliseconds = cpu_milliseconds() - begin;
  if (!code)
    fail(kernel.entry + ": " + code.error().message);
  auto add = [&](const char* part, const auto* stages) {
    for (const metal::StageTime* stage : *stages)
      sample.stages.emplace_back(part + stage->stage()->str(), double(stage->nanoseconds()) * 1e-6);
  };
  if ((*library)->stages())
    add("source: ", (*library)->stages());
  if ((*code)->stages())
    add("kernel: ", (*code)->stages());
  return sample;
}

void read(const std::filesystem::path& path, std::vector<KernelText>& kernels) {
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.path().extension() == ".vmfb" || entry.path().extension() == ".metal")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
      read(file, kernels);
  } else if (path.extension() == ".metal") {
    std::ifstream stream(path);
    if (!stream)
      fail("cannot read " + path.string());
    kernels.push_back({.entry = path.stem(),
                       .source = {std::istreambuf_iterator<char>(stream), {}},
                       .threads = {32, 1, 1}});
  } else {
    auto texts = kernels::readKernelTexts(path);
    if (!texts)
      fail(path.string() + ": " + texts.error());
    kernels.insert(kernels.end(), texts->begin(), texts->end());
  }
}

int run(int argc, char** argv) {
  int repetitions = 3;
  bool each = false;
  std::vector<KernelText> all;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--reps") && i + 1 < argc)
      repetitions = std::max(1, std::atoi(argv[++i]));
    else if (!std::strcmp(argv[i], "--each"))
      each = true;
    else if (argv[i][0] == '-')
      fail(std::string("unknown option ") + argv[i] + " (known: --reps N, --each)");
    else
      read(argv[i], all);
  }
  std::vector<KernelText> kernels;
  std::set<std::pair<std::string, std::string>> seen;
  for (KernelText& kernel : all)
    if (seen.emplace(kernel.entry, kernel.source).second)
      kernels.push_back(std::move(kernel));
  if (kernels.empty())
    fail("no kernels: name a .vmfb or .metal file or a folder with some");

  std::string cache = std::filesystem::temp_directory_path() / "compile_bench.XXXXXX";
  if (!mkdtemp(cache.data()))
    fail("cannot make a folder like " + cache);
  CompilerService cold({.compiler_path = {}, .cache_directory = {}, .use_cache = false});
  // What a process pays once: opening LLVM, its tables, the built-in functions.
  const double first = compile(cold, kernels.front()).milliseconds;
  {
    CompilerService filling({.compiler_path = {}, .cache_directory = cache});
    for (const KernelText& kernel : kernels)
      compile(filling, kernel);
  }
  Figure total{.name = "cold", .worst_kernel = {}}, cached{.name = "cached", .worst_kernel = {}};
  std::vector<Figure> stages;
  for (const KernelText& kernel : kernels) {
    Sample best, from_cache;
    for (int i = 0; i < repetitions; ++i) {
      Sample sample = compile(cold, kernel);
      if (sample.milliseconds < best.milliseconds)
        best = std::move(sample);
      CompilerService service({.compiler_path = {}, .cache_directory = cache});
      sample = compile(service, kernel);
      if (sample.milliseconds < from_cache.milliseconds)
        from_cache = std::move(sample);
    }
    total.add(best.milliseconds, kernel.entry);
    cached.add(from_cache.milliseconds, kernel.entry);
    if (each)
      std::printf("%8.2f ms cold, %6.3f cached  %s\n", best.milliseconds, from_cache.milliseconds,
                  kernel.entry.c_str());
    for (const auto& [name, milliseconds] : best.stages) {
      auto figure = std::ranges::find(stages, name, &Figure::name);
      if (figure == stages.end())
        figure = stages.insert(stages.end(), {.name = name, .worst_kernel = {}});
      figure->add(milliseconds, kernel.entry);
    }
  }
  std::filesystem::remove_all(cache);

  std::printf("%-24s %9s %9s\n", "CPU ms", "mean", "worst");
  auto print = [&](const Figure& figure) {
    std::printf("%-24s %9.3f %9.3f  %s\n", figure.name.c_str(), figure.sum / double(kernels.size()),
                figure.worst, figure.worst_kernel.c_str());
  };
  for (const Figure& figure : stages)
    print(figure);
  print(total);
  print(cached);
  std::printf("%zu kernels; the first of the process took %.1f ms\n", kernels.size(), first);
  return 0;
}

} // namespace
} // namespace bessemer

int main(int argc, char** argv) { return bessemer::run(argc, argv); }
