// One system call of the program, on its way through the runtime.
//
// A call's description says what goes in and what comes out, once, for both modes: `ins` names the bytes that the program
// hands over (they are hashed, and compared in replay), `outs` the memory that the kernel fills (it is stored, and filled
// again in replay). Calls that need more have a handler of their own, built from the same pieces.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

struct CallInfo;

struct Call {
  Thread& t;
  Frame& frame;
  u32 number;
  const CallInfo& info;
  u64 a[6];
  bool multiple = false;  ///< recvmmsg on something that is not a channel: all its messages count

  Log& log() { return t.log; }
  i64 fd() const { return (i32)a[0]; }
};

/// What `outs` works on: copies memory into the log, or the log into memory.
class Exchange {
 public:
  Exchange(Call& c, bool replay, const char* bytes, u64 size) : c_(c), replay_(replay), bytes_(bytes), left_(size) {}
  void out(u64 address, u64 n);
  void rest(u64 address, u64 n) { out(address, replay_ ? left_ : n); }  ///< replay: as many as there are
  Call& call() { return c_; }
  u64 count() const { return count_; }  ///< record: bytes stored; replay: bytes that were wanted
  bool short_of_bytes() const { return short_; }

 private:
  Call& c_;
  bool replay_;
  const char* bytes_;
  u64 left_;
  u64 count_ = 0;
  bool short_ = false;
};

/// What `ins` works on: adds memory of the program to the thread's hash. Memory that is not there counts as nothing.
class Ins {
 public:
  explicit Ins(Hash& hash) : hash_(hash) {}
  void bytes(u64 address, u64 n);
  void string(u64 address);
  void number(u64 value) { hash_.mix(value); }

 private:
  Hash& hash_;
};

enum class Kind : u8 {
  kUnsupported = 0,
  kLogged,    ///< result and outputs from the log
  kBlocking,  ///< the same; may sleep, so the turn is given up meanwhile
  kNative,    ///< executed in both modes, result compared
  kDeclined,  ///< -ENOSYS: programs fall back
  kDenied,    ///< the same, and `record` says so
  kCustom,
};

using InsFunction = void (*)(Ins& ins, const u64* a);
using OutsFunction = void (*)(Exchange& x, const u64* a, long result);
using Handler = long (*)(Call& c);

struct CallInfo {
  Kind kind;
  u8 arguments;
  InsFunction ins;
  OutsFunction outs;
  Handler handler;
};
extern const CallInfo* const call_table;
inline constexpr u32 kCallCount = 480;
const char* call_name(u32 number);

// --- pieces for handlers ---------------------------------------------------------------------------------------------

/// Hashes number, arguments and ins. First thing in every call.
void hash_call(Call& c);

/// The call itself, with the program's arguments.
long raw(Call& c);
/// The same where it may sleep: gives up the turn, and can be interrupted (-EINTR) by queued signals.
long raw_blocking(Call& c);
/// runtime_blocking; Thread::not_begun says whether an -EINTR is ours.
long may_sleep(Thread& t, long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
long blocking(Thread& t, long nr, u64 a = 0, u64 b = 0, u64 c = 0, u64 d = 0, u64 e = 0, u64 f = 0);

/// Record: writes the call with shape kResult or kOut (if outs is given and applies).
void record_result(Call& c, long result, OutsFunction outs = nullptr);
/// Replay: reads it back. Never returns if the log has something else: divergence or end of recording.
long replay_result(Call& c, OutsFunction outs = nullptr);
/// The rest of it, once expect_item has found shape kOut.
long finish_out(Call& c, OutsFunction outs);
/// Either of them around a call that is simply logged.
long logged(Call& c, long (*execute)(Call&), OutsFunction outs);

/// Record: begins an item for this call in this shape. The fields follow, then finish_item().
void begin_item(Call& c, Shape shape);
void finish_item(Call& c);
/// Replay: the next item must be this call in one of the shapes (bit mask by 1 << shape); returns its shape, fields unread.
Shape expect_item(Call& c, u32 shapes);
/// After the fields: compares the check byte.
void expect_check(Call& c);

/// Replay: kCorrect follows? Then its result, else `predicted`.
long corrected(Call& c, long predicted);
/// The same without reading it.
long peek_correction(Call& c, long predicted);
void record_correction(Call& c, long result);

/// Safe access to the program's memory; false: it is not there.
bool read_memory(void* to, u64 from, u64 n);
bool write_memory(u64 to, const void* from, u64 n);
template <typename T>
bool read_memory(T& to, u64 from) { return read_memory(&to, from, sizeof(T)); }
/// Length of a string of the program, at most `limit`; -1: not there.
i64 string_length(u64 address, u64 limit);

/// A sleeping call came back with -EINTR: what the program is to see, given the signals that are due.
long interrupted(Call& c);
void take_turn_before(Thread& t);
void take_turn_behind(Thread& t);

inline constexpr long kRestart = -512;        ///< -ERESTARTSYS: interrupted, to be executed again unless a handler says EINTR
inline constexpr long kRestartAlways = -513;  ///< -ERESTARTNOINTR: the same, whatever the handler says
inline constexpr long kNotBegun = -513;       ///< of runtime_blocking: there was a signal already
inline bool is_restart(long result) { return result == kRestart || result == kRestartAlways; }

/// Record: the process goes on, its recording ends here.
void go_unrecorded(Thread& t, format::StopReason reason, const char* why);
/// The same in a call, which is then made; in replay the end of the log.
long leave_recording(Call& c, format::StopReason reason, const char* why);
/// Record: what `record` should say about the process in the end; the first counts.
void remark(Thread& t, const char* what, const char* more);

// --- replay ------------------------------------------------------------------------------------------------------------
using stage::Cause;

/// Reports that this thread went another way than recorded, and ends the process.
[[noreturn]] void diverge(Thread& t, Cause cause, const char* what);
[[noreturn]] void diverge(Thread& t, Cause cause, const char* what, const char* recorded, const char* now);
[[noreturn]] void diverge(Thread& t, Cause cause, const char* what, i64 recorded, i64 now, const char* detail = nullptr);
/// The same where the log has this op instead of what the thread does.
const char* op_name(Op op);
[[noreturn]] void diverge_at(Thread& t, Op recorded, const char* now);
/// The thread's log is used up: it ends here, as in the recording.
/// `lock`: what it was about to take, in parallel mode.
[[noreturn]] void end_of_log(Thread& t, u64 lock = 0);

}  // namespace pastcone::runtime
