#include "pastcone/debug/imagined_call.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pastcone::debug {
namespace {

// The process is this one, which stands, as it waits for the call.
volatile int known = 5;
volatile int changed = 1;
int table[1000];
thread_local int own = 40;

#define CALLED extern "C" __attribute__((noinline, used))

CALLED int digits_in(int of) {
  int found = 1;
  for (; of >= 10; of /= 10) ++found;
  return found;
}
CALLED int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
CALLED int add_known(int to) { return to + known; }
CALLED int change(int by) {
  changed = changed + by;
  return changed;
}
CALLED int sum_of(const int* from, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += from[i];
  return sum;
}
CALLED int first_of(const char* text) { return text[0] + text[1]; }
CALLED double scaled(double number, float by) { return number * by + 0.5; }
CALLED int divide(int by) { return 100 / by; }
CALLED int own_and(int more) { return own + more; }
CALLED int read_there(const int* there) { return *there; }
CALLED int write_there(int* there) {
  *there = 3;
  return *there;
}
CALLED long asks_kernel(int) { return syscall(39); }
CALLED int goes_on(int from) {
  for (volatile int i = from; i >= 0;) i = i ^ 1;
  return 0;
}
CALLED int deep(int n) {
  volatile char room[4096];
  room[0] = 1;
  return n == 0 ? 0 : deep(n - 1) + room[0];
}

Result<std::vector<uint8_t>> vectors() {
  constexpr size_t kSize = 16 << 10, kComponents = 464;
  alignas(64) static uint8_t area[kSize];
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  asm volatile("xsave64 %0" : "=m"(area) : "a"(low), "d"(high));
  uint64_t components = uint64_t{high} << 32 | low;
  std::memcpy(area + kComponents, &components, sizeof components);
  return std::vector<uint8_t>(area, area + kSize);
}

class ImaginedCallTest : public testing::Test {
 protected:
  static MappedCode look() {
    return MappedCode(symbols::parse_mappings(read_file("/proc/self/maps").value_or("")));
  }
  Caller caller() {
    auto read = [](uint64_t address, void* to, size_t size) {
      std::memcpy(to, reinterpret_cast<const void*>(address), size);
      return true;
    };
    return {read, reinterpret_cast<uint64_t>(__builtin_thread_pointer()), vectors};
  }
  template <typename Function>
  static gdb::FunctionCall to(Function function, std::vector<gdb::FunctionCall::Argument> arguments) {
    return {reinterpret_cast<uint64_t>(function), std::move(arguments), gdb::kInt};
  }
  static gdb::FunctionCall::Argument integer(int64_t value) {
    return {gdb::integer_number(value, gdb::kUnsignedLong), nullptr};
  }
  template <typename T>
  static gdb::FunctionCall::Argument pointer(T* value) {
    return integer(reinterpret_cast<int64_t>(value));
  }
  /// The result; none: it has failed.
  std::optional<int64_t> call(const gdb::FunctionCall& what) {
    ImaginedCall one(mapped_, caller());
    evaluation_ = {};
    auto number = one.call(what, evaluation_);
    missed_ = one.missed();
    EXPECT_EQ(number.has_value(), !one.failed());
    return number ? std::optional(number->integer) : std::nullopt;
  }
  bool has_read(const volatile void* address) const {
    return std::ranges::find(evaluation_.memory, reinterpret_cast<uint64_t>(address),
                             &std::pair<uint64_t, uint32_t>::first) != evaluation_.memory.end();
  }

  MappedCode mapped_ = look();
  gdb::Evaluation evaluation_;
  bool missed_ = false;
};

TEST_F(ImaginedCallTest, ComputesAsTheProcessorDoes) {
  for (int of : {0, 7, 10, 123456, -5}) EXPECT_EQ(call(to(digits_in, {integer(of)})), digits_in(of));
  EXPECT_EQ(call(to(fibonacci, {integer(10)})), 55);
  EXPECT_EQ(call(to(divide, {integer(7)})), 14);
}

TEST_F(ImaginedCallTest, TellsWhatItHasRead) {
  EXPECT_EQ(call(to(add_known, {integer(2)})), 7);
  EXPECT_TRUE(has_read(&known));
  for (int i = 0; i < 1000; ++i) table[i] = i;
  EXPECT_EQ(call(to(sum_of, {pointer(table), integer(1000)})), 499500);
  EXPECT_TRUE(has_read(&table[999]) || has_read(&table[996]));  // it may read several in one go
  EXPECT_FALSE(has_read(&known));
}

TEST_F(ImaginedCallTest, ChangesNothing) {
  ImaginedCall calls(mapped_, caller());
  auto first = calls.call(to(change, {integer(3)}), evaluation_),
       second = calls.call(to(change, {integer(3)}), evaluation_);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->integer, 4);
  EXPECT_EQ(second->integer, 7);  // those of one expression see what the one before has written
  EXPECT_EQ(changed, 1);
  EXPECT_EQ(call(to(change, {integer(3)})), 4);
}

TEST_F(ImaginedCallTest, PassesTextsAndFloatingNumbers) {
  std::string text = "AB";
  EXPECT_EQ(call(to(first_of, {{{}, &text}})), 'A' + 'B');
  EXPECT_TRUE(evaluation_.memory.empty());
  gdb::Number number, by;
  number.type = {gdb::NumberType::Format::kDouble, 8};
  number.real = 2.5;
  by.type = {gdb::NumberType::Format::kFloat, 4};
  by.real = 3;
  gdb::FunctionCall made = to(scaled, {{number, nullptr}, {by, nullptr}});
  made.result = number.type;
  ImaginedCall one(mapped_, caller());
  auto result = one.call(made, evaluation_);
  ASSERT_TRUE(result);
  EXPECT_EQ(static_cast<double>(result->real), 8.0);
}

TEST_F(ImaginedCallTest, HasVariablesOfItsThread) {
  EXPECT_EQ(call(to(own_and, {integer(2)})), 42);
  EXPECT_TRUE(has_read(&own));
}

TEST_F(ImaginedCallTest, LeavesTheRestToOthers) {
  EXPECT_EQ(call(to(divide, {integer(0)})), std::nullopt);
  EXPECT_EQ(call(to(asks_kernel, {integer(0)})), std::nullopt);
  EXPECT_EQ(call(to(goes_on, {integer(1)})), std::nullopt);
  EXPECT_EQ(call(to(deep, {integer(10)})), 10);
  EXPECT_FALSE(missed_);
  EXPECT_EQ(call(to(deep, {integer(400)})), std::nullopt);
  gdb::FunctionCall nowhere{16, {}, gdb::kInt};
  EXPECT_EQ(call(nowhere), std::nullopt);
}

TEST_F(ImaginedCallTest, FindsMemoryAsItIsMapped) {
  auto* page = static_cast<int*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_EQ(call(to(read_there, {integer(8)})), std::nullopt);
  EXPECT_TRUE(missed_);
  mapped_ = look();
  EXPECT_EQ(call(to(read_there, {pointer(page)})), 0);
  EXPECT_FALSE(mapped_.is_constant(reinterpret_cast<uint64_t>(page), 4));  // it may be written to one day
  EXPECT_TRUE(mapped_.is_constant(reinterpret_cast<uint64_t>("a literal"), 4));
  EXPECT_EQ(call(to(write_there, {pointer(page)})), std::nullopt);
  EXPECT_FALSE(missed_);
  mprotect(page, 4096, PROT_NONE);
  mapped_ = look();
  EXPECT_EQ(call(to(read_there, {pointer(page)})), std::nullopt);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  mapped_ = look();
  EXPECT_EQ(call(to(write_there, {pointer(page)})), 3);
  EXPECT_EQ(*page, 0);
  munmap(page, 4096);
}

}  // namespace
}  // namespace pastcone::debug
