#include "tools/documentation.h"

#include <algorithm>
#include <span>
#include <vector>

namespace bessemer::tools {

using vm::concat;
using vm::fail;
using vm::Result;
using vm::StatusCode;

namespace {

std::vector<const CLI::App*> commandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
}

struct Flag {
  std::vector<std::string> names; // with their dashes
  std::string help;
  std::string value;                // what stands for the value, or empty for a switch
  std::vector<std::string> choices; // of the value, where it is one of a few
};

// "TEXT:{a,b}" has the choices; other types tell what kind of value it is.
std::vector<std::string> choicesOf(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}', open);
  std::vector<std::string> choices;
  if (open == type.npos || close == type.npos)
    return choices;
  for (size_t at = open + 1; at < close;) {
    const size_t comma = std::min(type.find(',', at), close);
    choices.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return choices;
}

std::vector<Flag> flagsOf(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional())
      continue;
    Flag flag;
    for (const std::string& name : option->get_snames())
      flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames())
      flag.names.push_back("--" + name);
    flag.help = option->get_description();
    if (option->get_items_expected_max() > 0) {
      const std::string type = option->get_type_name();
      flag.choices = choicesOf(type);
      for (const std::string& choice : flag.choices)
        flag.value += (flag.value.empty() ? "" : "|") + choice;
      if (flag.value.empty())
        flag.value = type.substr(0, type.find(':'));
      if (flag.value.empty())
        flag.value = "VALUE";
    }
    flags.push_back(std::move(flag));
  }
  return flags;
}

// `text` inside single quotes of a shell.
std::string shellQuoted(const std::string& text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(std::span<const std::string> words, const char* separator) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : separator) + word;
  return out;
}

std::string bashCompletion(const CLI::App& app) {
  const auto commands = commandsOf(app);
  std::vector<std::string> names;
  for (const CLI::App* command : commands)
    names.push_back(command->get_name());
  std::string out =
      "# Completion of `bessemer` for bash: source <(bessemer completion bash)\n"
      "_bessemer() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} flags= values=\n"
      "  COMPREPLY=()\n"
      "  # The line is cut at '=' as well: \"--flag=val\" is three words.\n"
      "  local flag=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  [ \"$word\" = = ] && { flag=$flag; word=; }\n"
      "  [ \"$flag\" = = ] && flag=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n";
  out +=
      concat("    COMPREPLY=($(compgen -W ", shellQuoted(joined(names, " ") + " --help --version"),
             " -- \"$word\"))\n    return\n  fi\n  case $command in\n");
  for (const CLI::App* command : commands) {
    std::vector<std::string> words;
    std::string cases;
    for (const Flag& flag : flagsOf(*command)) {
      for (const std::string& name : flag.names)
        words.push_back(flag.value.empty() || !name.starts_with("--") ? name : name + "=");
      if (!flag.choices.empty())
        cases += concat("      ", joined(flag.names, "|"),
                        ") values=", shellQuoted(joined(flag.choices, " ")), " ;;\n");
    }
    out +=
        concat("  ", command->get_name(), ")\n    flags=", shellQuoted(joined(words, " ")), "\n");
    if (!cases.empty())
      out += concat("    case $flag in\n", cases, "    esac ;;\n");
    else
      out += "    ;;\n";
  }
  return out + "  esac\n"
               "  if [ -n \"$values\" ]; then\n"
               "    COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
               "  elif [[ $word == -* ]]; then\n"
               "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
               "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
               "  else\n"
               "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
               "  fi\n"
               "}\n"
               "complete -o filenames -F _bessemer bessemer\n";
}

// In _arguments' specifications brackets and colons have a meaning.
std::string zshText(const std::string& text) {
  std::string out;
  for (char c : text)
    out += std::string(c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + c;
  return out;
}

std::string zshCompletion(const CLI::App& app) {
  std::string out = "#compdef bessemer\n"
                    "# Completion of `bessemer` for zsh: a file _bessemer in a folder of $fpath.\n"
                    "_bessemer() {\n"
                    "  if (( CURRENT == 2 )); then\n"
                    "    local -a commands=(\n";
  for (const CLI::App* command : commandsOf(app))
    out +=
        concat("      ", shellQuoted(command->get_name() + ":" + command->get_description()), "\n");
  out += "    )\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CLI::App* command : commandsOf(app)) {
    out += concat("  ", command->get_name(), ")\n    _arguments -s");
    for (const Flag& flag : flagsOf(*command)) {
      for (const std::string& name : flag.names) {
        std::string spec =
            concat("*", name, flag.value.empty() ? "" : "=", "[", zshText(flag.help), "]");
        if (!flag.value.empty())
          spec += concat(":", zshText(flag.value), ":",
                         flag.choices.empty() ? "_files" : "(" + joined(flag.choices, " ") + ")");
        out += concat(" \\\n      ", shellQuoted(spec));
      }
    }
    out += " \\\n      '*:file:_files'\n    ;;\n";
  }
  return out + "  esac\n}\n_bessemer \"$@\"\n";
}

std::string fishCompletion(const CLI::App& app) {
  std::string out = "# Completion of `bessemer` for fish: bessemer completion fish | source\n";
  for (const CLI::App* command : commandsOf(app))
    out += concat("complete -c bessemer -n __fish_use_subcommand -f -a ", command->get_name(),
                  " -d ", shellQuoted(command->get_description()), "\n");
  for (const CLI::App* command : commandsOf(app)) {
    for (const Flag& flag : flagsOf(*command)) {
      out +=
          concat("complete -c bessemer -n '__fish_seen_subcommand_from ", command->get_name(), "'");
      for (const std::string& name : flag.names)
        out += name.starts_with("--") ? concat(" -l ", name.substr(2))
                                      : concat(" -s ", name.substr(1));
      if (!flag.value.empty())
        out += flag.choices.empty() ? std::string(" -r")
                                    : concat(" -x -a ", shellQuoted(joined(flag.choices, " ")));
      out += concat(" -d ", shellQuoted(flag.help), "\n");
    }
  }
  return out;
}

// A dash is a hyphen in roff unless it is escaped; a dot begins a request.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  if (out.starts_with('.') || out.starts_with('\''))
    out = "\\&" + out;
  return out;
}

void appendFlags(const CLI::App& app, std::string& out) {
  for (const Flag& flag : flagsOf(app)) {
    out += ".TP\n";
    for (size_t i = 0; i < flag.names.size(); ++i)
      out += concat(i ? ", " : "", "\\fB", roff(flag.names[i]), "\\fR");
    if (!flag.value.empty())
      out += concat("=\\fI", roff(flag.value), "\\fR");
    out += concat("\n", roff(flag.help), "\n");
  }
}

} // namespace

Result<std::string> completionScript(const CLI::App& app, const std::string& shell) {
  if (shell == "bash")
    return bashCompletion(app);
  if (shell == "zsh")
    return zshCompletion(app);
  if (shell == "fish")
    return fishCompletion(app);
  return fail(StatusCode::InvalidArgument, "no completion for '", shell,
              "'; there is bash, zsh and fish");
}

Result<std::string> manualPage(const CLI::App& app, const std::string& command,
                               const std::string& version) {
  const CLI::App* page = &app;
  std::string name = app.get_name();
  if (!command.empty()) {
    const auto commands = commandsOf(app);
    auto found = std::find_if(commands.begin(), commands.end(),
                              [&](const CLI::App* sub) { return sub->get_name() == command; });
    if (found == commands.end())
      return fail(StatusCode::NotFound, "there is no command '", command, "'");
    page = *found;
    name += "-" + command;
  }
  std::string out =
      concat(".TH ", roff(name), " 1 \"\" \"Bessemer ", version, "\"\n.SH NAME\n", roff(name),
             " \\- ", roff(page->get_description()), "\n.SH SYNOPSIS\n\\fBbessemer\\fR");
  if (page == &app) {
    out += " \\fICOMMAND\\fR [\\fIFLAGS\\fR]\n.SH COMMANDS\n";
    for (const CLI::App* sub : commandsOf(app))
      out += concat(".TP\n\\fB", sub->get_name(), "\\fR\n", roff(sub->get_description()), "\n");
  } else {
    out += concat(" \\fB", command, "\\fR [\\fIFLAGS\\fR]");
    std::string arguments;
    for (const CLI::Option* option : page->get_options()) {
      if (!option->get_positional())
        continue;
      const std::string label = roff(option->get_name(true));
      out += option->get_required() ? concat(" \\fI", label, "\\fR")
                                    : concat(" [\\fI", label, "\\fR]");
      arguments += concat(".TP\n\\fI", label, "\\fR\n", roff(option->get_description()), "\n");
    }
    out += "\n";
    if (!arguments.empty())
      out += ".SH ARGUMENTS\n" + arguments;
  }
  out += ".SH FLAGS\n";
  appendFlags(*page, out);
  if (!page->get_footer().empty())
    out += concat(".SH NOTES\n", roff(page->get_footer()), "\n");
  return out + ".SH EXIT STATUS\n0 when all went well, 1 otherwise.\n";
}

} // namespace bessemer::tools
