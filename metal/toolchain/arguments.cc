#include "metal/toolchain/arguments.h"

#include <array>
#include <optional>

#include "llvm/ADT/StringSwitch.h"

namespace bessemer::toolchain {

namespace {

using Action = SourceArguments::Action;

// Flags whose value means nothing here.
constexpr std::array kIgnoredWithValue = {
    "-target", "-arch",      "-isysroot",        "-iframework",           "-F",
    "-MJ",     "-framework", "--sysroot",        "-index-store-path",     "-serialize-diagnostics",
    "-L",      "-l",         "-current_version", "-compatibility_version"};

constexpr std::array kIgnored = {
    "-pipe",      "-pedantic",     "-v",   "-frecord-sources", "-gline-tables-only",
    "-emit-llvm", "-Winvalid-pch", "-ansi"};

// A command line as it is read: flags may have their value in the same word or the next.
class Reader {
public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  bool next() {
    if (at_ >= words_.size())
      return false;
    word_ = words_[at_++];
    return true;
  }
  llvm::StringRef word() const { return word_; }
  bool is(llvm::StringRef flag) const { return word_ == flag; }

  // `-Ivalue`, `-I value`. Where the value is missing, `failed` says so.
  std::optional<std::string> joined(llvm::StringRef flag) {
    if (!word_.starts_with(flag))
      return std::nullopt;
    if (word_.size() > flag.size())
      return word_.drop_front(flag.size()).str();
    return value();
  }
  std::optional<std::string> separate(llvm::StringRef flag) {
    return is(flag) ? std::optional(value()) : std::nullopt;
  }
  // `-std=value`
  std::optional<std::string> equals(llvm::StringRef flag) {
    if (!word_.starts_with(flag) || !word_.drop_front(flag.size()).starts_with("="))
      return std::nullopt;
    return word_.drop_front(flag.size() + 1).str();
  }
  bool failed() const { return failed_; }

private:
  std::string value() {
    if (at_ >= words_.size()) {
      failed_ = true;
      return {};
    }
    return words_[at_++];
  }

  const std::vector<std::string>& words_;
  size_t at_ = 0;
  llvm::StringRef word_;
  bool failed_ = false;
};

// A target as make reads it.
std::string quoted_target(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (c == '$')
      text += '$';
    else if (c == '#' || c == ' ')
      text += '\\';
    text += c;
  }
  return text;
}

bool parse_dependencies(Reader& reader, SourceArguments& result) {
  SourceArguments::Dependencies& dependencies = result.dependencies;
  if (reader.is("-MD") || reader.is("-MMD")) {
    dependencies.wanted = true;
  } else if (reader.is("-M") || reader.is("-MM")) {
    dependencies.wanted = dependencies.to_output = true;
    result.action = Action::Nothing;
  } else if (reader.is("-MP")) {
    dependencies.phony = true;
  } else if (auto file = reader.joined("-MF")) {
    dependencies.file = *file;
  } else if (auto target = reader.joined("-MT")) {
    dependencies.targets.push_back(*target);
  } else if (auto target = reader.joined("-MQ")) {
    dependencies.targets.push_back(quoted_target(*target));
  } else {
    return false;
  }
  return true;
}

// Flags of the language. Unknown values come back as errors.
llvm::Expected<bool> parse_language(Reader& reader, msl::Options& options) {
  using msl::MathMode;
  if (auto standard = reader.equals("-std")) {
    auto version = parse_standard(*standard);
    if (!version)
      return version.takeError();
    options.language_version = *version;
  } else if (reader.is("-ffast-math")) {
    options.math_mode = MathMode::Fast;
  } else if (reader.is("-fno-fast-math")) {
    options.math_mode = MathMode::Safe;
  } else if (auto mode = reader.equals("-fmetal-math-mode")) {
    if (*mode != "fast" && *mode != "relaxed" && *mode != "safe")
      return llvm::createStringError("-fmetal-math-mode takes fast, relaxed or safe, not '" +
                                     *mode + "'");
    options.math_mode = *mode == "fast"      ? MathMode::Fast
                        : *mode == "relaxed" ? MathMode::Relaxed
                                             : MathMode::Safe;
  } else if (reader.is("-w")) {
    options.warnings = false;
  } else if (reader.is("-Werror")) {
    options.warnings_are_errors = true;
  } else if (auto language = reader.separate("-x")) {
    if (*language != "metal")
      return llvm::createStringError("-x takes metal, not '" + *language + "'");
  } else {
    return false;
  }
  return true;
}

bool parse_preprocessor(Reader& reader, SourceArguments& result) {
  msl::Options& options = result.options;
  if (auto macro = reader.joined("-D")) {
    const size_t equals = macro->find('=');
    options.macros.push_back(
        {macro->substr(0, equals), equals == std::string::npos ? "1" : macro->substr(equals + 1)});
  } else if (auto name = reader.joined("-U")) {
    result.prefix += "#undef " + *name + "\n";
  } else if (auto file = reader.separate("-include")) {
    result.prefix += "#include \"" + *file + "\"\n";
  } else if (auto folder = reader.joined("-I")) {
    options.include_directories.push_back(*folder);
  } else if (auto folder = reader.joined("-isystem")) {
    options.include_directories.push_back(*folder);
  } else if (auto folder = reader.joined("-iquote")) {
    options.include_directories.push_back(*folder);
  } else if (reader.is("-P")) {
    options.preprocess_lines = false;
  } else if (reader.is("-C") || reader.is("-CC")) {
    options.preprocess_comments = true;
  } else if (reader.is("-H")) {
    result.list_includes = true;
  } else {
    return false;
  }
  return true;
}

bool parse_action(Reader& reader, SourceArguments& result) {
  const std::optional<Action> action = llvm::StringSwitch<std::optional<Action>>(reader.word())
                                           .Case("-c", Action::Compile)
                                           .Case("-S", Action::Assemble)
                                           .Case("-E", Action::Preprocess)
                                           .Case("-fsyntax-only", Action::Nothing)
                                           .Cases({"--help", "-help"}, Action::Help)
                                           .Case("--version", Action::Version)
                                           .Default(std::nullopt);
  if (action)
    result.action = *action;
  else if (auto output = reader.joined("-o"))
    result.output = *output;
  else
    return false;
  return true;
}

bool is_ignored(Reader& reader) {
  for (const char* flag : kIgnoredWithValue)
    if (reader.separate(flag))
      return true;
  for (const char* flag : kIgnored)
    if (reader.is(flag))
      return true;
  const llvm::StringRef word = reader.word();
  // Warnings, optimisation, debug information, targets; what clang's own driver takes of -f.
  for (const char* prefix : {"-W",
                             "-O",
                             "-g",
                             "-mmacosx-version-min=",
                             "-mmacos-version-min=",
                             "-miphoneos-version-min=",
                             "-mtargetos=",
                             "--target=",
                             "-fmodules",
                             "-fno-modules",
                             "-fdiagnostics",
                             "-fno-diagnostics",
                             "-fcolor-diagnostics",
                             "-fno-color-diagnostics",
                             "-fno-caret-diagnostics",
                             "-fcaret-diagnostics",
                             "-fmetal-math-fp32-functions=",
                             "-ferror-limit=",
                             "-fpreserve-invariance",
                             "-fmetal-enable-logging",
                             "-frecord-",
                             "-ffp-contract=",
                             "-fmacro-backtrace-limit=",
                             "-fdebug-",
                             "-ffile-prefix-map=",
                             "-std=c++",
                             "--driver-mode=",
                             "-fbracket-depth=",
                             "-ftemplate-depth=",
                             "-fno-exceptions",
                             "-fno-rtti",
                             "-ffunction-sections",
                             "-fvisibility",
                             "-L",
                             "-l"})
    if (word.starts_with(prefix))
      return true;
  return false;
}

} // namespace

llvm::Expected<uint32_t> parse_standard(llvm::StringRef text) {
  llvm::StringRef rest = text;
  for (llvm::StringRef platform : {"macos-", "osx-", "ios-"})
    rest.consume_front(platform);
  unsigned major = 0, minor = 0;
  if (!rest.consume_front("metal") || rest.consumeInteger(10, major) || !rest.consume_front(".") ||
      rest.consumeInteger(10, minor) || !rest.empty() || major < 1 || major > 4)
    return llvm::createStringError("-std takes metal1.0 to metal4.1, not '" + text.str() + "'");
  return major << 16 | minor;
}

llvm::Expected<SourceArguments> parse_arguments(const std::vector<std::string>& arguments) {
  SourceArguments result;
  Reader reader(arguments);
  while (reader.next()) {
    const std::string word = reader.word().str();
    if (word == "-" || !llvm::StringRef(word).starts_with("-")) {
      result.inputs.push_back(word);
      continue;
    }
    // The longer names first: -MF is no -M, and -include no -I.
    bool known = parse_dependencies(reader, result) || parse_preprocessor(reader, result);
    if (!known) {
      auto language = parse_language(reader, result.options);
      if (!language)
        return language.takeError();
      known = *language || parse_action(reader, result) || is_ignored(reader);
    }
    if (reader.failed())
      return llvm::createStringError("'" + word + "' wants a value after it");
    if (!known)
      return llvm::createStringError("unknown flag '" + word + "'");
  }
  result.options.preprocess = result.action == Action::Preprocess;
  return result;
}

} // namespace bessemer::toolchain
