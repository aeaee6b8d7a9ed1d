// pastcone record: runs a command and records it. The exit status is the command's, and so is its death by a
// signal.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <memory>

#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/record/program.h"
#include "pastcone/record/recorder.h"

namespace pastcone::cli {
namespace {

constexpr int kUsage = 2;
constexpr int kNotRun = 125;  // as env, timeout and nohup have it: our fault, not the command's

struct Options {
  std::string output, max_size, threads = "serial";
  bool no_patch = false, no_dispatch = false, quiet = false;
  std::vector<std::string> command;
};

/// "64M" → 67108864.
Result<uint64_t> parse_size(const std::string& text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr std::string_view kUnits = "KMGT";
  size_t power = unit.empty() ? 0 : kUnits.find(static_cast<char>(unit[0] & ~0x20)) + 1;
  bool plain = unit.size() <= 1 || unit.substr(1) == "B" || unit.substr(1) == "iB";
  if (error != std::errc() || !plain || (power == 0 && !unit.empty()) || number == 0 ||
      number > UINT64_MAX >> (10 * power)) {
    return fail("--max-size '{}' is not a size; write it like 500K, 64M or 2G", text);
  }
  return number << (10 * power);
}

std::string closing_line(const record::RecordOutcome& outcome) {
  std::string line =
      fmt::format("recorded {}, {}{}, {} in {}", plural(outcome.processes, "process", "processes"),
                  outcome.events_exact ? "" : "over ", plural(outcome.events, "event", "events"),
                  size_text(outcome.bytes), outcome.directory.native());
  if (!outcome.why.empty()) line += fmt::format("; recording stopped early: {}", outcome.why);
  return line +
         fmt::format("; replay it with: pastcone replay {}", command_text({outcome.directory.native()}));
}

/// Ends as the command did, also by a signal: who waits for us sees no difference. The core, if any, was the
/// command's.
int end_like(int status) {
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), number);
  return 128 + number;
}

Result<int> run(const Options& given) {
  record::RecordOptions options;
  options.command = given.command;
  if (options.command.empty() || options.command.front().empty()) {
    print_error("no command to record; write: pastcone record [OPTIONS] -- COMMAND [ARGUMENTS]");
    return kUsage;
  }
  if (!given.output.empty()) options.output = given.output;
  if (!given.max_size.empty()) {
    auto size = parse_size(given.max_size);
    if (!size) {
      print_error(size.error().message);
      return kUsage;
    }
    options.max_size = *size;
  }
  options.parallel = given.threads == "parallel";
  if (options.parallel && given.no_patch) {
    print_error("--threads=parallel needs patched libraries; leave out --no-patch");
    return kUsage;
  }
  options.patch = !given.no_patch;
  options.dispatch = !given.no_dispatch;
  if (auto program = record::find_program(options.command); !program) {
    print_error(program.error().message);
    return record::refusal_status(options.command.front());
  }
  auto outcome = record::record(options);
  if (!outcome) {
    print_error(outcome.error().message);
    return kNotRun;
  }
  for (const std::string& remark : outcome->remarks) print_error(remark);
  if (!given.quiet) print_error(closing_line(*outcome));
  if (outcome->interrupted_by != 0) return 128 + outcome->interrupted_by;
  return end_like(outcome->status);
}

}  // namespace

void add_record(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& record =
      program.add("record", "runs a command and records it: record [OPTIONS] -- COMMAND [ARGUMENTS]",
                  [options] { return run(*options); });
  program.take_command(record, options->command);
  record.add_option("-o,--output", options->output, "the directory of the recording, new or empty")
      ->type_name("DIR");
  record
      .add_option("--max-size", options->max_size,
                  "stop recording at this size (500K, 64M, 2G); the command goes on")
      ->type_name("SIZE");
  record
      .add_option("--threads", options->threads,
                  "serial: one thread of a process at a time, exact for every program; parallel: by the order of locks, for "
                  "programs without data races")
      ->type_name("MODE")
      ->check(CLI::IsMember({"serial", "parallel"}));
  record.add_flag("--no-patch", options->no_patch,
                  "catch every call by Syscall User Dispatch: slow, changes no code");
  record.add_flag("--no-dispatch", options->no_dispatch,
                  "do without Syscall User Dispatch: all calls by patching");
  record.add_flag("-q,--quiet", options->quiet, "no closing line");
}

}  // namespace pastcone::cli
