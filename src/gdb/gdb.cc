#include "pastcone/gdb/gdb.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "pastcone/gdb/spawn.h"

namespace pastcone::gdb {
namespace {

// Older gdbs lack some: what they refuse does not matter.
constexpr const char* kSettings[] = {
    "set confirm off",
    "set pagination off",
    "set width 0",
    "set height 0",
    "set style enabled off",
    "set debuginfod enabled off",
    "set sysroot /",
    "set remotetimeout 1000000",
    "set history save off",
    "set unwindonsignal on",
    // Of code it is shown what the files have, not what has been patched into them.
    "set trust-readonly-sections on",
    "set print thread-events off",
    "set print inferior-events off",
    "set python print-stack message",
    // A fault of gdb's own (a 128-bit integer in an agent expression is one) fails the command and nothing
    // else.
    "maint set internal-error quit no",
    "maint set internal-error corefile no",
    "maint set internal-warning quit no",
    "maint set internal-warning corefile no",
};

/// gdb wants a line more: ">", further right within while and if.
bool asks_for_line(const Record& record) {
  if (record.kind != RecordKind::kConsole || !record.text.ends_with('>')) return false;
  return record.text.find_first_not_of(' ') == record.text.size() - 1;
}

/// "28\t./printf.c: No such file or directory.", instead of the line: gdb has it among its errors, though its
/// command went well.
bool shows_no_source(const std::string& text) {
  size_t tab = text.find_first_not_of("0123456789");
  return tab != 0 && tab != std::string::npos && text[tab] == '\t' && text.ends_with(".\n");
}

bool ends_line(char c) { return c == '\n' || c == '\r' || c == '\0'; }

/// A command that had gone on already fails: the connection is lost, a script's second command is wrong.
Stopped failure(const Record& record) {
  Value reason, both;
  reason.text = "error";
  both.kind = Value::Kind::kTuple;
  both.items = {{"reason", std::move(reason)}, {"msg", record.results["msg"]}};
  return {std::move(both), {}};
}

Answer answer_of(Record&& record, Answer&& so_far) {
  Answer answer = std::move(so_far);
  answer.good = record.name != "error";
  answer.running = record.name == "running";
  if (!answer.good) answer.error = record.results["msg"].text;
  if (!answer.good && answer.error.empty()) answer.error = "gdb gave no reason";
  answer.results = std::move(record.results);
  return answer;
}

}  // namespace

Result<std::unique_ptr<Gdb>> Gdb::start() {
  auto path = TRY(find_gdb());
  auto spawned = TRY(spawn_gdb(path));
  std::unique_ptr<Gdb> gdb(new Gdb);
  gdb->pid_ = spawned.pid;
  gdb->in_ = std::move(spawned.in);
  gdb->out_ = std::move(spawned.out);
  gdb->process_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, gdb->pid_, 0)));
  TRY_STATUS(gdb->set_up());
  return gdb;
}

Gdb::~Gdb() { reap(); }

// With what it has started (shell commands) while it is still ours to name.
void Gdb::reap() {
  if (pid_ < 0 || reaped_) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // before its setsid() there is no such group
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

Status Gdb::set_up() {
  for (const char* setting : kSettings) TRY(console(setting));
  return {};
}

void Gdb::serve(Source source) { sources_.push_back(std::move(source)); }

Result<Answer> Gdb::run(const std::string& command) {
  std::string line = command;
  std::replace_if(line.begin(), line.end(), ends_line, ' ');
  uint64_t token = ++tokens_;
  stopped_.reset();
  interrupted_at_.reset();
  TRY_STATUS(send(fmt::format("{}{}\n", token, line)));
  Answer answer;
  TRY_STATUS(await(token, answer, patience_));
  return answer;
}

Result<Answer> Gdb::console(const std::string& command, const std::vector<std::string>& body) {
  body_.assign(body.rbegin(), body.rend());
  Answer answer = TRY(run("-interpreter-exec console " + c_string(command)));
  if (!answer.running && !unsettled_) return answer;
  // gdb reads its next command when all that is over: a script may resume several times, `attach` answers
  // before the stop, and of what goes wrong while the process runs gdb tells no stop at all.
  uint64_t token = ++tokens_;
  TRY_STATUS(send(fmt::format("{}-gdb-show confirm\n", token)));
  Answer rest;
  TRY_STATUS(await(token, rest, -1));
  bool lost = answer.running && !stopped_;
  Stopped stopped = lost ? Stopped() : stopped_.value_or(Stopped());
  stopped_.reset();
  unsettled_ = false;
  answer.console += rest.console;
  answer.log += rest.log;
  answer.running = false;
  if (lost) {
    answer.good = false;
    answer.error = rest.log.substr(0, rest.log.find('\n'));
  }
  if (stopped.record["reason"].text == "error") {
    answer.good = false;
    answer.error = stopped.record["msg"].text;
  }
  answer.results = std::move(stopped.record);
  return answer;
}

Result<Stopped> Gdb::wait_stop() {
  std::string console;
  while (!stopped_) {
    Record record = TRY(next_record(-1));
    TRY_STATUS(note(record, console, nullptr));
  }
  Stopped stopped = std::move(*stopped_);
  stopped_.reset();
  stopped.console = std::move(console);
  return stopped;
}

Result<std::string> Gdb::frame_text() {
  Answer answer = TRY(console("frame"));
  return answer.good ? answer.console : answer.error + "\n";
}

Result<std::vector<std::string>> Gdb::complete(const std::string& line) {
  Answer answer = TRY(run("-complete " + c_string(line)));
  std::vector<std::string> matches;
  for (const auto& [name, match] : answer.results["matches"].items) matches.push_back(match.text);
  return matches;
}

void Gdb::interrupt() const {
  if (reaped_) return;
  kill(-pid_, SIGINT);   // with a shell command that it waits for
  kill(-pid_, SIGCONT);  // should somebody have stopped it
}

bool Gdb::alive() {
  siginfo_t info{};
  return !reaped_ && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

Status Gdb::await(uint64_t token, Answer& answer, int patience) {
  for (;;) {
    Record record = TRY(next_record(patience));
    if (record.kind == RecordKind::kResult && record.token == token) {
      answer = answer_of(std::move(record), std::move(answer));
      return {};
    }
    TRY_STATUS(note(record, answer.console, &answer.log));
  }
}

Status Gdb::note(Record& record, std::string& console, std::string* log) {
  switch (record.kind) {
    case RecordKind::kLog:
      if (shows_no_source(record.text)) console += no_source_ = record.text;
      if (log) *log += record.text;
      return {};
    case RecordKind::kConsole:
      if (asks_for_line(record)) return answer_prompt();
      [[fallthrough]];
    case RecordKind::kTarget:
    case RecordKind::kText:
      // An address, whose line was told among the errors before it.
      if (record.text.ends_with('\t') && !no_source_.empty() && console.ends_with(no_source_)) {
        console.insert(console.size() - no_source_.size(), record.text);
      } else {
        console += record.text;
      }
      return {};
    case RecordKind::kExec:
      unsettled_ = record.name == "running";
      if (record.name == "stopped") stopped_ = Stopped{std::move(record.results), {}};
      return {};
    case RecordKind::kNotify:
      unsettled_ = unsettled_ || record.name == "thread-group-started";
      return {};
    case RecordKind::kResult:
      if (record.name == "error") stopped_ = failure(record);
      return {};
    default:
      return {};
  }
}

Status Gdb::answer_prompt() {
  std::string lines;
  do {  // behind a backslash gdb reads on without asking
    std::string line = "end";
    if (!body_.empty()) {
      line = std::move(body_.back());
      body_.pop_back();
    }
    std::replace_if(line.begin(), line.end(), ends_line, ' ');
    lines += line + '\n';
  } while (lines.ends_with("\\\n"));
  return send(lines);
}

}  // namespace pastcone::gdb
