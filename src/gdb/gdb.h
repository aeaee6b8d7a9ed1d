// A gdb that is driven over MI. It is our child, in a session of its own (a terminal's Ctrl-C does not reach
// it), and it ends with us.
//
// One thread: whoever waits for gdb here also serves other descriptors, because the process that gdb looks at
// is shown to it by us (gdb's remote protocol), and gdb's answer may need ours. A Source's function must not
// call this Gdb, except for interrupt().
//
// An Error means that gdb itself is gone (died, was killed, closed its output) or silent for longer than its
// patience; then this object is of no more use, and a new one may be started. What gdb refuses is an Answer
// with good == false and gdb's text.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/gdb/value.h"

namespace pastcone::gdb {

/// A descriptor that is served while gdb is waited for. readable() is called when it can be read or has been
/// closed; false: it is forgotten.
struct Source {
  int fd = -1;
  std::function<bool()> readable;
};

struct Answer {
  bool good = true;
  bool running = false;  ///< ^running: wait_stop() comes next (console() has done that itself)
  std::string error;     ///< if not good: gdb's own text
  Value results;
  std::string console;  ///< what a user of gdb would have seen (~ and @, and lines that are no records)
  std::string log;      ///< & apart: repeats errors
};

struct Stopped {
  Value record;  ///< reason, frame, thread-id, …; for a command that failed while it ran, reason="error" and
                 ///< msg
  std::string
      console;  ///< empty after -exec-next and the like: gdb prints a stop only for its console's commands
};

class Gdb {
 public:
  /// Finds gdb ($PASTCONE_GDB, or gdb in $PATH) and starts it, with a quiet set-up; without a program.
  static Result<std::unique_ptr<Gdb>> start();
  ~Gdb();
  Gdb(const Gdb&) = delete;
  Gdb& operator=(const Gdb&) = delete;

  /// From now on polled while waiting.
  void serve(Source source);

  /// An MI command, waits for its result. After Answer::running the process runs, or has stopped already:
  /// wait_stop().
  Result<Answer> run(const std::string& command);

  /// A command as typed at gdb's own prompt. One that resumes (next, finish, until, a script of them) is
  /// waited for until it has stopped, and all text up to then returned. One that asks for more lines (define,
  /// commands, while, python) gets those of `body`, then `end`.
  Result<Answer> console(const std::string& command, const std::vector<std::string>& body = {});

  /// After ^running: until the process has stopped. No patience here: a run may take its time.
  Result<Stopped> wait_stop();

  /// The frame selected, as gdb prints it: "#0  main () at x.c:3\n3\t…\n". Without one: gdb's reason.
  Result<std::string> frame_text();

  /// The lines that `line` may be completed to, at most 200.
  Result<std::vector<std::string>> complete(const std::string& line);

  /// Like Ctrl-C at gdb's terminal: stops the process that runs, or the command. May be called by a Source,
  /// and by a signal handler.
  void interrupt() const;

  /// Whether the user wants to interrupt what is done now. A command that does not end soon then gets a Ctrl-C; and if
  /// that does not end it either, gdb is killed.
  void set_interrupted(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }

  bool alive();
  pid_t pid() const { return pid_; }
  /// How long gdb may say nothing, with no Source active either, before it counts as silent; -1: for ever.
  /// 300 s at first.
  void set_patience(int milliseconds) { patience_ = milliseconds; }

 private:
  Gdb() = default;
  Status set_up();
  Status send(const std::string& line);
  /// The next line that gdb writes; serves the sources meanwhile.
  Result<Record> next_record(int patience);
  std::optional<Record> buffered_record();
  Status wait_for_more(int patience);
  /// Waits for one of them, for so long (ms; -1: for ever). As poll(2), and 0 too if it was interrupted.
  Result<int> poll_all(std::vector<pollfd>& fds, int patience);
  Status pass_on_interrupt();
  void serve_ready(int fd);
  /// Until the result of the command with this token; text goes to `answer`.
  Status await(uint64_t token, Answer& answer, int patience);
  /// A record that is no awaited result.
  Status note(Record& record, std::string& console, std::string* log);
  Status answer_prompt();
  tl::unexpected<Error> ended();
  void reap();

  pid_t pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;  ///< of waitpid, once reaped
  UniqueFd in_;     ///< a socket, so that writing to a dead gdb is no SIGPIPE
  UniqueFd out_;
  UniqueFd process_;  ///< a pidfd
  std::string buffer_;
  size_t parsed_ = 0;    ///< of buffer_
  size_t searched_ = 0;  ///< of buffer_, for an end of line
  std::vector<Source> sources_;
  std::optional<Stopped> stopped_;  ///< since the last command was sent
  std::string no_source_;           ///< what gdb said last instead of a line
  std::vector<std::string> body_;   ///< lines for a command that asks for them, last first
  uint64_t tokens_ = 0;
  bool unsettled_ = false;  ///< a process has come or gone on, and has not stopped yet
  int patience_ = 300'000;
  std::function<bool()> interrupted_;
  std::optional<std::chrono::steady_clock::time_point> interrupted_at_;
  int interrupts_sent_ = 0;
};

}  // namespace pastcone::gdb
