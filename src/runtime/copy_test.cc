#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <vector>

extern "C" {
long runtime_copy(void* to, const void* from, size_t n);
extern char runtime_copy_bytes[], runtime_copy_fault[], runtime_copy_end[];
}

namespace {

constexpr size_t kPage = 4096;

/// As the runtime has it.
void on_fault(int, siginfo_t*, void* context) {
  greg_t& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  auto at = reinterpret_cast<char*>(rip);
  if (at < reinterpret_cast<char*>(runtime_copy) || at >= runtime_copy_end) abort();
  rip = reinterpret_cast<greg_t>(at < runtime_copy_bytes ? runtime_copy_bytes : runtime_copy_fault);
}

/// Two pages, and then nothing.
class Pages {
 public:
  Pages() : start_(static_cast<uint8_t*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(end(), kPage, PROT_NONE);
  }
  ~Pages() { munmap(start_, 3 * kPage); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  uint8_t* end() const { return start_ + 2 * kPage; }
  void fill(uint8_t first, uint8_t step) {
    for (uint8_t* each = start_; each != end(); ++each, first = static_cast<uint8_t>(first + step)) *each = first;
  }

 private:
  uint8_t* start_;
};

class Copy : public ::testing::Test {
 protected:
  void SetUp() override {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  void TearDown() override { sigaction(SIGSEGV, &before_, nullptr); }

  /// `n` bytes, of which there are only so many on either side.
  void expect(size_t to_bytes, size_t from_bytes, size_t n) {
    from_.fill(1, 7);
    to_.fill(0, 0);
    uint8_t* to = to_.end() - to_bytes;
    const uint8_t* from = from_.end() - from_bytes;
    size_t copied = std::min({n, to_bytes, from_bytes});
    ASSERT_EQ(runtime_copy(to, from, n), static_cast<long>(n - copied)) << to_bytes << " " << from_bytes << " " << n;
    std::vector<uint8_t> expected(from, from + copied);
    ASSERT_EQ(std::vector<uint8_t>(to, to + copied), expected) << to_bytes << " " << from_bytes << " " << n;
    ASSERT_EQ(to[-1], 0);
    if (copied < to_bytes) {
      ASSERT_EQ(to[copied], 0) << to_bytes << " " << from_bytes << " " << n;
    }
  }

  Pages to_, from_;
  struct sigaction before_ {};
};

const std::vector<size_t> kSizes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 255, 256, 257, 271, 600};

TEST_F(Copy, DoesAllSizesAtAllAlignments) {
  for (size_t n : kSizes)
    for (size_t to = 0; to < 8; ++to)
      for (size_t from = 0; from < 8; ++from) expect(1000 + to, 2000 + from, n);
}

TEST_F(Copy, CountsWhatIsNotThere) {
  for (size_t n : kSizes) {
    for (size_t missing = 0; missing <= std::min<size_t>(n, 20); ++missing) {
      for (size_t other = 0; other < 8; ++other) {
        expect(n - missing, 1000 + other, n);
        expect(1000 + other, n - missing, n);
      }
    }
  }
}

}  // namespace
