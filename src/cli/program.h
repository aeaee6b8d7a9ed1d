// The pastcone command: its subcommands, and what they have in common. Each subcommand is one file with one
// function that adds it:
//
//   void add_ls(Program& program) {
//     auto options = std::make_shared<Options>();
//     CLI::App& ls = program.add("ls", "what was recorded", [options] { return list(*options); });
//     ls.add_flag("--json", options->json, "…");
//   }
//
// Errors are one line on stderr: "pastcone: what: why; what to try". Exit status 2 for a wrong command line,
// 1 for what went wrong otherwise.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/cli/print_error.h"

namespace pastcone::shell {
struct Script;
}

namespace pastcone::cli {

class Program {
 public:
  Program();

  /// Adds a subcommand. `run` is called when it was chosen and its options are parsed; its value is the exit
  /// status.
  CLI::App& add(const std::string& name, const std::string& summary, std::function<Result<int>()> run);

  /// Makes a subcommand take a command line as its last part, as `record` does: everything from the first
  /// argument that is no option, or after `--`, goes to `into` as it is.
  void take_command(const CLI::App& command, std::vector<std::string>& into);

  /// Makes a subcommand take -ex, -x and --batch, as `debug` does; they are not options of CLI11, which would
  /// lose their order.
  void take_script(const CLI::App& command, shell::Script& into);

  int run(int argc, const char* const* argv);

 private:
  /// The arguments without such a command line.
  std::vector<const char*> split_command(int argc, const char* const* argv);
  /// The arguments without those.
  Result<std::vector<std::string>> split_script(const std::vector<const char*>& arguments) const;
  int parse(int argc, const char* const* argv);
  bool has_command(std::string_view name) const;
  int unknown(const std::string& name) const;

  CLI::App app_;
  std::map<const CLI::App*, std::function<Result<int>()>> commands_;
  std::map<const CLI::App*, std::vector<std::string>*> takers_;
  std::map<const CLI::App*, shell::Script*> scripts_;
};

// One each in its own file.
void add_cone(Program& program);
void add_cut(Program& program);
void add_debug(Program& program);
void add_demo(Program& program);
void add_doctor(Program& program);
void add_events(Program& program);
void add_export(Program& program);
void add_hb(Program& program);
void add_info(Program& program);
void add_ls(Program& program);
void add_path(Program& program);
void add_ps(Program& program);
void add_races(Program& program);
void add_record(Program& program);
void add_replay(Program& program);
void add_show(Program& program);
void add_sql(Program& program);
void add_version(Program& program);

}  // namespace pastcone::cli
