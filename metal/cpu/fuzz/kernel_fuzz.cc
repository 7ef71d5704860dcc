// kernel_fuzz [--seed N] [--count N] [--keep-going] [--print] [--in-process]
// Random kernels, run by the vectoriser at every width and by the reference executor. Stops at the
// first difference, makes the program smaller while it still differs, and prints it with its seed.
// Exit code 0 when there is none. `--print` shows the programs and runs nothing; `--in-process`
// runs them without a process of their own, for a debugger.
#include "metal/cpu/fuzz/check.h"
#include "metal/cpu/fuzz/generator.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace bessemer::metal::cpu::fuzz {
namespace {

// Of processor time, which a busy machine does not shorten.
constexpr unsigned kProgramSeconds = 10;
constexpr uint64_t kBatch = 64;
constexpr size_t kReductions = 1000;

// Ends this process when it has used up the time that a program may take.
void limit_time() {
  itimerval limit = {};
  limit.it_value.tv_sec = kProgramSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

// Runs `work`, which writes its result to the descriptor it is given, in another process, since
// what is under test may crash or hang. Gives the text and how the process ended.
struct Outcome {
  std::string text;
  int signal = 0;
};

template <class Work>
Outcome in_child(Work&& work) {
  int ends[2];
  if (pipe(ends) != 0)
    std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;)
    outcome.text.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    outcome.signal = WTERMSIG(status);
  return outcome;
}

void write_all(int descriptor, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = write(descriptor, text.data() + at, text.size() - at);
    if (count <= 0)
      _exit(1);
    at += static_cast<size_t>(count);
  }
}

// "<kind> <text>"; a crash is a kind of its own.
std::string examine(const Program& program) {
  Outcome outcome = in_child([&](int descriptor) {
    limit_time();
    const Finding finding = check(program);
    write_all(descriptor, std::to_string(static_cast<int>(finding.kind)) + " " + finding.what);
  });
  if (outcome.signal == SIGPROF)
    return "hang: no end within " + std::to_string(kProgramSeconds) + " s";
  if (outcome.signal)
    return std::string("crash: ") + strsignal(outcome.signal);
  return outcome.text;
}

std::string kind_of(const std::string& text) { return text.substr(0, text.find_first_of(" :")); }

void report(uint64_t seed) {
  const Program program = generate(seed);
  const std::string found = examine(program);
  const std::string kind = kind_of(found);
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), found.c_str());
  std::fflush(stdout);
  if (kind == "0") {
    std::printf("not found again when run alone\n");
    return;
  }
  if (kind == "3") // the generator's own fault
    return;
  const Program small = reduce(
      program, [&](const Program& candidate) { return kind_of(examine(candidate)) == kind; },
      kReductions);
  std::printf("threadgroup %u x %u x %u, grid %u x %u x %u threads, %s mathematics, reference on "
              "%s\n%s\n%s\n",
              small.threads[0], small.threads[1], small.threads[2], small.grid[0], small.grid[1],
              small.grid[2], small.fast_math ? "fast" : "safe",
              small.reference_unsimplified ? "clang's code" : "simplified code",
              small.text().c_str(), examine(small).c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  uint64_t seed = 1, count = 1000;
  bool print = false, keep_going = false, in_process = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seed" && i + 1 < argc) {
      seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--count" && i + 1 < argc) {
      count = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--print") {
      print = true;
    } else if (argument == "--in-process") {
      in_process = true;
    } else if (argument == "--keep-going") {
      keep_going = true;
    } else {
      std::fprintf(stderr, "usage: kernel_fuzz [--seed N] [--count N] [--keep-going] [--print] "
                           "[--in-process]\n");
      return 2;
    }
  }
  if (print) {
    for (uint64_t i = 0; i < count; ++i)
      std::printf("%s\n", generate(seed + i).text().c_str());
    return 0;
  }
  prepare();
  if (in_process) {
    for (uint64_t i = 0; i < count; ++i)
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed + i),
                  check(generate(seed + i)).what.c_str());
    return 0;
  }
  const auto started = std::chrono::steady_clock::now();
  uint64_t done = 0, compiled = 0, faults = 0;
  const uint64_t end = seed + count;
  for (uint64_t next = seed; next < end;) {
    const uint64_t last = std::min(next + kBatch, end);
    Outcome outcome = in_child([&](int descriptor) {
      for (uint64_t at = next; at < last; ++at) {
        limit_time();
        const Finding finding = check(generate(at));
        write_all(descriptor, std::to_string(static_cast<int>(finding.kind)) + " " +
                                  std::to_string(finding.compiled) + "\n");
        if (finding.kind != Finding::Kind::None)
          _exit(0);
      }
    });
    bool fault = false;
    for (size_t at = 0; at < outcome.text.size(); at = outcome.text.find('\n', at) + 1) {
      fault = outcome.text[at] != '0';
      compiled += std::strtoull(outcome.text.c_str() + at + 2, nullptr, 10);
      ++done, ++next;
    }
    if (outcome.signal && !fault)
      fault = true, ++done, ++next;
    if (done % 1024 < kBatch && done >= 1024)
      std::printf("%llu programs\n", static_cast<unsigned long long>(done)), std::fflush(stdout);
    if (fault) {
      ++faults;
      report(next - 1);
      if (!keep_going)
        break;
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  std::printf("%llu programs, %llu with a fault; compiled %llu times; %.0f s\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(faults),
              static_cast<unsigned long long>(compiled), seconds);
  return faults != 0;
}

} // namespace
} // namespace bessemer::metal::cpu::fuzz

int main(int argc, char** argv) { return bessemer::metal::cpu::fuzz::run(argc, argv); }
