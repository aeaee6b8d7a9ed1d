// Where an export goes: a file, through a buffer.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <iterator>

#include "pastcone/base/result.h"

namespace pastcone::exports {

class Out {
 public:
  /// The file stays the caller's.
  explicit Out(std::FILE* file) : file_(file) {}

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() > kRoom) flush();
  }

  /// What is left. An error if not all could be written.
  Status finish();

 private:
  static constexpr size_t kRoom = 60'000;
  void flush();

  std::FILE* file_;
  fmt::memory_buffer buffer_;
  int error_ = 0;
};

}  // namespace pastcone::exports
