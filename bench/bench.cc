// kernel_bench [--backends native,pocl,lavapipe] [--kernels a,b] [--reps N] [--budget S] [--tag T]
//                                               steady state, interleaved
// kernel_bench --compile BACKEND --kernels a    build + first launch in this (fresh) process
// kernel_bench --empty [--backends ...]         dispatch overhead
// Prints CSV. steady: kind,tag,kernel,backend,wall_min_ms,wall_median_ms,cpu_min_ms,cpu_median_ms,
//   wall_ratio_min,wall_ratio_median,cpu_ratio_min,cpu_ratio_median,gflops,gbps,check
// compile: kind,tag,kernel,backend,build_ms,first_launch_ms,first_launch_cpu_ms,total_ms
// empty_us: kind,tag,mode,backend,min,median,cpu_min,cpu_median (microseconds a dispatch)
// Ratios are to the first backend. A backend that has used its budget of CPU seconds runs no
// further repetitions beyond three. CPU time is that of the whole process during the run, all
// threads, and is the steadier of the two on a shared machine. gflops and gbps use wall_min.
#include "suite.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

static std::vector<std::string> split(const std::string& s) {
  std::vector<std::string> v;
  std::string c;
  for (char ch : s + ",") {
    if (ch == ',') {
      if (!c.empty())
        v.push_back(c);
      c.clear();
    } else
      c += ch;
  }
  return v;
}
static std::unique_ptr<Backend> make(const std::string& n) {
  if (n == "native")
    return make_native();
  if (n == "metal")
    return make_metal();
#ifdef BENCH_OPENCL
  if (n == "pocl")
    return make_opencl();
#endif
#ifdef BENCH_VULKAN
  if (n == "lavapipe")
    return make_vulkan();
#endif
  fprintf(stderr, "no backend %s\n", n.c_str());
  exit(2);
}
std::string source_dir() {
  const char* e = getenv("BENCH_KERNELS");
  return e ? e : BENCH_KERNELS;
}
static double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
// The kernel charges another thread's running slice only when that thread is switched out,
// so let idle workers stop spinning and sleep before the clock is read.
static double settled_cpu() {
  timespec t{0, 400000};
  nanosleep(&t, nullptr);
  return cpu_now();
}
static double least(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  size_t n = v.size();
  return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}
static std::string compare(const Kernel& k, const std::vector<uint8_t>& ref,
                           const std::vector<uint8_t>& got) {
  size_t n = ref.size() / 4, bad = 0;
  char msg[96];
  if (!k.is_float) {
    for (size_t i = 0; i < n; ++i)
      bad += ((const uint32_t*)ref.data())[i] != ((const uint32_t*)got.data())[i];
  } else {
    double scale = 0, worst = 0;
    const float *a = (const float*)ref.data(), *b = (const float*)got.data();
    for (size_t i = 0; i < n; ++i)
      scale = std::max(scale, (double)std::fabs(a[i]));
    for (size_t i = 0; i < n; ++i) {
      double d = std::fabs((double)a[i] - b[i]) / scale;
      if (!(d <= k.tol))
        ++bad;
      if (!(d <= worst))
        worst = d;
    }
    snprintf(msg, sizeof msg, "%s err=%.1e", bad <= k.mismatch * n ? "ok" : "WRONG", worst);
    return msg;
  }
  snprintf(msg, sizeof msg, "%s bad=%zu/%zu", bad <= k.mismatch * n ? "ok" : "WRONG", bad, n);
  return msg;
}

int main(int argc, char** argv) {
  std::vector<std::string> backends = {"native", "metal", "pocl", "lavapipe"},
                           kernels = kernel_names();
  int reps = 9;
  double budget = 2.5;
  std::string tag = "default", compile;
  bool empty = false;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto val = [&] {
      if (++i >= argc)
        exit(2);
      return std::string(argv[i]);
    };
    if (a == "--backends")
      backends = split(val());
    else if (a == "--kernels")
      kernels = split(val());
    else if (a == "--reps")
      reps = atoi(val().c_str());
    else if (a == "--budget")
      budget = atof(val().c_str());
    else if (a == "--tag")
      tag = val();
    else if (a == "--compile")
      compile = val();
    else if (a == "--empty")
      empty = true;
    else {
      fprintf(stderr, "unknown option %s\n", a.c_str());
      return 2;
    }
  }
  if (!compile.empty()) {
    for (auto& kn : kernels) {
      Kernel k = make_kernel(kn);
      k.launches.resize(1);
      for (auto& g : k.launches[0].groups)
        g = 1; // one group: the launch itself costs nothing
      auto b = make(compile);
      double build = b->prepare(k), t = now(), c = cpu_now();
      b->run(k);
      double first = now() - t, firstc = cpu_now() - c;
      printf("compile,%s,%s,%s,%.2f,%.2f,%.2f,%.2f\n", tag.c_str(), kn.c_str(), compile.c_str(),
             build * 1e3, first * 1e3, firstc * 1e3, (build + first) * 1e3);
      b->release();
    }
    return 0;
  }
  std::vector<std::unique_ptr<Backend>> bs;
  for (auto& n : backends)
    bs.push_back(make(n));
  if (empty) {
    Kernel k = make_kernel("empty");
    for (auto& b : bs) {
      b->prepare(k);
      b->run(k);
      b->empty_batched(100);
      b->empty_each(100);
    }
    std::vector<std::vector<double>> bt(bs.size()), et(bs.size()), bc(bs.size()), ec(bs.size());
    for (int r = 0; r < reps; ++r)
      for (size_t i = 0; i < bs.size(); ++i) {
        double c = cpu_now();
        bt[i].push_back(bs[i]->empty_batched(1000));
        bc[i].push_back((cpu_now() - c) / 1000);
        c = cpu_now();
        et[i].push_back(bs[i]->empty_each(1000));
        ec[i].push_back((cpu_now() - c) / 1000);
      }
    for (size_t i = 0; i < bs.size(); ++i) {
      printf("empty_us,%s,batched1000,%s,%.3f,%.3f,%.3f,%.3f\n", tag.c_str(), bs[i]->name().c_str(),
             least(bt[i]) * 1e6, median(bt[i]) * 1e6, least(bc[i]) * 1e6, median(bc[i]) * 1e6);
      printf("empty_us,%s,each,%s,%.3f,%.3f,%.3f,%.3f\n", tag.c_str(), bs[i]->name().c_str(),
             least(et[i]) * 1e6, median(et[i]) * 1e6, least(ec[i]) * 1e6, median(ec[i]) * 1e6);
    }
    return 0;
  }
  for (auto& kn : kernels) {
    Kernel k = make_kernel(kn);
    std::vector<std::vector<double>> times(bs.size()), cpus(bs.size());
    std::vector<std::string> check(bs.size(), "ref");
    std::vector<double> first(bs.size());
    std::vector<uint8_t> ref(k.bufs[k.out].bytes), got(ref.size());
    for (size_t i = 0; i < bs.size(); ++i) {
      bs[i]->prepare(k);
      bs[i]->run(k);
      if (k.reset)
        bs[i]->reset(k, false);
      else if (k.bufs[k.out].role == Role::InOut)
        bs[i]->reset(k, false);
      double t = now();
      bs[i]->run(k);
      first[i] = now() - t;
      bs[i]->read(k, k.out, i ? got.data() : ref.data());
      if (i)
        check[i] = compare(k, ref, got);
    }
    std::vector<double> used(bs.size());
    for (int r = 0; r < reps; ++r)
      for (size_t i = 0; i < bs.size(); ++i) {
        if (i && r >= 3 && used[i] > budget)
          continue;
        // one untimed run warms caches and wakes the threads (not worth it for slow ones)
        if (first[i] < 0.1) {
          if (k.reset)
            bs[i]->reset(k, false);
          bs[i]->run(k);
        }
        if (k.reset)
          bs[i]->reset(k, false);
        double c = settled_cpu(), t = now();
        bs[i]->run(k);
        times[i].push_back(now() - t);
        cpus[i].push_back(settled_cpu() - c);
        used[i] += cpus[i].back();
      }
    for (size_t i = 0; i < bs.size(); ++i) {
      std::vector<double> wr, cr;
      for (size_t r = 0; r < times[i].size(); ++r) {
        wr.push_back(times[i][r] / times[0][r]);
        cr.push_back(cpus[i][r] / cpus[0][r]);
      }
      double mn = least(times[i]);
      printf("steady,%s,%s,%s,%.3f,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%s\n", tag.c_str(),
             kn.c_str(), bs[i]->name().c_str(), mn * 1e3, median(times[i]) * 1e3,
             least(cpus[i]) * 1e3, median(cpus[i]) * 1e3, mn / least(times[0]), median(wr),
             least(cpus[i]) / least(cpus[0]), median(cr), k.flops / mn / 1e9, k.bytes / mn / 1e9,
             check[i].c_str());
      fflush(stdout);
    }
    for (auto& b : bs)
      b->release();
  }
}
