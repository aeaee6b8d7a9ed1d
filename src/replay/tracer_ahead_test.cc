// Going ahead without the processor: what is told is the same, and so is what the process has done.
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <tuple>

#include "pastcone/replay/testing/tracer_fixture.h"

extern "C" const uint8_t ahead_behind_watched, ahead_behind_other;

namespace pastcone::replay {
namespace {

volatile uint64_t beside[8];

/// The second is on the same page.
[[gnu::noinline, gnu::noclone]] void write_two(uint64_t number) {
  asm volatile(
      "mov %2, %0\n.globl ahead_behind_watched\nahead_behind_watched: nop\n"
      "mov %2, %1\n.globl ahead_behind_other\nahead_behind_other: nop"
      : "=m"(watched[0]), "=m"(watched[7])
      : "r"(number));
}

[[gnu::noinline]] uint64_t mix(uint64_t number) { return (number << 3) ^ (number >> 2) ^ counter; }

/// What was there before is not always the same.
void clear_vectors() {
  const uint32_t quiet = 0x1f80;
  asm volatile("ldmxcsr %0" ::"m"(quiet));
  asm volatile(
      ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n xorps %%xmm\\n, %%xmm\\n\n.endr" ::
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
            "xmm12", "xmm13", "xmm14", "xmm15");
}

/// Little happens between two writes, but in some rounds more, of all kinds.
[[gnu::noinline]] int loop() {
  uint64_t sum = 1;
  double level = 0.5;
  clear_vectors();
  for (uint64_t i = 0; i < 3000; ++i) {
    write_two(i);
    level = level * 1.0625 + static_cast<double>(i) / 3;
    if (level > 1e9) level = std::sqrt(level);
    if (i % 5 == 0) std::memcpy(const_cast<uint64_t*>(&watched[2]), &level, sizeof level);
    sum = sum * 5 + mix(i);
    beside[i % 8] = beside[i % 8] + sum;
    if (i % 3 == 0) watched[1] = watched[1] + 1;
    if (i % 100 == 0) watched[2] = sum / (i + 1);
    if (i % 7 == 0) pass(i);
    if (i % 500 == 0) usleep(1);
    if (i % 300 == 0)
      for (uint64_t idle = 0; idle < 400; ++idle) asm volatile("" : "+r"(idle));
  }
  for (uint64_t one : beside) sum = sum * 31 + one;
  watched[3] = sum;
  return static_cast<int>((sum ^ counter) % 251);
}

/// As memcpy does; and so little between two calls that it is not worth while to go ahead.
[[gnu::noinline]] int write_what_overlaps() {
  clear_vectors();
  for (uint64_t i = 1; i < 800; ++i) {
    asm volatile(
        "mov %1, (%0)\n mov %1, (%0)\n movl %k1, 2(%0)\n movw %w1, 7(%0)\n"
        "movq %1, %%xmm3\n movups %%xmm3, (%0)\n movups %%xmm3, 8(%0)\n movups %%xmm3, 56(%0)" ::"r"(watched),
        "r"(i)
        : "memory", "xmm3");
    getppid();
  }
  return static_cast<int>((watched[0] ^ watched[1] ^ watched[2]) % 251);
}

class TracerAheadTest : public TracerTest {
 protected:
  using Told = std::vector<std::tuple<Kind, uint64_t, uint64_t, uint64_t, uint64_t>>;

  /// What is told of the loop, with what is seen then; its end is the last.
  Told tell(bool ahead, bool guarded, bool breaks, int (*body)() = loop) {
    tracer_.threads_take_turns = ahead;
    gate_->begun = gate_->open = 0;
    pid_t child = start(body);
    for (size_t i = 0; i < 3; ++i) {
      Status watching = guarded ? tracer_.add_guarded(child, address_of(&watched[i]), 8)
                                : tracer_.add_watch(child, address_of(&watched[i]), 8);
      EXPECT_TRUE(watching) << watching.error().message;
    }
    for (uint64_t place :
         {address_of(pass), address_of(&ahead_behind_watched), address_of(&ahead_behind_other)}) {
      Status added = breaks ? tracer_.add_break(child, place) : Status();
      EXPECT_TRUE(added) << added.error().message;
    }
    Told told;
    tracer_.filter = [&](const TraceStop& stop) {
      user_regs_struct now = registers(stop.thread);
      uint64_t values[4] = {};
      EXPECT_TRUE(tracer_.read(child, address_of(watched), values, sizeof values));
      auto floats = tracer_.float_registers(stop.thread);
      EXPECT_TRUE(floats);
      std::string_view vectors(reinterpret_cast<const char*>(floats->xmm_space), sizeof floats->xmm_space);
      uint64_t seen =
          values[0] ^ values[1] ^ values[2] ^ std::hash<std::string_view>{}(vectors) ^ floats->mxcsr;
      told.emplace_back(stop.kind, stop.address, now.rip, now.rsp, seen);
      return stop.kind == Kind::kBreak ? now.rdi % 91 == 0
                                       : values[0] % 617 == 0 && stop.address == address_of(watched);
    };
    for (;;) {
      TraceStop stop = go_on(child);
      told.emplace_back(stop.kind, stop.address, static_cast<uint64_t>(stop.status), 0, 0);
      if (stop.kind == Kind::kEnded) break;
      EXPECT_EQ(registers(child).rip, std::get<2>(told[told.size() - 2]));
    }
    tracer_.filter = nullptr;
    return told;
  }
};

TEST_F(TracerAheadTest, TellsTheSame) {
  Told registers = tell(false, false, false);
  EXPECT_GT(registers.size(), 4000u);
  EXPECT_EQ(tell(true, false, false), registers);
  EXPECT_EQ(tell(true, true, false), registers);
  Told with_breaks = tell(false, false, true);
  EXPECT_GT(with_breaks.size(), registers.size() + 6400);
  EXPECT_EQ(tell(true, false, true), with_breaks);
  EXPECT_EQ(tell(true, true, true), with_breaks);
}

TEST_F(TracerAheadTest, TellsTheSameOfWhatOverlaps) {
  Told registers = tell(false, false, false, write_what_overlaps);
  EXPECT_GT(registers.size(), 7000u);
  EXPECT_EQ(tell(true, false, false, write_what_overlaps), registers);
  EXPECT_EQ(tell(true, true, false, write_what_overlaps), registers);
}

TEST_F(TracerAheadTest, GoesNowhereThatCannotBeExecuted) {
  tracer_.threads_take_turns = true;
  // ret, where it may only be read
  static uint8_t* const data =
      static_cast<uint8_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(data, 0xc3, 4096);
  pid_t child = start([] {
    for (int i = 0; i < 20; ++i) watched[0] = watched[0] + 1;
    reinterpret_cast<void (*)()>(data)();
    return 0;
  });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[0]), 8));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits < 0; };
  TraceStop stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kEnded);
  EXPECT_TRUE(WIFSIGNALED(stop.status));
  EXPECT_EQ(hits, 20);
  munmap(data, 4096);
}

TEST_F(TracerAheadTest, FaultsWhereTheProcessorDoes) {
  tracer_.threads_take_turns = true;
  static uint8_t* const locked =
      static_cast<uint8_t*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (bool writes : {false, true}) {
    gate_->begun = gate_->open = 0;
    pid_t child = start([writes] {
      if (writes) mprotect(locked, 4096, PROT_READ);
      for (int i = 0; i < 20; ++i) watched[0] = watched[0] + 1;
      auto* place = reinterpret_cast<volatile uint64_t*>(locked);
      if (writes)
        *place = 7;
      else
        watched[1] = *place;
      return 0;
    });
    ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[0]), 8));
    tracer_.filter = [&](const TraceStop&) { return false; };
    TraceStop stop = go_on(child);
    EXPECT_EQ(stop.kind, Kind::kEnded);
    EXPECT_TRUE(WIFSIGNALED(stop.status)) << stop.status;
  }
  munmap(locked, 4096);
}

}  // namespace
}  // namespace pastcone::replay
