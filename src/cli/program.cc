#include "pastcone/cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "pastcone/base/files.h"
#include "pastcone/base/suggest.h"
#include "pastcone/shell/script.h"

namespace pastcone::cli {
namespace {

constexpr int kUsage = 2;

/// CLI11's messages as one line.
std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

/// Output that could not be written is an error like any other: a full disk must not look like success.
Status flush_output() {
  if (std::fflush(stdout) != 0) return fail("cannot write the output: {}", errno_message(errno));
  if (std::ferror(stdout) != 0) return fail("cannot write the output");  // some time ago: errno is another one's
  return {};
}

/// What cannot be written any more (a full disk, a closed terminal) {fmt} tells by exceptions.
Result<int> run_chosen(const std::function<Result<int>()>& command) {
  try {
    return command();
  } catch (const std::system_error& error) {
    return fail("{}", one_line(error.what()));
  }
}

}  // namespace

void print_error(std::string_view message) {
  std::fflush(stdout);
  fmt::print(stderr, "pastcone: {}\n", message);
}

Program::Program() : app_("Records programs of several processes, and runs the same run again.", "pastcone") {
  app_.require_subcommand(0, 1);
  app_.set_version_flag("--version", "pastcone " PASTCONE_VERSION);
  app_.footer(
      "`pastcone COMMAND --help` says more. REC is a recording's name or directory; left out, the newest.");
}

CLI::App& Program::add(const std::string& name, const std::string& summary,
                       std::function<Result<int>()> run) {
  CLI::App* command = app_.add_subcommand(name, summary);
  command->footer("");
  commands_[command] = std::move(run);
  return *command;
}

bool Program::has_command(std::string_view name) const {
  return std::any_of(commands_.begin(), commands_.end(),
                     [name](const auto& command) { return command.first->get_name() == name; });
}

void Program::take_command(const CLI::App& command, std::vector<std::string>& into) {
  takers_[&command] = &into;
}

std::vector<const char*> Program::split_command(int argc, const char* const* argv) {
  std::vector<const char*> kept(argv, argv + argc);
  auto taker = std::find_if(takers_.begin(), takers_.end(), [&](const auto& entry) {
    return argc > 1 && entry.first->get_name() == argv[1];
  });
  if (taker == takers_.end()) return kept;
  int at = 2;
  for (; at < argc && argv[at][0] == '-' && argv[at] != std::string_view("--"); ++at) {
    const CLI::Option* option = taker->first->get_option_no_throw(argv[at]);
    if (option != nullptr && option->get_expected_min() > 0) ++at;  // its value
  }
  if (at >= argc) return kept;
  kept.resize(static_cast<size_t>(at));
  if (argv[at] == std::string_view("--")) ++at;
  taker->second->assign(argv + at, argv + argc);
  return kept;
}

void Program::take_script(const CLI::App& command, shell::Script& into) { scripts_[&command] = &into; }

Result<std::vector<std::string>> Program::split_script(const std::vector<const char*>& arguments) const {
  std::vector<std::string> all(arguments.begin(), arguments.end());
  for (const auto& [command, script] : scripts_) {
    if (all.size() > 1 && command->get_name() == all[1]) return shell::take_script_options(all, *script);
  }
  return all;
}

int Program::unknown(const std::string& name) const {
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands(nullptr)) names.push_back(command->get_name());
  std::string nearest = suggest(name, names);
  print_error(fmt::format("there is no command '{}'; {}", name,
                          nearest.empty() ? "`pastcone --help` lists them"
                                          : fmt::format("did you mean `pastcone {}`?", nearest)));
  return kUsage;
}

int Program::parse(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {  // --help, --version
      app_.exit(error);
      return 0;
    }
    auto chosen = app_.get_subcommands();
    std::string command = chosen.empty() ? "pastcone" : "pastcone " + chosen.front()->get_name();
    print_error(fmt::format("{}; try `{} --help`", one_line(error.what()), command));
    return kUsage;
  }
  return -1;
}

int Program::run(int argc, const char* const* argv) {
  if (argc > 1 && argv[1][0] != '-' && !has_command(argv[1])) return unknown(argv[1]);
  Result<std::vector<std::string>> kept = split_script(split_command(argc, argv));
  if (!kept) {
    print_error(kept.error().message);
    return kUsage;
  }
  std::vector<const char*> arguments;
  for (const std::string& argument : *kept) arguments.push_back(argument.c_str());
  if (int status = parse(static_cast<int>(arguments.size()), arguments.data()); status >= 0) return status;
  auto chosen = app_.get_subcommands();
  if (chosen.empty()) {
    fmt::print("{}", app_.help());
    return kUsage;
  }
  Result<int> status = run_chosen(commands_.at(chosen.front()));
  Status flushed = flush_output();
  if (status && !flushed) status = tl::unexpected<Error>(flushed.error());
  if (status) return *status;
  print_error(status.error().message);
  return 1;
}

}  // namespace pastcone::cli
