// Classifies pictures of handwritten digits with digits.vmfb, a network that train.py trained and
// compiled for Metal.
//
//   digits                     the held-out pictures that come with the sample
//   digits my.png ...          pictures of your own: grey or colour PNGs, 8x8 or larger
//   digits --check FILE.csv    also compares the probabilities with those in the file
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "modules/session.h"
#include "samples/digits/picture.h"
#include "tools/devices.h"
#include "tools/inputs.h"

namespace bessemer::digits {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Probabilities = std::array<float, 10>;

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

class Classifier {
public:
  static vm::Result<Classifier> open(const std::string& module) {
    std::vector<std::string> uris = {"metal"};
    BESSEMER_ASSIGN_OR_RETURN(auto devices, tools::DeviceSet::open(uris));
    BESSEMER_ASSIGN_OR_RETURN(auto session,
                              modules::Session::create({.devices = devices.devices()}));
    BESSEMER_RETURN_IF_ERROR(session->load(module));
    BESSEMER_ASSIGN_OR_RETURN(vm::Function main, session->function("main"));
    return Classifier(std::move(devices), std::move(session), main);
  }

  vm::Result<Probabilities> classify(const Picture& picture) {
    tools::Array array{IREE_HAL_ELEMENT_TYPE_FLOAT_32, {1, kSide, kSide}, {}};
    array.data.resize(sizeof(picture));
    std::memcpy(array.data.data(), picture.data(), sizeof(picture));
    BESSEMER_ASSIGN_OR_RETURN(vm::Value input, tools::uploadArray(session_->device(), array));
    BESSEMER_ASSIGN_OR_RETURN(auto results, session_->call(main_, {&input, 1}));
    auto* view = results.size() == 1 ? results[0].as<iree_hal_buffer_view_t>() : nullptr;
    if (!view || iree_hal_buffer_view_byte_length(view) != sizeof(Probabilities))
      return vm::fail(vm::StatusCode::InvalidArgument, "the module does not return 10 numbers");
    BESSEMER_ASSIGN_OR_RETURN(tools::Array output, tools::downloadArray(session_->device(), view));
    Probabilities probabilities;
    std::memcpy(probabilities.data(), output.data.data(), sizeof(probabilities));
    return probabilities;
  }

private:
  Classifier(tools::DeviceSet devices, std::unique_ptr<modules::Session> session, vm::Function main)
      : devices_(std::move(devices)), session_(std::move(session)), main_(main) {}
  tools::DeviceSet devices_; // outlives the session
  std::unique_ptr<modules::Session> session_;
  vm::Function main_;
};

// The digit that a sample picture's name begins with ("7-0123.png"), or -1.
int label(const fs::path& path) {
  std::string name = path.filename().string();
  return name.size() > 1 && std::isdigit(name[0]) && name[1] == '-' ? name[0] - '0' : -1;
}

void show(const Picture& picture, const Probabilities& probabilities, bool colour) {
  constexpr int kBar = 30;
  const auto best =
      std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
  for (int line = 0; line < 10; ++line) {
    std::fputs("  ", stdout);
    const int row = line - 1;
    for (int column = 0; column < kSide; ++column) {
      const float ink = row >= 0 && row < kSide ? picture[row * kSide + column] : 0;
      if (colour)
        std::printf("\x1b[48;5;%dm  ", 232 + static_cast<int>(ink * 23));
      else
        std::printf("%c%c", " .:-=+*#%@"[static_cast<int>(ink * 9.99f)],
                    " .:-=+*#%@"[static_cast<int>(ink * 9.99f)]);
    }
    if (colour)
      std::fputs("\x1b[0m", stdout);
    const int length = static_cast<int>(std::lround(probabilities[line] * kBar));
    std::printf("   %d ", line);
    for (int i = 0; i < kBar; ++i)
      std::fputs(i < length ? (colour ? "█" : "#") : " ", stdout);
    std::printf(" %5.1f %%%s\n", probabilities[line] * 100.0, line == best ? "  <" : "");
  }
}

// "7-0123.png,p0,...,p9" lines.
std::map<std::string, Probabilities> readExpected(const std::string& path) {
  std::map<std::string, Probabilities> rows;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream cells(line);
    std::string name, cell;
    std::getline(cells, name, ',');
    for (float& value : rows[name]) {
      if (!std::getline(cells, cell, ','))
        return {};
      value = std::strtof(cell.c_str(), nullptr);
    }
  }
  return rows;
}

int failure(const std::string& message) {
  std::fprintf(stderr, "digits: %s\n", message.c_str());
  return 1;
}

int main(int argc, char** argv) {
  const fs::path home = DIGITS_HOME;
  std::vector<fs::path> paths;
  std::string check;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--check" && i + 1 < argc)
      check = argv[++i];
    else if (argument.starts_with("--check="))
      check = argument.substr(8);
    else if (argument == "--help" || argument == "-h")
      return std::puts("usage: digits [--check FILE.csv] [PICTURE.png ...]"), 0;
    else if (argument.starts_with("-"))
      return failure("unknown flag '" + argument +
                     "' (usage: digits [--check FILE.csv] [PNG ...])");
    else
      paths.emplace_back(argument);
  }
  std::map<std::string, Probabilities> expected;
  if (!check.empty() && (expected = readExpected(check)).empty())
    return failure(check + ": cannot be read, or a line has no ten probabilities");
  if (paths.empty()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(home / "pictures", error))
      paths.push_back(entry.path());
    if (error)
      return failure((home / "pictures").string() + ": " + error.message());
    std::sort(paths.begin(), paths.end());
  }

  const auto begin = Clock::now();
  auto classifier = Classifier::open((home / "digits.vmfb").string());
  if (!classifier)
    return failure(classifier.error().toString());
  const double opening = milliseconds(Clock::now() - begin);

  const bool colour = isatty(STDOUT_FILENO) != 0;
  int labelled = 0, right = 0, compared = 0;
  std::vector<double> times;
  for (const fs::path& path : paths) {
    auto picture = readPicture(path.string());
    if (!picture)
      return failure(picture.error());
    const auto start = Clock::now();
    auto probabilities = classifier->classify(*picture);
    times.push_back(milliseconds(Clock::now() - start));
    if (!probabilities)
      return failure(probabilities.error().toString());
    const int digit = static_cast<int>(
        std::max_element(probabilities->begin(), probabilities->end()) - probabilities->begin());
    std::printf("%s: it is a %d", path.filename().c_str(), digit);
    if (int truth = label(path); truth >= 0) {
      ++labelled;
      right += truth == digit;
      if (truth != digit)
        std::printf(" (no: a %d)", truth);
    }
    std::printf("   %.2f ms\n", times.back());
    show(*picture, *probabilities, colour);
    if (auto row = expected.find(path.filename().string()); row != expected.end()) {
      ++compared;
      for (int i = 0; i < 10; ++i) {
        if (!(std::fabs(row->second[i] - (*probabilities)[i]) <= 1e-4f))
          return failure(path.string() + ": probability of " + std::to_string(i) + " is " +
                         std::to_string((*probabilities)[i]) + ", expected " +
                         std::to_string(row->second[i]));
      }
    }
  }
  if (!check.empty() && compared != static_cast<int>(expected.size()))
    return failure(check + ": only " + std::to_string(compared) + " of its pictures were seen");

  std::vector<double> warm(times.begin() + (times.size() > 1), times.end());
  std::nth_element(warm.begin(), warm.begin() + static_cast<ptrdiff_t>(warm.size() / 2),
                   warm.end());
  if (labelled)
    std::printf("%d of %d right. ", right, labelled);
  std::printf("Opening the model took %.1f ms, the first picture %.2f ms, a further one %.2f ms "
              "(median).\n",
              opening, times[0], warm[warm.size() / 2]);
  return 0;
}

} // namespace
} // namespace bessemer::digits

int main(int argc, char** argv) { return bessemer::digits::main(argc, argv); }
