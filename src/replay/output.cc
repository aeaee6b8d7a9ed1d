#include "pastcone/replay/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "pastcone/record/shared_stage.h"

namespace pastcone::replay {
namespace {

constexpr uint32_t kDone = 0x100;
constexpr size_t kFlushAt = 1 << 16;

}  // namespace

OutputPrinter::OutputPrinter(const stage::View& stage, std::vector<uint64_t> orders, int file, bool shown,
                             std::vector<bool>* once, std::function<void(std::string_view)> on_output)
    : stage_(stage), orders_(std::move(orders)), file_(file), once_(once), on_output_(std::move(on_output)) {
  if (!shown) orders_.clear();
  if (once_ != nullptr) once_->resize(orders_.size());
}

bool OutputPrinter::advance() {
  if (once_ != nullptr) return advance_in_any_order();
  for (; next_ < orders_.size() && orders_[next_] < stage::kOutputSlots; ++next_) {
    const stage::OutputSlot& slot = stage_.output(orders_[next_]);
    uint32_t state = record::load(slot.fd_and_done);
    if ((state & kDone) == 0) break;
    if (!append(static_cast<int>(state & 0xff), slot.position, slot.length)) return false;
  }
  return write_out();
}

bool OutputPrinter::advance_in_any_order() {
  uint64_t done = record::load(stage_.header().output_done);
  if (std::exchange(done_, done) == done) return true;
  while (next_ < orders_.size() && (*once_)[next_]) ++next_;
  for (size_t i = next_; i < orders_.size() && orders_[i] < stage::kOutputSlots; ++i) {
    const stage::OutputSlot& slot = stage_.output(orders_[i]);
    uint32_t state = record::load(slot.fd_and_done);
    if ((*once_)[i] || (state & kDone) == 0) continue;
    (*once_)[i] = true;
    if (!append(static_cast<int>(state & 0xff), slot.position, slot.length)) return false;
  }
  return write_out();
}

bool OutputPrinter::append(int fd, uint64_t position, uint32_t length) {
  if (fd != 1 && fd != 2) return true;
  if (fd != pending_fd_ && !write_out()) return false;
  pending_fd_ = fd;
  while (length > 0) {
    size_t start = pending_.size(), part = std::min<size_t>(length, kFlushAt);
    pending_.resize(start + part);
    ssize_t got = pread(file_, pending_.data() + start, part, static_cast<off_t>(position));
    pending_.resize(start + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
    position += static_cast<uint64_t>(got);
    length -= static_cast<uint32_t>(got);
    if (pending_.size() >= kFlushAt && !write_out()) return false;
  }
  return true;
}

bool OutputPrinter::write_out() {
  if (!pending_.empty() && on_output_) on_output_(pending_);
  if (!pending_.empty()) std::fflush(stdout);  // what we have said stands before what the program says then
  size_t done = 0;
  while (done < pending_.size()) {
    ssize_t written = write(pending_fd_, pending_.data() + done, pending_.size() - done);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written < 0) return false;
    done += static_cast<size_t>(written);
  }
  pending_.clear();
  return true;
}

}  // namespace pastcone::replay
