// What those that do instructions without the processor share.
#pragma once

#include <sys/user.h>

#include <cstdint>

namespace pastcone::replay {

inline constexpr uint64_t kArithmeticFlags = 0x8d5;  // of, sf, zf, af, pf, cf
inline constexpr uint64_t kAlwaysSet = 2;            // of the flags
inline constexpr uint64_t kResume = 0x10000;         // left by the fault at the breakpoint

/// Its registers as instructions number them.
inline unsigned long long& register_of(user_regs_struct& r, unsigned number) {
  unsigned long long* const all[16] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rsp, &r.rbp, &r.rsi, &r.rdi,
                                       &r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  return *all[number & 15];
}

// Not into the red zone of who calls it.
#define PASTCONE_COMPUTE(operation)                                                                   \
  asm volatile("lea -128(%%rsp), %%rsp; " operation " %2, %0; pushfq; popq %1; lea 128(%%rsp), %%rsp" \
               : "+q"(left), "=&r"(flags)                                                             \
               : "q"(right)                                                                           \
               : "cc", "memory")

/// By the processor itself, so that all flags are right.
template <typename Word>
uint64_t compute(unsigned operation, Word& left, Word right) {
  uint64_t flags = 0;
  switch (operation) {
    case 0:
      PASTCONE_COMPUTE("add");
      break;
    case 1:
      PASTCONE_COMPUTE("or");
      break;
    case 4:
      PASTCONE_COMPUTE("and");
      break;
    case 5:
      PASTCONE_COMPUTE("sub");
      break;
    case 6:
      PASTCONE_COMPUTE("xor");
      break;
    default:  // 7
      PASTCONE_COMPUTE("cmp");
      break;
  }
  return flags & kArithmeticFlags;
}
#undef PASTCONE_COMPUTE

inline bool holds(unsigned condition, uint64_t flags) {
  bool cf = (flags & 1) != 0, pf = (flags & 4) != 0, zf = (flags & 0x40) != 0, sf = (flags & 0x80) != 0,
       of = (flags & 0x800) != 0;
  bool value = false;
  switch (condition >> 1) {
    case 0:
      value = of;
      break;
    case 1:
      value = cf;
      break;
    case 2:
      value = zf;
      break;
    case 3:
      value = cf || zf;
      break;
    case 4:
      value = sf;
      break;
    case 5:
      value = pf;
      break;
    case 6:
      value = sf != of;
      break;
    default:
      value = zf || sf != of;
      break;
  }
  return value != ((condition & 1) != 0);
}

}  // namespace pastcone::replay
