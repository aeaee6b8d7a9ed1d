// Signals. The kernel's handlers are ours and only queue; the program's handlers run at recorded points, on frames that we
// build as the kernel would. See signals.cc.
#pragma once

#include "frame.h"
#include "sys.h"

namespace pastcone::runtime {

struct Thread;

struct SignalInfo {
  i32 signal, error, code, pad;
  u64 rest[14];
};
static_assert(sizeof(SignalInfo) == 128);

struct KernelAction {
  u64 handler, flags, restorer, mask;
};

struct SignalActions {
  KernelAction of[65];
};

struct ThreadSignals {
  u64 mask;                 ///< the program's
  u64 captured;             ///< taken from the kernel, not yet delivered; blocked there meanwhile
  u64 saved_mask;           ///< sigsuspend and the like: what a handler's frame restores
  bool saved_mask_valid;
  u64 altstack, altstack_size;
  u32 altstack_flags;
  SignalInfo info[65];
  // a synchronous fault, on its way from the kernel's handler to fault_entry
  Frame fault_frame;
  SignalInfo fault_info;
  u64 fault_error, fault_trap, fault_address;
  // replay: see absent_pages.h
  u64 absent_page, absent_access;
  SignalInfo foretold;
};

inline constexpr u64 signal_bit(int signal) { return u64{1} << (signal - 1); }

inline constexpr u64 kNeverBlocked = signal_bit(9) | signal_bit(19);

/// Another mask for the time of one call; see waiting.cc.
class TemporaryMask {
 public:
  TemporaryMask(Thread& t, u64 mask_address);
  void leave();
  void leave_replay();

 private:
  Thread& t_;
  bool active_ = false;
};

u64 kernel_ignored();                          ///< record: signals that are ignored as the image begins
u64 kernel_mask();
void install_fault_handlers();                 ///< before anything of the program's memory is touched
void set_up_signals(Thread& thread, u64 ignored, u64 blocked);
bool signal_is_next(Thread& t);  ///< replay: a handler runs before anything else happens
void apply_action(int signal, u64 handler, u64 flags);  ///< record: as the program wants it, as far as it is the kernel's
[[noreturn]] void die_of(int signal);          ///< as if we had never been there
void clear_interrupt(Thread& thread);          ///< nothing is due: calls may sleep again
void sync_kernel_mask(Thread& thread);         ///< tells the kernel the program's mask (and what is captured)
/// On the way out of a call: lets handlers run that are due. frame.rax is the call's result.
void deliver_signals(Thread& thread, Frame& frame);

}  // namespace pastcone::runtime
