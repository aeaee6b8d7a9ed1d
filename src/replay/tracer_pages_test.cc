// Guarded pages: what is told of them, and that the process sees nothing of them.
#include <immintrin.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "pastcone/replay/testing/tracer_fixture.h"

namespace pastcone::replay {
namespace {

constexpr size_t kPage = 4096;

struct Ground {
  alignas(kPage) volatile uint64_t words[3 * kPage / 8];
};
Ground ground;

uint64_t word(size_t index) { return address_of(&ground.words[index]); }
uint8_t* bytes() { return reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(ground.words)); }

uint64_t checksum() {
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof ground / 8; ++i) sum = sum * 31 + ground.words[i];
  return sum;
}

/// Of all kinds, to many places.
void write_much() {
  asm volatile("fninit; vzeroall" ::
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");  // for fxsave
  uint64_t seed = 3;
  auto random = [&] { return seed = seed * 6364136223846793005 + 1442695040888963407, seed >> 33; };
  alignas(64) uint8_t source[256];
  for (uint8_t& one : source) one = static_cast<uint8_t>(random());
  for (int i = 0; i < 400; ++i) {
    size_t at = random() % (sizeof ground - 256);
    if (i % 2 == 0) at = kPage - 64 + random() % 128;
    uint8_t* to = bytes() + at;
    auto* whole = reinterpret_cast<uint64_t*>(bytes() + at / 64 * 64);
    switch (random() % 16) {
      case 0:
        std::memcpy(to, &seed, 8);
        break;
      case 1:
        asm volatile("addw $7, %0" : "+m"(*to)::"cc");
        break;
      case 2:
        asm volatile("incb %0" : "+m"(*to)::"cc");
        break;
      case 3:
        asm volatile("lock; addq $3, %0" : "+m"(*whole)::"cc");
        break;
      case 4:
        __sync_bool_compare_and_swap(whole, i % 3 == 0 ? *whole : 1, seed);
        break;
      case 5:
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_loadu_si128(reinterpret_cast<__m128i*>(source)));
        break;
      case 6:
        _mm_store_si128(reinterpret_cast<__m128i*>(whole),
                        _mm_loadu_si128(reinterpret_cast<__m128i*>(source + 5)));
        break;
      case 7:
        tracer_subject_copy(to, source, random() % 200);
        break;
      case 8:
        tracer_subject_copy(to + 3, to, random() % 60);
        break;
      case 9:
        std::memset(to, static_cast<int>(random()), random() % 250);
        break;
      case 10:
        std::memcpy(to, source, random() % 250);
        break;
      case 11:
        asm volatile("btsq %1, %0" : "+m"(*whole) : "r"(random() % 256) : "cc", "memory");
        break;
      case 12:
        asm volatile("fxsave %0"
                     : "=m"(*reinterpret_cast<uint8_t(*)[512]>(bytes() + at / 64 * 64 % (2 * kPage))));
        break;
      case 13:
        asm volatile("xchgq %1, %0" : "+m"(*whole), "+r"(seed));
        break;
      case 14:
        asm volatile("shlq $1, %0" : "+m"(*whole)::"cc");
        break;
      default:
        *reinterpret_cast<volatile uint32_t*>(to) = static_cast<uint32_t>(random());
    }
  }
}

class TracerPagesTest : public TracerTest {
 protected:
  using Counts = std::map<uint64_t, int>;
  Counts count(pid_t child, int exit_status = 0) {
    Counts counts;
    tracer_.filter = [&](const TraceStop& stop) {
      EXPECT_EQ(stop.kind, Kind::kWatch);
      ++counts[stop.address];
      return false;
    };
    expect_end(child, exit_status);
    tracer_.filter = nullptr;
    return counts;
  }
  void guard(pid_t child, const std::vector<size_t>& words) {
    for (size_t index : words) {
      Status done = tracer_.add_guarded(child, word(index), 8);
      ASSERT_TRUE(done) << done.error().message;
    }
  }
};

TEST_F(TracerPagesTest, CountsAsADebugRegisterDoes) {
  const std::vector<size_t> words = {3, 504, 505, 506, 507, 508, 509, 511, 512, 513, 514, 515, 516, 1000};
  auto what = [this] {
    write_much();
    gate_->word = checksum();
    return 0;
  };
  Counts one_by_one;
  for (size_t index : words) {
    gate_->begun = gate_->open = 0;
    pid_t child = start(what);
    ASSERT_TRUE(tracer_.add_watch(child, word(index), 8));
    one_by_one.merge(count(child));
  }
  ASSERT_GT(one_by_one.size(), 10u);
  uint64_t expected = gate_->word;
  for (bool turns : {false, true}) {
    gate_->begun = gate_->open = 0;
    gate_->word = 0;
    tracer_.threads_take_turns = turns;
    pid_t child = start(what);
    guard(child, words);
    EXPECT_EQ(count(child), one_by_one);
    EXPECT_EQ(gate_->word, expected);
  }
}

TEST_F(TracerPagesTest, StopsBehindTheWrite) {
  pid_t child = start([] {
    for (uint64_t i = 1; i <= 3; ++i) {
      ground.words[1] = i;
      ground.words[2] = 7;
      ground.words[3] = 7;
    }
    return static_cast<int>(ground.words[1]);
  });
  guard(child, {1, 2, 600});
  for (uint64_t i = 1; i <= 3; ++i) {
    for (size_t index : {1, 2}) {
      TraceStop stop = go_on(child);
      ASSERT_EQ(stop.kind, Kind::kWatch);
      EXPECT_EQ(stop.address, word(index));
      uint64_t value = 0;
      ASSERT_TRUE(tracer_.read(child, word(index), &value, sizeof value));
      EXPECT_EQ(value, index == 1 ? i : 7);
    }
    if (i == 2) tracer_.remove_guarded(child, word(2), 8);
    if (i == 2) break;
  }
  EXPECT_EQ(go_on(child).address, word(1));
  tracer_.remove_guarded(child, word(1), 8);
  tracer_.remove_guarded(child, word(600), 8);
  expect_end(child, 3);
}

/// The kernel writes, and changes what can be written to.
int call_much() {
  int ends[2];
  char buffer[64];
  uint64_t values[4] = {1, 2, 3, 4};
  uint8_t* base = bytes();
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < 3; ++i) {
    if (write(ends[1], values, sizeof values) != sizeof values) return 2;
    iovec parts[] = {{base + 8, 8}, {base + kPage - 8, 24}};
    if (readv(ends[0], parts, 2) != sizeof values) return 3;
    if (ground.words[1] != 1 || ground.words[512] != 3) return 4;
  }
  if (mprotect(base, kPage, PROT_READ) != 0 || mprotect(base, kPage, PROT_READ | PROT_WRITE) != 0) return 5;
  ground.words[1] = 5;
  // Another page in its place; and the old one elsewhere.
  void* room = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* moved = mremap(base + kPage, kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) return 6;
  if (mmap(base + kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    return 7;
  static_cast<uint64_t*>(moved)[0] = 9;
  if (ground.words[512] != 0) return 8;
  ground.words[512] = 6;
  // Nobody may write there now: the kernel is told so, and the program faults.
  if (mprotect(base, kPage, PROT_READ) != 0) return 9;
  if (write(ends[1], values, 8) != 8 || read(ends[0], base + 8, 8) != -1 || errno != EFAULT) return 10;
  return read(ends[0], buffer, 8) == 8 ? 0 : 11;
}

TEST_F(TracerPagesTest, DoesNotShowInWhatIsTried) {
  pid_t child = start([] {
    ground.words[1] = 1;
    ground.words[1] = 2;
    return static_cast<int>(ground.words[3]);
  });
  guard(child, {1, 2});
  ASSERT_EQ(go_on(child).address, word(1));
  user_regs_struct before = registers(child), tried = before;
  tried.rip = address_of(&tracer_subject_repeat);
  tried.rcx = 1;
  tried.rsi = word(1);
  tried.rdi = word(3);
  ASSERT_TRUE(tracer_.set_registers(child, tried));
  EXPECT_EQ(tracer_.try_step(child), Tracer::Tried::kDone);
  ASSERT_TRUE(tracer_.set_registers(child, before));
  EXPECT_EQ(go_on(child).address, word(1)) << "it is guarded again";
  tracer_.remove_guarded(child, word(1), 8);
  tracer_.remove_guarded(child, word(2), 8);
  expect_end(child, 1);
}

TEST_F(TracerPagesTest, DoesNotShowInCalls) {
  pid_t child = start([] { return call_much(); });
  guard(child, {1, 511, 512, 513});
  EXPECT_EQ(count(child), (Counts{{word(1), 1}, {word(512), 1}}));
}

volatile sig_atomic_t faults;
void* volatile fault_at;
alignas(64) uint8_t handler_stack[1 << 16];

void on_fault(int, siginfo_t* info, void*) {
  faults = faults + 1;
  fault_at = info->si_addr;
  if (faults == 1) mprotect(bytes() + kPage, kPage, PROT_READ | PROT_WRITE);
  if (faults > 1) _exit(info->si_addr == nullptr && info->si_code == SEGV_MAPERR ? 0 : 3);
}

TEST_F(TracerPagesTest, LeavesOwnFaultsAlone) {
  pid_t child = start([] {
    stack_t stack{handler_stack, 0, sizeof handler_stack};
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    mprotect(bytes() + kPage, kPage, PROT_READ);
    ground.words[0] = 1;
    ground.words[513] = 2;  // its own fault, after which it may
    if (faults != 1 || fault_at != &ground.words[513]) return 1;
    ground.words[513] = 3;
    if (faults != 1) return 2;
    *static_cast<volatile int*>(nullptr) = 1;
    return 4;
  });
  guard(child, {0, 513, 2, 3, 4});
  EXPECT_EQ(count(child), (Counts{{word(0), 1}, {word(513), 2}}));
}

int write_and_create(bool copies, int number) {
  ground.words[0] = ground.words[0] + 1;
  pid_t forked = copies ? fork() : vfork();
  if (forked == 0) {
    ground.words[1] = 5;
    _exit(static_cast<int>(ground.words[0]));
  }
  int status = 0;
  return waitpid(forked, &status, 0) == forked && status == number << 8 ? 0 : 1;
}

TEST_F(TracerPagesTest, GuardsAgainWhatWasReadOnly) {
  pid_t child = start([] {
    ground.words[1] = 1;
    if (mprotect(bytes(), kPage, PROT_READ) != 0 || mprotect(bytes(), kPage, PROT_READ | PROT_WRITE) != 0)
      return 1;
    ground.words[1] = 2;
    return 0;
  });
  guard(child, {1});
  EXPECT_EQ(count(child), (Counts{{word(1), 2}}));
}

TEST_F(TracerPagesTest, ChildrenAreFree) {
  pid_t child = start([] {
    for (int i = 1; i <= 10; ++i)
      if (write_and_create(i % 2 == 0, i) != 0) return i;
    return 0;
  });
  guard(child, {0, 1, 2, 3, 700});
  EXPECT_EQ(count(child), (Counts{{word(0), 10}}));
}

TEST_F(TracerPagesTest, AllThreadsAreSeen) {
  constexpr int kThreads = 4, kTimes = 60;
  pid_t child = start([] {
    std::vector<std::thread> all;
    for (int i = 0; i < kThreads; ++i) {
      all.emplace_back([i] {
        for (int j = 0; j < kTimes; ++j) {
          __atomic_fetch_add(&ground.words[8], 1, __ATOMIC_SEQ_CST);
          ground.words[16 + i] = ground.words[16 + i] + 1;
          ground.words[600] = 1;
          uint64_t expected = ground.words[9];
          while (!__atomic_compare_exchange_n(&ground.words[9], &expected, expected + 1, false,
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
          }
        }
      });
    }
    for (std::thread& thread : all) thread.join();
    return ground.words[8] == kThreads * kTimes && ground.words[9] == kThreads * kTimes ? 0 : 1;
  });
  guard(child, {8, 16, 17, 18, 19, 600});
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  Counts counts = count(child);
  EXPECT_EQ(counts[word(8)], kThreads * kTimes);
  for (size_t i = 16; i < 20; ++i) EXPECT_EQ(counts[word(i)], kTimes);
  EXPECT_EQ(counts[word(600)], kThreads * kTimes);
  EXPECT_FALSE(tracer_.has_missed());
}

/// In a process with several threads, or over a breakpoint, the processor makes the writes.
TEST_F(TracerPagesTest, CountsEachRoundOfOneThatRepeats) {
  const std::vector<size_t> words = {10, 20, 515};
  auto what = [](bool threads) {
    std::atomic<bool> over = false;
    std::thread other;
    if (threads)
      other = std::thread([&] {
        while (!over) usleep(100);
      });
    uint8_t source[600];
    std::memset(source, 7, sizeof source);
    tracer_subject_copy(bytes(), source, 600);
    tracer_subject_copy(bytes() + kPage - 200, source, 300);
    over = true;
    if (threads) other.join();
    return ground.words[10] == 0x0707070707070707 ? 0 : 1;
  };
  Counts expected{{word(10), 8}, {word(20), 8}, {word(515), 8}};
  for (bool threads : {false, true}) {
    for (bool breaks : {false, true}) {
      gate_->begun = gate_->open = 0;
      pid_t child = start([&] { return what(threads); });
      guard(child, words);
      if (breaks) {
        ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_repeat)));
      }
      Counts counts;
      int passes = 0;
      tracer_.filter = [&](const TraceStop& stop) {
        stop.kind == Kind::kBreak ? ++passes : ++counts[stop.address];
        return false;
      };
      expect_end(child);
      tracer_.filter = nullptr;
      EXPECT_EQ(counts, expected) << threads << breaks;
      EXPECT_EQ(passes, breaks ? 2 : 0) << threads;
    }
  }
}

TEST_F(TracerPagesTest, GoesOnInTheMiddleOfOneThatRepeats) {
  for (bool guarded : {false, true}) {
    gate_->begun = gate_->open = 0;
    pid_t child = start([] {
      uint8_t source[600] = {};
      tracer_subject_copy(bytes(), source, sizeof source);
      return 0;
    });
    uint64_t at = address_of(&tracer_subject_repeat);
    ASSERT_TRUE(tracer_.add_break(child, at));
    ASSERT_TRUE(guarded ? tracer_.add_guarded(child, word(10), 8) : tracer_.add_watch(child, word(10), 8));
    ASSERT_EQ(go_on(child).kind, Kind::kBreak);
    for (uint64_t i = 1; i <= 8; ++i) {
      TraceStop stop = go_on(child);
      ASSERT_EQ(stop.kind, Kind::kWatch) << i;
      EXPECT_EQ(registers(child).rip, at);
      EXPECT_EQ(registers(child).rdi, word(10) + i);
    }
    expect_end(child);
  }
}

TEST_F(TracerPagesTest, WritesOnceWhatTouchesMoreThanFourWords) {
  pid_t child = start([] {
    ground.words[4] = 0x0101010101010101;
    asm volatile("shlq $1, %0" : "+m"(ground.words[4])::"cc");
    return ground.words[4] == 0x0202020202020202 ? 0 : 1;
  });
  Counts expected;
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(tracer_.add_guarded(child, word(4) + i, 1));
    expected[word(4) + i] = 2;
  }
  EXPECT_EQ(count(child), expected);
}

[[gnu::noinline]] int go_deep(int depth) {
  volatile char room[1000];
  room[0] = 1;
  if (depth == 600) pass(1);
  int below = depth > 1 ? go_deep(depth - 1) : 0;
  return below + room[0] - 1;
}

TEST_F(TracerPagesTest, StacksGrow) {
  pid_t child = start([] { return go_deep(1200); });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.remove_break(child, address_of(pass));
  ASSERT_TRUE(tracer_.add_guarded(child, registers(child).rsp & ~uint64_t{kPage - 1}, 8));
  tracer_.filter = [](const TraceStop&) { return false; };
  expect_end(child);
  tracer_.filter = nullptr;
}

TEST_F(TracerPagesTest, BreakpointsAndStepsAreTheSame) {
  pid_t child = start([] {
    pass_times(3);
    return static_cast<int>(counter);
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  ASSERT_TRUE(tracer_.add_guarded(child, address_of(&counter), 8));
  for (int i = 0; i < 2; ++i) {
    TraceStop stop;
    int steps = 0;
    do {
      tracer_.step(child);
      stop = next();
      ++steps;
    } while (stop.kind == Kind::kStep && steps < 100);
    EXPECT_EQ(stop.kind, Kind::kWatch);
    EXPECT_EQ(stop.address, address_of(&counter));
    ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  }
  tracer_.let_go(child);
  EXPECT_EQ(collect(child), 6 << 8);
}

}  // namespace
}  // namespace pastcone::replay
