// A gdb for each process that somebody looks at, started when that is first done. A gdb that has died is started
// again, at the same place.
#pragma once

#include <map>
#include <memory>

#include "pastcone/base/files.h"
#include "pastcone/debug/inferior.h"
#include "pastcone/gdb/gdb.h"
#include "pastcone/gdb/remote.h"

namespace pastcone::debug {

class Seats {
 public:
  static Result<std::unique_ptr<Seats>> create(Engine& engine);
  ~Seats();

  /// The gdb of a process, which stands; it sees the process as it is now.
  Result<gdb::Gdb*> look_at(ThreadId thread);
  /// As typed at gdb's prompt; if gdb dies of it another one is started, and that is the error.
  Result<gdb::Answer> console(ThreadId thread, const std::string& command);

  /// Without looking at the process, which may be gone. Nothing if there is no gdb for it.
  Result<gdb::Answer> tell(ProcessId process, const std::string& command);

  /// The thread of the process that gdb has given this number.
  Result<uint32_t> thread_numbered(ThreadId looked_at, int64_t number);

  Inferior* inferior(ProcessId process);
  /// Whether a hit is one that gdb has asked for.
  bool wants(const replay::TraceStop& stop, ThreadId thread) const;
  size_t count() const { return seats_.size(); }

 private:
  struct Seat;
  explicit Seats(Engine& engine);
  Result<Seat*> sit(ProcessId process);
  Status connect(Seat& seat);
  Status open_door(Seat& seat);
  static void close_door(Seat& seat);
  Status refresh(Seat& seat);
  Status select(Seat& seat, uint32_t thread);

  Engine& engine_;
  std::map<ProcessId, std::unique_ptr<Seat>> seats_;
};

}  // namespace pastcone::debug
