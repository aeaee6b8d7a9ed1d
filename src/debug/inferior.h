// A replayed process as gdb sees it: with the program's registers while the runtime has a thread, without the
// runtime's code on the way, and moved by the engine, which moves the others as far as needed.
#pragma once

#include <set>
#include <tuple>

#include "pastcone/debug/engine.h"
#include "pastcone/debug/question.h"
#include "pastcone/gdb/target.h"

namespace pastcone::debug {

class Inferior : public gdb::Target {
 public:
  Inferior(Engine& engine, ProcessId process) : engine_(engine), process_(process) {}

  std::vector<pid_t> threads() override;
  pid_t current() override;
  std::string thread_name(pid_t thread) override;
  Result<gdb::Registers> registers(pid_t thread) override;
  Status set_registers(pid_t thread, const gdb::Registers& registers) override;
  Result<std::vector<uint8_t>> read(uint64_t address, size_t size) override;
  Status write(uint64_t address, ByteView bytes) override;
  Status insert(gdb::PointKind kind, uint64_t address, uint32_t size) override;
  Status remove(gdb::PointKind kind, uint64_t address, uint32_t size) override;
  gdb::Stop resume(const std::vector<gdb::Resume>& how) override;
  std::vector<uint8_t> auxv() override;
  Path program() override;
  void miss_thread_storage() override { misses_storage_ = true; }
  pid_t process() override { return engine_.now().pid(process_); }

  /// Whose hits are gdb's own.
  bool has_break(uint64_t address) const;
  bool has_watch(uint64_t address) const;

  /// While it is held gdb's commands do not move it: it has stopped at once, where it was.
  void hold(bool held) { held_ = held; }

  void look_at(uint32_t thread) { current_ = thread; }
  /// gdb asks for them anew.
  void forget_points();
  /// What the last resume ended in.
  const std::optional<Result<Rest>>& rest() const { return rest_; }
  void begin_command() { rest_.reset(), call_.reset(), own_ = false; }
  /// A new gdb looks at what the last one has resumed.
  void set_rest(std::optional<Result<Rest>> rest) { rest_ = std::move(rest); }
  /// It was where gdb had wanted it to stop, and there alone.
  bool own() const { return own_; }
  /// What gdb had changed is undone.
  void forget_changes() { changed_ = false; }
  /// gdb has changed memory or registers.
  bool changed() const { return changed_; }
  /// gdb was calling a function, and that cannot go on: the process is not what it was.
  bool call_failed() const { return call_ && call_->failed; }

  /// What gdb does from now on is for a question, until there is none any more.
  void begin_question(ThreadId thread, const user_regs_struct* as) {
    end_question();
    misses_storage_ = false;
    question_.emplace(engine_.now(), thread, as);
  }
  void end_question() { question_.reset(); }
  Question& question() { return *question_; }
  /// In it gdb asked for variables of a thread that are not there yet.
  bool misses_storage() const { return misses_storage_; }

 private:
  ThreadId id_of(pid_t thread) const { return ThreadId(process_, static_cast<uint32_t>(thread)); }
  Result<Rest> step(ThreadId thread, const gdb::Resume& how);
  uint64_t seen_outside(ThreadId thread);
  void note_registers(ThreadId thread, const user_regs_struct& before, const user_regs_struct& after);
  gdb::Stop answer_question();
  bool calls();
  bool is_own(const Result<Rest>& rest) const;
  gdb::Stop stop_of(ThreadId thread, const Result<Rest>& rest);

  Engine& engine_;
  ProcessId process_;
  uint32_t current_ = 1;
  std::set<std::tuple<gdb::PointKind, uint64_t, uint32_t>> points_;
  std::optional<Result<Rest>> rest_;
  bool changed_ = false, own_ = false, held_ = false, misses_storage_ = false;
  /// A function that gdb calls: it puts the thread there, and back where it was afterwards.
  struct Call {
    ThreadId thread;
    user_regs_struct from;
    Incarnation::Way way;
    bool failed = false;
  };
  std::optional<Call> call_;
  std::optional<Question> question_;
};

}  // namespace pastcone::debug
