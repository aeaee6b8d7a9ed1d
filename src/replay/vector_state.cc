#include "pastcone/replay/vector_state.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

namespace pastcone::replay {
namespace {

constexpr size_t kControl = 24, kKernelsOwn = 464, kPresent = 512, kLeast = 576;
// xmm, the upper halves of ymm, masks, the upper halves of zmm, zmm16 and on
constexpr uint64_t kVectors = 0xe6;
constexpr uint8_t kLower = 2;
constexpr uint32_t kAllMasked = 0x1f80;

}  // namespace

bool VectorState::fetch_copy() {
  auto copy = fetch_();
  if (!copy || copy->size() < kLeast || copy->size() > kMost) return false;
  area_->size = copy->size();
  std::ranges::copy(*copy, area_->bytes.begin());
  return known_ = true;
}

bool VectorState::fetch() {
  if (known_) return true;
  if (!area_) area_ = std::make_unique_for_overwrite<Area>();
  if (fetch_) return fetch_copy();
  iovec into{area_->bytes.data(), area_->bytes.size()};
  if (ptrace(PTRACE_GETREGSET, thread_, NT_X86_XSTATE, &into) != 0 || into.iov_len < kLeast) return false;
  area_->size = into.iov_len;
  return known_ = true;
}

uint8_t* VectorState::change() {
  if (!fetch()) return nullptr;
  changed_ = true;
  // Else what is there counts for nothing; and the kernel forgets mxcsr, too, when all are zero.
  area_->bytes[kPresent] |= kLower;
  return area_->bytes.data();
}

Result<std::vector<uint8_t>> VectorState::copy() {
  if (!fetch()) return fail("the vector registers of thread {} cannot be read", thread_);
  return std::vector(area_->bytes.begin(), area_->bytes.begin() + static_cast<ptrdiff_t>(area_->size));
}

/// The kernel says there which components there are.
uint64_t VectorState::components() const {
  uint64_t all = 0;
  std::memcpy(&all, area_->bytes.data() + kKernelsOwn, sizeof all);
  return all & kVectors;
}

bool VectorState::is_quiet() const {
  uint32_t control = 0;
  std::memcpy(&control, area_->bytes.data() + kControl, sizeof control);
  return (control & kAllMasked) == kAllMasked;
}

void VectorState::flush() {
  if (!changed_) return;
  changed_ = false;
  if (fetch_) return;
  area_->bytes[kPresent] |= kLower;
  iovec from{area_->bytes.data(), area_->size};
  // Fails only if somebody has killed it.
  ptrace(PTRACE_SETREGSET, thread_, NT_X86_XSTATE, &from);
}

void VectorState::forget() {
  flush();
  known_ = false;
}

}  // namespace pastcone::replay
