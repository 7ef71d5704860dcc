#include "tools/calls.h"

#include <map>

namespace bessemer::tools {

void CallFlags::addTo(CLI::App& app, bool several) {
  app_ = &app;
  auto texts = [&](const char* name, const char* type, const std::string& help) {
    return app.add_option(name, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  function_ = texts("--function", "NAME",
                    several ? "Function to call; may be left out when the module has only one. "
                              "Named again, it begins a further call in the same context, which "
                              "the --input, --output and --expected_output after it belong to"
                            : "Function to call; may be left out when the module has only one");
  if (!several)
    function_->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  input_ = texts("--input", "VALUE",
                 "An argument, in order: 42, 2x3xf32=1,2,3,4,5,6, 4xf32=@bytes.bin, @x.npy (+x.npy "
                 "the next array of the file, *x.npy the rest), (null)");
  if (!several)
    return;
  output_ = texts("--output", "WHERE",
                  "Where a result goes, in order: @y.npy, @y.bin, + instead of @ to append, - to "
                  "print, empty to drop");
  expected_ = texts("--expected_output", "VALUE",
                    "What a result must be, in order, as --input takes it; (ignored) skips one");
}

std::vector<Call> CallFlags::calls() const {
  std::vector<Call> calls(1);
  std::map<const CLI::Option*, size_t> seen;
  // An option is there once for each value that it was given.
  for (const CLI::Option* option : app_->parse_order()) {
    const bool known =
        option == function_ || option == input_ || option == output_ || option == expected_;
    if (!known)
      continue;
    const std::string& value = option->results()[seen[option]++];
    if (option == function_) {
      if (!calls.back().function.empty())
        calls.emplace_back();
      calls.back().function = value;
    } else if (option == input_) {
      calls.back().inputs.push_back(value);
    } else if (option == output_) {
      calls.back().outputs.push_back(value);
    } else {
      calls.back().expected.push_back(value);
    }
  }
  return calls;
}

} // namespace bessemer::tools
