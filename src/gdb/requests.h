// What gdb's packets ask for, and the answers, by a Target. Knows nothing of sockets.
//
// All-stop, without the multiprocess extension: one process, threads by their id. Packets that it does not
// know get the empty answer, malformed ones an error. See appendix E.2 "Packets" of gdb's manual.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pastcone/gdb/target.h"

namespace pastcone::gdb {

class Fields;

class Requests {
 public:
  /// How gdb took leave.
  enum class Leave : uint8_t { kNone, kDetached, kKilled };

  /// `stop` is why the process stands when gdb comes.
  explicit Requests(Target& target, const Stop& stop = {}) : target_(target), stop_(stop) {}

  /// The answer's data; nothing if none is due.
  std::optional<std::string> answer(std::string_view packet);

  /// gdb has asked for no more acknowledgements; from the packet after this answer on.
  bool without_acknowledgements() const { return without_acknowledgements_; }
  Leave leave() const { return leave_; }

 private:
  std::string query(std::string_view packet);
  std::string verbose(std::string_view packet);
  std::string select(Fields fields);
  std::string alive(Fields fields);
  std::string get_registers();
  std::string put_registers(Fields fields);
  std::string get_register(Fields fields);
  std::string put_register(Fields fields);
  std::string get_memory(Fields fields);
  std::string put_memory(Fields fields, bool binary);
  std::string point(Fields fields, bool insert);
  std::string resume(Fields fields);
  std::string thread_list();
  std::string thread_extra(Fields fields);
  std::string transfer(Fields fields);
  std::string symbol(Fields fields);
  std::string thread_local_address(Fields fields);
  std::string stop_reply();
  bool exists(pid_t thread);
  /// Whose registers are meant.
  pid_t thread() { return thread_ > 0 ? thread_ : target_.current(); }

  Target& target_;
  Stop stop_;
  pid_t thread_ = 0;                         ///< chosen by Hg, or that of the last stop; 0: the current one
  std::optional<uint64_t> module_id_field_;  ///< where kModuleIdField is, if gdb knows
  bool without_acknowledgements_ = false;
  Leave leave_ = Leave::kNone;
};

}  // namespace pastcone::gdb
