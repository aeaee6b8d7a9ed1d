// A gdb for each process that somebody looks at, started when that is first done. A gdb that has died is started
// again, at the same place, with the displays and settings that it had.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/debug/imagined_call.h"
#include "pastcone/debug/inferior.h"
#include "pastcone/debug/settings.h"
#include "pastcone/gdb/gdb.h"
#include "pastcone/gdb/remote.h"

namespace pastcone::debug {

class Seats {
 public:
  /// What an expression is written in: gdb goes by the frame, which is as often one of libc; where none is meant, it is
  /// as in the program's main.
  enum class Language : uint8_t { kOfFrame, kOfMain };
  static Result<std::unique_ptr<Seats>> create(Engine& engine, Language language = Language::kOfFrame);
  ~Seats();

  /// The gdb of a process, which stands; it sees the process as it is now.
  Result<gdb::Gdb*> look_at(ThreadId thread);
  /// The process may have loaded something since the last motion began.
  void look_anew(ProcessId process);
  /// As typed at gdb's prompt. If gdb dies of it another one is started, and that is the error; if the process was
  /// moved before, what that led to is in its inferior, and take_remark() says the rest.
  /// A command that calls functions in a thread that stands in an event: as they would be called behind it. What they
  /// write is put back.
  Result<gdb::Answer> console_aside(ThreadId thread, const std::string& command);
  Result<gdb::Answer> console(ThreadId thread, const std::string& command, const std::vector<std::string>& body = {});

  struct Reply {
    bool known = false;  ///< it has a value here
    bool holds = false;
    bool called = false;  ///< functions
    std::string error;  ///< it is wrong, or must not be asked; empty: it may have a value elsewhere
    std::vector<std::pair<uint64_t, uint32_t>> reads;  ///< memory that it depends on, some of which may be constant
    Bindings bindings;  ///< that the loader has made for it
  };
  /// Whether an expression is true, where the thread stands or for other registers, without a trace (question.h).
  Result<Reply> ask(ThreadId thread, const std::string& expression, const user_regs_struct* as = nullptr);

  /// The gdb of a process, as if the thread were at this address, until end_pretending(): names are looked up there.
  Result<gdb::Gdb*> look_from(ThreadId thread, uint64_t address);
  void end_pretending(ProcessId process);

  /// The same without gdb, of an expression that calls functions; `as` has its registers.
  Result<Reply> evaluate(ThreadId thread, const gdb::Formula& formula, const user_regs_struct* as = nullptr);

  /// What gdb calls a thread of that process.
  Result<std::string> number_in_gdb(ThreadId looked_at, uint32_t thread);

  /// A convenience variable of gdb's ($NAME), in all gdbs, those to come too.
  void set_variable(const std::string& name, const std::string& value);
  /// Others whose gdbs know these variables as well; they must live as long.
  void share_variables_with(Seats& others) { sharing_ = &others; }

  /// Which frame is selected, as the user has it: if gdb dies, the next one selects it.
  void note_frame(ThreadId thread);

  std::string take_remark() { return std::exchange(remark_, {}); }

  Inferior* inferior(ProcessId process);
  /// Whether a hit is one that gdb has asked for.
  bool wants(const replay::TraceStop& stop, ThreadId thread) const;
  size_t count() const { return seats_.size(); }

 private:
  struct Seat;
  Seats(Engine& engine, Language language);
  Result<Seat*> sit(ProcessId process);
  Result<Seat*> look_once(ThreadId thread);
  void share_variable(ProcessId process, const std::string& command);
  void tell_others(ProcessId process, const Setting& setting);
  void note_setting(ProcessId process, const std::string& command, const std::vector<std::string>& body);
  Result<gdb::Gdb*> look_at_file(ProcessId process);
  Status connect(Seat& seat);
  Status open_door(Seat& seat);
  Status prepare(Seat& seat, const std::string& command);
  Status refresh(Seat& seat);
  static Result<std::string> number_in_gdb(gdb::Gdb& gdb, uint32_t thread);
  Status select(Seat& seat, uint32_t thread);
  Result<Reply> ask_once(Seat& seat, ThreadId thread, const std::string& expression, const user_regs_struct* as);

  Engine& engine_;
  const Language language_;
  std::map<ProcessId, std::unique_ptr<Seat>> seats_;
  Settings settings_;
  struct Selected {
    uint64_t motion = 0;
    ThreadId thread;
    std::string level;
  };
  std::map<ProcessId, Selected> frames_;
  std::string remark_;
  Seats* sharing_ = nullptr;
};

}  // namespace pastcone::debug
