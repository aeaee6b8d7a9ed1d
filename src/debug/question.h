// A question that gdb answers about a thread without leaving a trace: what the answer depends on is noted,
// and what was changed on the way is put back. A function that is called goes step by step, so that both are
// known of it too; nothing that is recorded may happen in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/debug/imagined_call.h"
#include "pastcone/debug/incarnation.h"
#include "pastcone/gdb/formula.h"
#include "pastcone/gdb/target.h"

namespace pastcone::debug {

class Question {
 public:
  /// The process stands. `as`: the thread is shown with these registers; none: with those that it has.
  Question(Incarnation& run, ThreadId thread, const user_regs_struct* as);
  /// Puts all back.
  ~Question();
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  ThreadId thread() const { return thread_; }

  /// The literals of an expression in the memory of the process: it needs no malloc for them.
  Result<std::string> with_strings(const std::string& expression);

  /// Calls a function without gdb; several, one after the other. Error: see failure().
  Result<gdb::Number> call(const gdb::FunctionCall& call, const std::function<bool()>& interrupted);

  // What gdb does.
  Result<gdb::Registers> registers();
  Status set_registers(const gdb::Registers& registers);
  void note_read(uint64_t address, size_t size);
  Status write(uint64_t address, ByteView bytes);
  void insert(uint64_t address) { breaks_.insert(address); }
  void remove(uint64_t address) { breaks_.erase(address); }
  /// It goes on from where it was put, to a breakpoint; false: it cannot, see failure(). `interrupted` is
  /// asked now and then.
  bool follow(const std::function<bool()>& interrupted);

  bool called() const { return called_; }
  const std::string& failure() const { return failure_; }
  /// The function cannot be called here, and may be elsewhere.
  bool crashed() const { return crashed_; }
  /// Memory that may change and was read: address, size.
  const std::vector<std::pair<uint64_t, uint32_t>>& reads() const { return reads_; }
  void forget_reads() { reads_.clear(); }
  /// That the loader has made on the way.
  const Bindings& bindings() const { return bindings_; }

 private:
  bool step();
  bool execute(std::span<const uint8_t> code);
  bool show_registers();
  std::span<const uint8_t> next_code();
  bool fail_with(std::string reason);
  bool crash(std::string reason);
  bool is_own_stack(uint64_t address) const;
  void note_binding();
  Status save();
  Result<uint64_t> put(const std::string& text);
  Status place(const gdb::FunctionCall& call, gdb::Registers& registers);

  Incarnation& run_;
  ThreadId thread_;
  Incarnation::Way way_;
  std::optional<user_regs_struct> shown_;  ///< until gdb sets others
  std::optional<user_regs_struct> registers_;
  std::optional<gdb::Registers> start_;  ///< of all calls
  std::vector<uint8_t> extended_;
  uint64_t signals_ = 0;                                           ///< that were blocked
  bool seen_ = false;                                              ///< the breakpoint where it stood
  std::vector<std::pair<uint64_t, std::vector<uint8_t>>> memory_;  ///< as it was, in the order of changes
  std::vector<std::pair<uint64_t, uint32_t>> reads_;
  std::set<uint64_t> breaks_;
  uint64_t bottom_ = 0;              ///< of the stack, as it is shown: nothing of the program is below
  uint64_t stack_ = 0, lowest_ = 0;  ///< between them is what the called function has used of it
  uint64_t scratch_ = 0, scratch_used_ = 0;
  uint64_t steps_ = 0;
  user_regs_struct now_{};                         ///< of a function that is called
  bool ahead_ = false;                             ///< the thread does not have them yet
  std::map<uint64_t, std::vector<uint8_t>> code_;  ///< pages of it
  std::string failure_;
  bool crashed_ = false, called_ = false;
  LoaderEntry loader_;
  struct Search {
    uint64_t stack;
    Bindings::key_type what;
    bool jumps;  ///< it is about to go on to what it has found
  };
  std::optional<Search> search_;  ///< that the loader makes: what it reads for that does not matter
  Bindings bindings_;
};

}  // namespace pastcone::debug
