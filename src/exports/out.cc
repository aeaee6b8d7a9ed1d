#include "pastcone/exports/out.h"

#include <cerrno>

#include "pastcone/base/files.h"

namespace pastcone::exports {

void Out::flush() {
  if (error_ == 0 && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) != buffer_.size()) error_ = errno;
  buffer_.clear();
}

Status Out::finish() {
  flush();
  if (error_ == 0 && std::fflush(file_) != 0) error_ = errno;
  if (error_ != 0) return fail("cannot write the export: {}", errno_message(error_));
  return {};
}

}  // namespace pastcone::exports
