// `bessemer`: runs compiled programs and shows what they and this machine are.
#include "tools/command_line.h"

int main(int argc, char** argv) {
  bessemer::tools::CommandLine command_line;
  return command_line.run(std::vector<std::string>(argv + 1, argv + argc));
}
