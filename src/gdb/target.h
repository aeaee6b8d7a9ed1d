// A process as gdb shall see it, whoever owns it: RemoteServer shows it, the owner implements it.
//
// Everything is asked while the process stands, by the thread that serves gdb.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::gdb {

/// A thread's registers, as ptrace(2) gives and takes them.
struct Registers {
  user_regs_struct general{};
  user_fpregs_struct floating{};
};

/// What can be asked to stop at; numbers are those of Z packets.
enum class PointKind : uint8_t { kBreak = 0, kHardBreak = 1, kWrite = 2, kRead = 3, kAccess = 4 };

/// Why the process stands.
struct Stop {
  pid_t thread = 0;  ///< that it is about; 0: the current one
  int signal = 5;    ///< as Linux numbers it
  std::optional<PointKind>
      point;                 ///< it hit one that gdb has asked for. rip is then the breakpoint's own address
  uint64_t address = 0;      ///< of a watchpoint's memory
  std::optional<int> ended;  ///< the process is gone: as from waitpid
};

/// How one thread, or all the others, shall go on.
struct Resume {
  enum class Kind : uint8_t { kContinue, kStep, kRange, kStay };
  Kind kind = Kind::kContinue;
  pid_t thread = 0;             ///< 0: all that no other one names
  uint64_t begin = 0, end = 0;  ///< kRange: step while rip is in [begin, end)
  int signal = 0;               ///< Linux number to deliver, 0: none
};

class Target {
 public:
  virtual ~Target() = default;

  virtual std::vector<pid_t> threads() = 0;
  virtual pid_t current() = 0;                        ///< the one to show first
  virtual std::string thread_name(pid_t thread) = 0;  ///< "p2.1", shown by `info threads`
  virtual Result<Registers> registers(pid_t thread) = 0;
  virtual Status set_registers(pid_t thread, const Registers& registers) = 0;
  /// May give less than asked for. Bytes are the program's own: no inserted breakpoint is seen in them.
  virtual Result<std::vector<uint8_t>> read(uint64_t address, size_t size) = 0;
  virtual Status write(uint64_t address, ByteView bytes) = 0;
  virtual Status insert(PointKind kind, uint64_t address, uint32_t size) = 0;
  virtual Status remove(PointKind kind, uint64_t address, uint32_t size) = 0;
  /// Returns when it stands again. gdb says which threads by the first of `how` that fits; one that none fits
  /// stays.
  virtual Stop resume(const std::vector<Resume>& how) = 0;
  virtual std::vector<uint8_t> auxv() = 0;
  virtual Path program() = 0;
  virtual pid_t process() = 0;
  /// Variables of a thread were asked for that it does not have yet; all other errors about them are for good.
  virtual void miss_thread_storage() {}
};

}  // namespace pastcone::gdb
