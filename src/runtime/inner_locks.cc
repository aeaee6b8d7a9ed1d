// Functions of libc that have a lock of their own, inlined, and either make calls while they have it, which others may have to wait for, or
// give something that depends on who came first.
#include "hooks.h"
#include "ordered.h"

namespace pastcone::runtime {
namespace {

/// What stands for each lock: only its address counts.
u64 forks, numbers, time_zone;

}  // namespace

extern "C" {

int hook_fork() {
  InOrder lock(current(), (u64)&forks);
  return call_original(Hook::fork);
}

long hook_random() {
  InOrder lock(current(), (u64)&numbers);
  return call_original<long>(Hook::random);
}
void hook_srandom(u32 seed) {
  InOrder lock(current(), (u64)&numbers);
  call_original<void>(Hook::srandom, seed);
}

void* hook_localtime(void* time) {
  InOrder lock(current(), (u64)&time_zone);
  return call_original<void*>(Hook::localtime, time);
}
void* hook_localtime_r(void* time, void* out) {
  InOrder lock(current(), (u64)&time_zone);
  return call_original<void*>(Hook::localtime_r, time, out);
}
void hook_tzset() {
  InOrder lock(current(), (u64)&time_zone);
  call_original<void>(Hook::tzset);
}

}  // extern "C"
}  // namespace pastcone::runtime
