#include "pastcone/trace/event_reader.h"

#include <algorithm>

namespace pastcone {

const Item* Event::mark(format::Op op) const {
  auto found = std::find_if(marks.begin(), marks.end(), [op](const Item& mark) { return mark.op == op; });
  return found == marks.end() ? nullptr : &*found;
}

Status EventReader::look_ahead() {
  pending_.reset();
  pending_marks_.clear();
  while (true) {
    auto read = reader_.next();
    if (!read) return tl::unexpected<Error>(std::move(read).error());
    if (!*read) return {};
    const Item& item = **read;
    if (item.is_event()) {
      pending_ = item;
      return {};
    }
    if (item.op == format::Op::kCorrect) {
      current_.item.result = item.result;
      current_.corrected = true;
    } else if (item.op == format::Op::kTurnAfter) {
      current_.marks.push_back(item);
    } else {
      pending_marks_.push_back(item);
    }
  }
}

Result<const Event*> EventReader::next() {
  if (error_) return tl::unexpected<Error>(*error_);
  if (!started_) {
    started_ = true;
    TRY_STATUS(look_ahead());
  }
  if (!pending_) return nullptr;
  current_.item = *pending_;
  current_.corrected = false;
  std::swap(current_.marks, pending_marks_);
  if (Status ahead = look_ahead(); !ahead) error_ = ahead.error();
  return &current_;
}

void EventReader::skip_to(uint64_t event) {
  if (!reader_.skip_to(event)) return;
  pending_.reset();
  started_ = false;
}

bool EventReader::whole() const {
  return !reader_.missed() && !(reader_.skipped() && is_clock(current_.item.op));
}

}  // namespace pastcone
