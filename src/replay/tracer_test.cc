// Points and steps; signals that are the process's own.
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "pastcone/replay/testing/tracer_fixture.h"
#include "pastcone/replay/watchpoints.h"

// clang-format off
asm(R"(
  .text
  .globl tracer_subject_steps, tracer_subject_second, tracer_subject_end
  .type tracer_subject_steps, @function
tracer_subject_steps:
  nop
tracer_subject_second:
  imul %rdi, %rdi
  mov $7, %eax
tracer_subject_end:
  ret

  .globl tracer_subject_flags_seen, tracer_subject_flags
  .type tracer_subject_flags_seen, @function
tracer_subject_flags_seen:
  nop
tracer_subject_flags:
  pushfq
  pop %rax
  push %rax
  popfq
  nop
  ret

  .globl tracer_subject_copy, tracer_subject_repeat
  .type tracer_subject_copy, @function
tracer_subject_copy:
  mov %rdx, %rcx
tracer_subject_repeat:
  rep movsb
  ret
)");
// clang-format on

namespace pastcone::replay {
namespace {

TEST_F(TracerTest, StopsAtABreakpointEachTime) {
  pid_t child = start([] { return pass_times(5); });
  uint8_t before[16], now[16];
  ASSERT_TRUE(tracer_.read(child, address_of(pass), before, sizeof before));
  EXPECT_EQ(std::memcmp(before, reinterpret_cast<void*>(pass), sizeof before), 0);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  EXPECT_FALSE(tracer_.add_break(child, 8));
  for (uint64_t i = 1; i <= 5; ++i) {
    TraceStop stop = go_on(child);
    ASSERT_EQ(stop.kind, Kind::kBreak);
    EXPECT_EQ(stop.address, address_of(pass));
    EXPECT_EQ(stop.thread, child);
    EXPECT_EQ(registers(child).rip, address_of(pass));
    EXPECT_EQ(registers(child).rdi, i);
    ASSERT_TRUE(tracer_.read(child, address_of(pass), now, sizeof now));
    EXPECT_EQ(std::memcmp(before, now, sizeof now), 0);
    uint64_t count = 0;
    ASSERT_TRUE(tracer_.read(child, address_of(&counter), &count, sizeof count));
    EXPECT_EQ(count, i * (i - 1) / 2);
  }
  expect_end(child);
}

TEST_F(TracerTest, CountsItsPoints) {
  pid_t child = start([] { return pass_times(3); });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  tracer_.remove_break(child, address_of(pass));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.remove_break(child, address_of(pass));
  tracer_.remove_break(child, address_of(pass));
  expect_end(child);
}

TEST_F(TracerTest, TriesOneRoundOfWhatRepeats) {
  pid_t child = start([] { return pass_times(1); });
  uint64_t at = address_of(&tracer_subject_repeat);
  user_regs_struct before = registers(child), tried = before;
  tried.orig_rax = ~uint64_t{0};
  tried.rip = at;
  tried.rcx = 3;
  tried.rsi = address_of(&watched[0]);
  tried.rdi = address_of(&watched[1]);
  for (bool breaks : {false, true}) {
    if (breaks) {
      ASSERT_TRUE(tracer_.add_break(child, at));
    }
    ASSERT_TRUE(tracer_.set_registers(child, tried));
    EXPECT_EQ(tracer_.try_step(child), Tracer::Tried::kDone);
    EXPECT_EQ(registers(child).rip, at);
    EXPECT_EQ(registers(child).rcx, 2u);
  }
  ASSERT_TRUE(tracer_.set_registers(child, before));
  expect_end(child);
}

volatile int signal_value;

TEST_F(TracerTest, WhatComesWithASignalOutlastsWhatIsTried) {
  pid_t child = start([] {
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) { signal_value = info->si_value.sival_int; };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, nullptr);
    pass(1);
    while (signal_value == 0) counter = counter + 1;
    return static_cast<int>(signal_value);
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.remove_break(child, address_of(pass));
  tracer_.go_on(child);
  ASSERT_EQ(sigqueue(child, SIGUSR1, {.sival_int = 7}), 0);
  tracer_.ask_to_stop(child);
  ASSERT_EQ(next().kind, Kind::kAsked);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tracer_.try_step(child), Tracer::Tried::kDone);
  expect_end(child, 7);
}

TEST_F(TracerTest, WhoIsPutBackHasSeenWhatHeHadSeen) {
  pid_t child = start([] { return pass_times(1); });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  user_regs_struct before = registers(child), elsewhere = before;
  elsewhere.rip = address_of(&tracer_subject_second);
  EXPECT_TRUE(tracer_.has_seen(child));
  ASSERT_TRUE(tracer_.set_registers(child, elsewhere));
  EXPECT_FALSE(tracer_.has_seen(child));
  ASSERT_TRUE(tracer_.set_registers(child, before));
  tracer_.set_seen(child, false);
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child);
}

TEST_F(TracerTest, TriesInstructionsWhoseFaultsNobodySees) {
  pid_t child = start([] {
    std::signal(SIGSEGV, [](int) { _exit(9); });
    return pass_times(2);
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  user_regs_struct before = registers(child), tried = before;
  uint64_t mask = *tracer_.signal_mask(child), blocked = uint64_t{1} << (SIGUSR1 - 1);
  ASSERT_TRUE(tracer_.set_signal_mask(child, blocked));
  EXPECT_EQ(*tracer_.signal_mask(child), blocked);
  tried.rip = address_of(&tracer_subject_repeat);
  tried.rcx = 1;
  tried.rdi = tried.rsi = 8;
  for (int times = 0; times < 3; ++times) {
    ASSERT_TRUE(tracer_.set_registers(child, tried));
    EXPECT_EQ(tracer_.try_step(child), Tracer::Tried::kFaulted);
    EXPECT_EQ(registers(child).rip, tried.rip);
  }
  EXPECT_EQ(*tracer_.signal_mask(child), blocked) << "no handler was called";
  for (uint64_t place :
       {address_of(&tracer_subject_second), address_of(pass)}) {  // the second has a breakpoint
    tried.rip = place;
    ASSERT_TRUE(tracer_.set_registers(child, tried));
    EXPECT_EQ(tracer_.try_step(child), Tracer::Tried::kDone);
    EXPECT_NE(registers(child).rip, place);
  }
  EXPECT_FALSE(tracer_.has_stop());
  ASSERT_TRUE(tracer_.set_registers(child, before));
  ASSERT_TRUE(tracer_.set_signal_mask(child, mask));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  EXPECT_EQ(registers(child).rdi, 2u);
  expect_end(child);
}

TEST_F(TracerTest, WritesMemoryAndRegisters) {
  pid_t child = start([] {
    pass(1);
    return static_cast<int>(counter);
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  uint64_t forty = 40;
  ASSERT_TRUE(tracer_.write(child, address_of(&counter), &forty, sizeof forty));
  // Over a breakpoint too.
  uint8_t code[4];
  ASSERT_TRUE(tracer_.read(child, address_of(pass), code, sizeof code));
  ASSERT_TRUE(tracer_.write(child, address_of(pass), code, sizeof code));
  auto now = registers(child);
  now.rdi = 2;
  ASSERT_TRUE(tracer_.set_registers(child, now));
  auto floats = tracer_.float_registers(child);
  ASSERT_TRUE(floats);
  EXPECT_TRUE(tracer_.set_float_registers(child, *floats));
  expect_end(child, 42);
}

TEST_F(TracerTest, ReportsEveryWrite) {
  pid_t child = start([] {
    for (uint64_t i = 0; i < 4; ++i) watched[1] = i / 2;
    uint64_t read = watched[1];
    return static_cast<int>(read);
  });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[1]), 8));
  for (uint64_t i = 0; i < 4; ++i) {
    TraceStop stop = go_on(child);
    ASSERT_EQ(stop.kind, Kind::kWatch);
    EXPECT_EQ(stop.address, address_of(&watched[1]));
    uint64_t value = 0;
    ASSERT_TRUE(tracer_.read(child, stop.address, &value, sizeof value));
    EXPECT_EQ(value, i / 2);
  }
  tracer_.remove_watch(child, address_of(&watched[1]), 8);
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[1]), 8, true));
  EXPECT_EQ(go_on(child).kind, Kind::kWatch);
  expect_end(child, 1);
}

TEST_F(TracerTest, MovesAWatchpoint) {
  pid_t child = start([] {
    for (uint64_t round = 0; round < 3; ++round)
      for (uint64_t i = 0; i < 5; ++i) watched[i] = round;
    return 5;
  });
  auto word = [](size_t i, uint32_t size = 8) { return WatchedWord{address_of(&watched[i]), size}; };
  auto next = [&] { return go_on(child).address; };
  for (size_t i = 0; i < 4; ++i) ASSERT_TRUE(tracer_.add_watch(child, word(i).address, 8));
  EXPECT_EQ(next(), word(0).address);
  ASSERT_TRUE(tracer_.move_watch(child, word(1), word(4)));
  EXPECT_EQ(next(), word(2).address);
  ASSERT_TRUE(tracer_.move_watch(child, word(2), word(1, 4)));  // of another kind
  for (size_t i : {3, 4, 0, 1, 3, 4}) EXPECT_EQ(next(), word(i).address);
  // Where there is no room for it, the other one is gone all the same.
  EXPECT_FALSE(tracer_.move_watch(child, word(3), {word(2).address, 16}));
  for (size_t i : {0, 1, 4}) EXPECT_EQ(next(), word(i).address);
  expect_end(child, 5);
}

TEST_F(TracerTest, DoesNotSeeWhatTheKernelWrites) {
  pid_t child = start([] {
    int ends[2];
    uint64_t value = 5;
    if (pipe(ends) != 0 || write(ends[1], &value, 8) != 8) return 1;
    auto* to = const_cast<uint64_t*>(&watched[2]);
    if (read(ends[0], to, 8) != 8) return 1;
    watched[2] = watched[2] + 1;
    return static_cast<int>(watched[2]);
  });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[2]), 8));
  ASSERT_EQ(go_on(child).kind, Kind::kWatch);
  uint64_t value = 0;
  ASSERT_TRUE(tracer_.read(child, address_of(&watched[2]), &value, sizeof value));
  EXPECT_EQ(value, 6u);
  expect_end(child, 6);
}

TEST_F(TracerTest, SaysThatThereIsNoRoomForAWatchpoint) {
  pid_t child = start([] { return 0; });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(watched), 24));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(watched), 24));
  Status more = tracer_.add_watch(child, address_of(&watched[4]) + 1, 4);  // three pieces
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("1 of 4 are free"), std::string::npos) << more.error().message;
  EXPECT_FALSE(tracer_.add_watch(child, address_of(watched), 4096));
  EXPECT_FALSE(tracer_.add_watch(child, uint64_t{1} << 63, 8));
  EXPECT_TRUE(tracer_.add_watch(child, address_of(&watched[4]), 8));
  tracer_.remove_watch(child, address_of(watched), 24);
  EXPECT_FALSE(tracer_.add_watch(child, address_of(&watched[5]), 8));
  tracer_.remove_watch(child, address_of(watched), 24);
  EXPECT_TRUE(tracer_.add_watch(child, address_of(&watched[5]), 8));
  expect_end(child);
}

TEST_F(TracerTest, Steps) {
  pid_t child = start([] {
    tracer_subject_steps();
    return (tracer_subject_flags_seen() & 0x100) != 0 ? 1 : 0;
  });
  auto begin = reinterpret_cast<uint64_t>(&tracer_subject_steps);
  ASSERT_TRUE(tracer_.add_break(child, begin));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  std::vector<uint64_t> places;
  for (int i = 0; i < 3; ++i) {
    tracer_.step(child);
    TraceStop stop = next();
    ASSERT_EQ(stop.kind, Kind::kStep);
    EXPECT_EQ(stop.thread, child);
    EXPECT_TRUE(tracer_.stands(child));
    places.push_back(registers(child).rip);
  }
  // Onto a breakpoint, off it, and on.
  EXPECT_EQ(places[0], address_of(&tracer_subject_second));
  EXPECT_EQ(places[1], address_of(&tracer_subject_second) + 4);
  EXPECT_EQ(places[2], address_of(&tracer_subject_end));
  // An instruction that would show it.
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_flags)));
  ASSERT_EQ(go_on(child).address, address_of(&tracer_subject_flags));
  tracer_.remove_break(child, address_of(&tracer_subject_flags));
  for (int i = 0; i < 6; ++i) {  // the last ones behind popfq
    tracer_.step(child);
    EXPECT_EQ(next().kind, Kind::kStep);
    EXPECT_EQ(registers(child).eflags & 0x100, 0u);
  }
  expect_end(child);
}

TEST_F(TracerTest, StepsOntoABreakpointAndGoesOnFromIt) {
  pid_t child = start([] {
    tracer_subject_steps();
    return 0;
  });
  ASSERT_TRUE(tracer_.add_break(child, reinterpret_cast<uint64_t>(&tracer_subject_steps)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.step(child);
  ASSERT_EQ(next().kind, Kind::kStep);
  expect_end(child);
}

TEST_F(TracerTest, PassesARepeatedInstructionOnce) {
  pid_t child = start([] {
    char from[100], to[100] = {};
    std::memset(from, 'x', sizeof from);
    tracer_subject_copy(to, from, sizeof from);
    return std::memcmp(from, to, sizeof from) == 0 ? 0 : 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_repeat)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child);
}

TEST_F(TracerTest, FiltersManyHits) {
  constexpr uint64_t kTimes = 5000;
  pid_t child = start([] { return pass_times(kTimes); });
  uint64_t hits = 0, writes = 0, next_expected = 1;
  tracer_.filter = [&](const TraceStop& hit) {
    if (hit.kind == Kind::kWatch) return ++writes == kTimes - 8;
    ++hits;
    EXPECT_EQ(registers(hit.thread).rdi, next_expected++);
    return hits == kTimes - 10;
  };
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&counter), 8));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  EXPECT_EQ(writes, kTimes - 10);  // with counter = 0 at the beginning
  EXPECT_EQ(go_on(child).kind, Kind::kWatch);
  expect_end(child);
  EXPECT_EQ(hits, kTimes);
  EXPECT_EQ(writes, kTimes + 1);
}

TEST_F(TracerTest, PassesOnWhatIsNotItsOwn) {
  pid_t child = start([] {
    static volatile int traps, faults, others;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
      if (signal == SIGTRAP)
        traps = traps + (info->si_code == SI_KERNEL || info->si_code == SI_TKILL ? 1 : 100);
      if (signal == SIGSEGV) {
        faults =
            faults + (info->si_code == SEGV_MAPERR && info->si_addr == reinterpret_cast<void*>(16) ? 1 : 100);
        registers[REG_RIP] += 7;
      }
      if (signal == SIGUSR1) others = others + 1;
    };
    for (int signal : {SIGTRAP, SIGSEGV, SIGUSR1}) sigaction(signal, &action, nullptr);
    for (int i = 0; i < 10; ++i) {
      pass(0);
      asm volatile("int3");
      raise(SIGTRAP);
      raise(SIGUSR1);
      asm volatile("xor %%eax, %%eax; movl $1, 16(%%rax)" ::: "rax", "memory");
      pass(1);
    }
    return traps == 20 && faults == 10 && others == 10 && counter == 10 ? 0 : 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits % 2 == 0; };
  for (int i = 0; i < 10; ++i) ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child);
  EXPECT_EQ(hits, 20);
}

/// As the runtime does at the points where a thread was interrupted: an int3 of its own, and a step by itself
/// over what stood there. 11 passes, of which the last 7 come after pass(2).
int pass_with_own_breakpoint() {
  static uint8_t original;
  static volatile int own;
  auto* place = const_cast<uint8_t*>(&tracer_subject_second);
  auto* page = reinterpret_cast<uint8_t*>(address_of(place) & ~uint64_t{4095});
  mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    auto* here = const_cast<volatile uint8_t*>(&tracer_subject_second);
    if ((registers[REG_EFL] & 0x100) != 0) {
      registers[REG_EFL] &= ~0x100;
      if (own < 10) *here = 0xcc;
      return;
    }
    own = own + 1;
    registers[REG_RIP] -= 1;
    *here = original;
    registers[REG_EFL] |= 0x100;
  };
  sigaction(SIGTRAP, &action, nullptr);
  pass(1);
  original = *place;
  *const_cast<volatile uint8_t*>(place) = 0xcc;
  for (int i = 0; i < 4; ++i) tracer_subject_steps();
  pass(2);
  for (int i = 0; i < 7; ++i) tracer_subject_steps();
  return own;
}

TEST_F(TracerTest, SharesAPlaceWithABreakpointOfTheProcess) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  tracer_.remove_break(child, address_of(pass));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits == 5; };
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child, 10);
  EXPECT_EQ(hits, 11);
}

TEST_F(TracerTest, ComesToThePlaceOfABreakpointOfTheProcess) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits == 3; };
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child, 10);
  EXPECT_EQ(hits, 7);
}

TEST_F(TracerTest, LeavesABreakpointOfTheProcessWhereItWas) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  tracer_.filter = [&](const TraceStop& hit) { return hit.address == address_of(pass); };
  ASSERT_EQ(go_on(child).address, address_of(pass));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  tracer_.remove_break(child,
                       address_of(&tracer_subject_second));  // the process believes that it was there before
  expect_end(child, 10);
}

}  // namespace
}  // namespace pastcone::replay
