// Text in a fixed buffer, for messages from inside the program: never allocates, never overflows.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

class Text {
 public:
  Text(char* buffer, size_t size) : begin_(buffer), at_(buffer), end_(buffer + size - 1) { *at_ = 0; }
  Text& operator<<(const char* s) {
    while (*s && at_ < end_) *at_++ = *s++;
    *at_ = 0;
    return *this;
  }
  Text& operator<<(i64 value) {
    if (value < 0) *this << "-";
    return number(value < 0 ? (u64)0 - (u64)value : (u64)value, 10, 1);
  }
  Text& operator<<(u64 value) { return number(value, 10, 1); }
  Text& operator<<(u32 value) { return number(value, 10, 1); }
  Text& operator<<(int value) { return *this << (i64)value; }
  Text& hex(u64 value, int width = 1) { return number(value, 16, width); }
  Text& decimal(u64 value, int width) { return number(value, 10, width); }
  const char* c_str() const { return begin_; }
  size_t size() const { return (size_t)(at_ - begin_); }

 private:
  Text& number(u64 value, u64 base, int width) {
    char digits[24];
    int n = 0;
    do digits[n++] = "0123456789abcdef"[value % base];
    while ((value /= base) || n < width);
    while (n && at_ < end_) *at_++ = digits[--n];
    *at_ = 0;
    return *this;
  }
  char *begin_, *at_, *end_;
};

}  // namespace pastcone::runtime
