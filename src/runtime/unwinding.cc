#include "unwinding.h"

#include "call.h"
#include "ordered.h"

namespace pastcone::runtime {

extern "C" {
extern char runtime_frame_table[];

/// glibc's struct dl_find_object.
struct FoundObject {
  u64 flags;
  void *begin, *end;
  void* link_map;
  void* frame_table;
  u64 reserved[7];
};

/// By which unwinders find the tables of the code at an address; ours is in no list of the loader's.
int hook__dl_find_object(void* address, FoundObject* found) {
  if ((char*)address < runtime_text_begin || (char*)address >= runtime_text_end)
    return call_original(Hook::_dl_find_object, address, found);
  found->flags = 0;
  found->begin = runtime_text_begin;
  found->end = runtime_text_end;
  found->link_map = nullptr;
  found->frame_table = runtime_frame_table;
  return 0;
}

/// Its frame has a personality: when the frame is about to go, that is called.
void runtime_call_guarded(void (*function)(Guard&), Guard& guard);
int runtime_unwound(int, int actions, u64, void*, void*) {
  constexpr int kCleanup = 2, kGoOn = 8;
  Thread& t = current();
  if (!(actions & kCleanup) || !t.guards) return kGoOn;
  Guard& guard = *t.guards;
  t.guards = guard.outer;
  guard.left(guard);
  return kGoOn;
}
}

void call_guarded(Thread& t, Guard& guard) {
  Guard* before = t.guards;
  guard.outer = before;
  while (guard.outer && guard.outer < &guard) guard.outer = guard.outer->outer;  // left by longjmp
  t.guards = &guard;
  runtime_call_guarded(guard.run, guard);
  t.guards = before;
}

namespace {
// In glibc's struct pthread: the thread's number, and in another word bits that say whether it is cancelled, and how it may be.
constexpr u32 kDisabled = 1, kAsynchronous = 2, kCancelBits = 4 | 8;
constexpr u32 kFrom = 0x280 / 4, kTo = 0x480 / 4;
u32 tid_offset, cancel_offset;

u32* own_struct() {
  u32* self;
  asm("mov %%fs:0x10, %0" : "=r"(self));
  return self;
}

/// The library gets ready to cancel threads when it is first asked to; that it is to cancel one that is cancelled already.
void prepare_to_cancel() {
  static u32 nobody[0x900 / 4];
  nobody[tid_offset] = 1;
  nobody[cancel_offset] = kCancelBits;
  call_original(Hook::pthread_cancel, nobody);
}
}  // namespace

void find_thread_words(Thread& t) {
  if (tid_offset || !originals[(u32)Hook::pthread_setcanceltype]) return;
  u32* self = own_struct();
  for (u32 i = kFrom; i < kTo && !tid_offset; ++i)
    if (load(self[i]) == t.tid) tid_offset = i;
  if (!tid_offset) return;
  u32 before[kTo - kFrom];
  for (u32 i = kFrom; i < kTo; ++i) before[i - kFrom] = load(self[i]);
  int old = 0, now;
  call_original(Hook::pthread_setcanceltype, 1, &old);
  for (u32 i = kFrom; i < kTo && !cancel_offset; ++i)
    if ((load(self[i]) ^ before[i - kFrom]) == kAsynchronous) cancel_offset = i;
  call_original(Hook::pthread_setcanceltype, old, &now);
}

u32* tid_of(u64 thread) { return tid_offset ? (u32*)thread + tid_offset : nullptr; }

void note_cancelled(void*) { note_result(current(), kCancelled); }
void replay_cancelled(void* object) {
  Thread& t = current();
  next_operation_unsignalled(t, (u64)object);
  count_operation(t);
}

/// A thread ends itself: it loads what unwinds its stack, unless that is there. Where two do so at once, who comes first does it.
extern "C" u64 runtime_prepare_exit() {
  static u64 lock;
  Thread& t = current();
  if (is_ordered(t, false) && cancel_offset) {
    InOrder in_order(t, (u64)&lock);
    prepare_to_cancel();
  }
  return originals[(u32)Hook::pthread_exit];
}

/// glibc sets a word of the other thread, which sees it sooner or later. Here it always gets the signal by which glibc wakes one that
/// waits, and sets the word itself: a signal comes at the same place again.
extern "C" int hook_pthread_cancel(u32* thread) {
  Thread& t = current();
  if (!is_ordered(t, false) || !cancel_offset || thread == own_struct()) return call_original(Hook::pthread_cancel, thread);
  t.process->cancels = true;
  prepare_to_cancel();
  u32 tid = 0;
  if (g.replay) tid = (u32)next_operation(t, (u64)thread).result;
  else if (read_memory(tid, (u64)tid_of((u64)thread))) note_result(t, tid);
  if (g.replay) count_operation(t);
  if (!tid) return 0;
  int& error = program_errno();
  int before = error;
  call_original(Hook::tgkill, (int)t.process->pid, (int)tid, kCancelSignal);
  error = before;
  return 0;
}

bool is_cancel_put_off(Thread& t) {
  if (!t.process->parallel || !cancel_offset) return false;
  u32 word = load(own_struct()[cancel_offset]);
  return (word & kDisabled) || !(word & kAsynchronous);
}

void note_cancel() {
  if (cancel_offset) __atomic_fetch_or(own_struct() + cancel_offset, kCancelBits, __ATOMIC_ACQ_REL);
}

Cancellable::Cancellable() : word_(cancel_offset ? own_struct() + cancel_offset : nullptr) {
  if (word_) set_ = !(__atomic_fetch_or(word_, kAsynchronous, __ATOMIC_ACQ_REL) & kAsynchronous);
}
Cancellable::~Cancellable() {
  if (set_) __atomic_fetch_and(word_, ~kAsynchronous, __ATOMIC_ACQ_REL);
}

void let_cancel(Thread& t, void (*cleanup)(void*), void* argument) {
  if (!signals_inside(t) && !is_cancelled_here(t)) return;
  OnCancel cancel(cleanup, argument);
  {
    Cancellable cancellable;
    take_signals_inside(t);
  }
  if (is_cancelled_here(t)) call_original<void>(Hook::pthread_exit, (void*)-1);
}

}  // namespace pastcone::runtime
