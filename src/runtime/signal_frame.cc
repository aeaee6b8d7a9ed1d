#include "signal_frame.h"

#include "async.h"
#include "call.h"
#include "pastcone/patch/abi.h"
#include "pastcone/patch/thread_abi.h"
#include "text.h"

namespace pastcone::runtime {
namespace {

struct UserFrame {
  u64 return_address;
  KernelFrame context;
  SignalInfo info;
};
constexpr u64 kFlagsOfContext = 7;  // extended state, ss valid, strict ss
constexpr u32 kMagic1 = 0x46505853, kMagic2 = 0x46505845;
constexpr u64 kTrapFlag = 0x100;
constexpr u64 kSoftwareArea = 464;  // of the legacy state: how the kernel says how much follows

void save_vectors(u64 at) {
  asm volatile("xsave64 (%0)" : : "r"(at), "a"((u32)g.xsave_mask), "d"((u32)(g.xsave_mask >> 32)) : "memory");
}
void load_vectors(u64 at) {
  asm volatile("xrstor64 (%0)" : : "r"(at), "a"((u32)g.xsave_mask), "d"((u32)(g.xsave_mask >> 32)) : "memory");
}

bool is_there(u64 from, u64 to) {
  for (u64 page = page_down(from); page < to; page += kPage) {
    u64 at = max(page, from);
    char byte;
    if (!read_memory(&byte, at, 1) || !write_memory(at, &byte, 1)) return false;
  }
  return true;
}

/// What the context of a handler has beside the kernel's: the program sees an instruction of its own library there, which it can
/// unwind from, and not the trampoline that stands for it, or the way into the runtime to which a restarted call returns.
enum Reserved { kShown = CONTEXT_SHOWN, kMeant = CONTEXT_MEANT };

/// Behind the instruction, given where its trampoline goes on.
u64 behind_call(u64 rip) {
  struct { u32 mark; i32 distance; } note{};
  bool moved = is_trampoline(rip - sizeof note) && read_memory(note, rip - sizeof note) && note.mark == patch::kReturnMark;
  return moved ? rip + (u64)(i64)note.distance : rip;
}

u64 shown_rip(const Frame& frame) {
  if (frame.rip == (u64)runtime_entry_syscall) return behind_call(frame.rcx) - 2;  // the instruction itself
  return behind_call(frame.rip);
}

}  // namespace

namespace {
/// Inside a hooked function the stack is not the same in both modes: below all of it.
u64 place_of_frame(Thread& t, const Frame& frame) {
  constexpr u64 kRoom = 4096, kNear = 1 << 15;
  u64 below = t.hook_frame - kRoom;
  return t.inside && frame.rsp > below && frame.rsp - below < kNear ? below : frame.rsp;
}
}  // namespace

bool build_signal_frame(Thread& t, Frame& frame, int signal, const SignalInfo& info, const KernelAction& action,
                        u64 old_mask, const FaultState* fault) {
  auto& s = t.signals;
  bool on_altstack = s.altstack && frame.rsp - s.altstack <= s.altstack_size;
  u64 at = place_of_frame(t, frame) - 128;
  if ((action.flags & 0x08000000) && s.altstack && !on_altstack) at = s.altstack + s.altstack_size;
  at -= g.xsave_size + 4;
  at &= ~u64{63};
  u64 vectors = at;
  at = ((at - sizeof(UserFrame)) & ~u64{15}) - 8;
  // Downwards, as a growing stack wants it.
  if (!is_there(at, vectors + g.xsave_size + 4)) return false;

  memset((void*)(vectors + 512), 0, 64);  // xsave does not clear its header
  save_vectors(vectors);
  struct { u32 magic, size; u64 features; u32 xsave_size; u32 pad[7]; } software{
      kMagic1, (u32)g.xsave_size + 4, g.xsave_mask, (u32)g.xsave_size, {}};
  memcpy((void*)(vectors + kSoftwareArea), &software, sizeof software);
  *(u32*)(vectors + g.xsave_size) = kMagic2;

  auto& user = *(UserFrame*)at;
  user.return_address = action.restorer;
  user.info = info;
  auto& k = user.context;
  k = KernelFrame{};
  k.flags = kFlagsOfContext;
  k.stack = s.altstack;
  k.stack_size = s.altstack_size;
  k.stack_flags = !s.altstack ? 2 : on_altstack ? 1 : 0;
  k.mask = old_mask;
  KernelContext& c = k.context;
  c.r8 = frame.r8; c.r9 = frame.r9; c.r10 = frame.r10; c.r11 = frame.full ? frame.r11 : frame.flags;
  c.r12 = frame.r12; c.r13 = frame.r13; c.r14 = frame.r14; c.r15 = frame.r15;
  c.rdi = frame.rdi; c.rsi = frame.rsi; c.rbp = frame.rbp; c.rbx = frame.rbx; c.rdx = frame.rdx;
  c.rax = frame.rax;
  c.rcx = frame.full ? frame.rcx : frame.rip;
  c.rsp = frame.rsp; c.flags = frame.flags;
  c.rip = c.reserved[kShown] = shown_rip(frame);
  c.reserved[kMeant] = frame.rip;
  c.cs = 0x33; c.ss = 0x2b;
  if (fault) {
    c.error = fault->error;
    c.trap = fault->trap;
    c.cr2 = fault->address;
  }
  c.old_mask = old_mask;
  c.floating = vectors;

  frame.rdi = (u64)signal;
  frame.rsi = (u64)&user.info;
  frame.rdx = (u64)&user.context;
  frame.rax = 0;
  frame.rsp = at;
  frame.rip = action.handler;
  frame.flags &= ~u64{0x500};  // direction and trap flag
  frame.full = 0;
  return true;
}

bool restore_signal_frame(Thread& t, Frame& frame) {
  KernelFrame k;
  if (!read_memory(k, frame.rsp)) return false;
  const KernelContext& c = k.context;
  frame.r8 = c.r8; frame.r9 = c.r9; frame.r10 = c.r10; frame.r11 = c.r11;
  frame.r12 = c.r12; frame.r13 = c.r13; frame.r14 = c.r14; frame.r15 = c.r15;
  frame.rdi = c.rdi; frame.rsi = c.rsi; frame.rbp = c.rbp; frame.rbx = c.rbx; frame.rdx = c.rdx;
  frame.rax = c.rax; frame.rcx = c.rcx; frame.rsp = c.rsp;
  frame.rip = c.rip == c.reserved[kShown] && c.reserved[kMeant] ? c.reserved[kMeant] : c.rip;
  if (c.flags & kTrapFlag) remark(t, "the trap flag", ": it takes single steps, of which it gets only the first");
  frame.flags = (c.flags & 0xcd5) | 0x202;
  frame.full = 1;
  t.signals.mask = k.mask & ~kNeverBlocked;
  if (c.floating) {
    char probe[64];
    if (!read_memory(probe, c.floating, 64) || !read_memory(probe, c.floating + g.xsave_size - 64, 64)) return false;
    load_vectors(c.floating);
  }
  return true;
}

void prepare_setcontext(const Frame& frame, u64 mask) {
  u64 at = mask - offsetof(KernelFrame, mask), pushed = 0, shown[2];
  read_memory(pushed, frame.rsp);
  if (pushed != at && frame.r12 != at) return;  // where setcontext and swapcontext keep it
  u64 context = at + offsetof(KernelFrame, context), rip = context + offsetof(KernelContext, rip), now;
  if (!read_memory(now, rip) || !read_memory(shown, context + offsetof(KernelContext, reserved) + kShown * 8)) return;
  if (now == shown[0] && shown[1]) write_memory(rip, &shown[1], 8);
}

void report_own_fault(Thread& t, int signal, u64 rip, u64 address) {
  char line[256];
  Text text(line, sizeof line);
  text << "pastcone: internal fault in p" << t.process->number << "." << t.number << " at event " << t.log.event_count
       << ": signal " << signal << " at ";
  text.hex(rip) << " address ";
  text.hex(address) << " call " << (t.frame ? call_name((u32)t.frame->number) : "none") << "\n";
  sys(__NR_write, 2, line, text.size());
  KernelAction none{};
  sys(__NR_rt_sigaction, signal, &none, 0, 8);
}

}  // namespace pastcone::runtime
