// The frame a handler runs on: what the kernel would have built, with the program's registers and vector state.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

struct KernelContext {
  u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags;
  u16 cs, gs, fs, ss;
  u64 error, trap, old_mask, cr2, floating;
  u64 reserved[8];
};
static_assert(sizeof(KernelContext) == 256);

struct KernelFrame {  // the kernel's struct ucontext
  u64 flags, link;
  u64 stack, stack_flags, stack_size;
  KernelContext context;
  u64 mask;
};
static_assert(sizeof(KernelFrame) == 304);

/// Is the thread inside the runtime, by its instruction or its stack (the vDSO, called by us)?
inline bool in_runtime(u64 rip) { return rip >= (u64)runtime_text_begin && rip < (u64)runtime_text_end; }
inline bool on_runtime_stack(u64 rsp) { return rsp >= kSlotsBase && rsp < kSlotsBase + 65536 * kSlotSize; }
/// The registers of an interrupted thread, all of them live.
inline void to_frame(Frame& frame, const KernelContext& k) {
  frame = Frame{k.r15, k.r14, k.r13, k.r12, k.rbp, k.rbx, k.r11, k.r10, k.r9, k.r8, k.rax, k.rcx, k.rdx, k.rsi, k.rdi,
                0, 1, k.rip, k.flags, k.rsp};
}

struct FaultState {
  u64 error, trap, address;
};

/// Pushes a frame and points `frame` at the handler. False: there is no memory for it.
bool build_signal_frame(Thread& t, Frame& frame, int signal, const SignalInfo& info, const KernelAction& action,
                        u64 old_mask, const FaultState* fault);
/// The handler returned: all registers, and the mask, as its frame says.
bool restore_signal_frame(Thread& t, Frame& frame);

/// glibc's setcontext is about to set a context's mask, which lies there, and then its registers. If it is that of a handler, it
/// goes on where the interrupted call does, not at the instruction that was shown, in whose place is a jump.
void prepare_setcontext(const Frame& frame, u64 mask);

void report_own_fault(Thread& t, int signal, u64 rip, u64 address);

}  // namespace pastcone::runtime
