// Calls a compiled program from C++: embed-cc multiply.vmfb
#include <cstdio>

#include <bessemer/bessemer.hpp>

int main(int argc, char** argv) try {
  auto program = bessemer::Program::load(argc > 1 ? argv[1] : "multiply.vmfb");
  bessemer::Tensor a({4}, {1.f, 2.f, 3.f, 4.f}), b({4}, {10.f, 10.f, 10.f, 10.f});
  auto results = program("main", {a, b});
  for (float element : results[0].tensor().as<float>())
    std::printf("%g ", element);
  std::printf("\n");
} catch (const bessemer::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
