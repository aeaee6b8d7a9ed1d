// How lines go to gdb and come from it, while the other descriptors are served.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "pastcone/gdb/gdb.h"

namespace pastcone::gdb {
namespace {

constexpr short kReadable = POLLIN | POLLHUP | POLLERR | POLLNVAL;
constexpr int kLastBreath = 2000;  // ms between the end of gdb's output and its own
constexpr int kTick = 100;         // ms between two looks whether the user has interrupted it
constexpr std::chrono::milliseconds kGrace(300), kBetweenInterrupts(1000);
constexpr int kMostInterrupts = 4;

/// Text without an end of line (`shell printf x`, a program run by gdb itself) stands in front of a record in
/// its line. Where that record starts, or 0.
size_t hidden_record(std::string_view line, uint64_t token) {
  for (const std::string& start : {fmt::format("{}^", token), std::string("*stopped,")}) {
    size_t at = line.rfind(start);
    if (at != std::string_view::npos && at > 0 && parse_record(line.substr(at)).whole) return at;
  }
  return 0;
}

}  // namespace

Status Gdb::send(const std::string& line) {
  for (size_t sent = 0; sent < line.size();) {
    ssize_t n = ::send(in_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ended();
    sent += static_cast<size_t>(n);
  }
  return {};
}

std::optional<Record> Gdb::buffered_record() {
  size_t end = buffer_.find('\n', searched_);
  if (end == std::string::npos) {
    buffer_.erase(0, parsed_);
    parsed_ = 0;
    searched_ = buffer_.size();
    return std::nullopt;
  }
  std::string_view line(buffer_.data() + parsed_, end - parsed_);
  Record record = parse_record(line);
  if (record.kind == RecordKind::kText) {
    if (size_t at = hidden_record(line, tokens_)) {
      record.text.resize(at);
      parsed_ += at;
      searched_ = parsed_;
      return record;
    }
    record.text += '\n';
  }
  searched_ = parsed_ = end + 1;
  return record;
}

Result<Record> Gdb::next_record(int patience) {
  for (;;) {
    if (auto record = buffered_record()) return std::move(*record);
    TRY_STATUS(wait_for_more(patience));
  }
}

Status Gdb::wait_for_more(int patience) {
  TRY_STATUS(pass_on_interrupt());
  // Its end is watched too: a program that gdb has started may keep the pipe open.
  std::vector<pollfd> fds{{out_.get(), POLLIN, 0}, {process_.get(), POLLIN, 0}};
  for (const Source& source : sources_) fds.push_back({source.fd, POLLIN, 0});
  int ready = TRY(poll_all(fds, patience));
  if (ready == 0) return {};
  for (size_t i = 2; i < fds.size(); ++i)
    if (fds[i].revents & kReadable) serve_ready(fds[i].fd);
  if (!(fds[0].revents & kReadable)) {
    if (fds[1].revents & POLLIN) return ended();
    return {};
  }
  char bytes[65536];
  ssize_t n = read(out_.get(), bytes, sizeof bytes);
  if (n < 0 && errno == EINTR) return {};
  if (n <= 0) return ended();
  buffer_.append(bytes, static_cast<size_t>(n));
  return {};
}

Result<int> Gdb::poll_all(std::vector<pollfd>& fds, int patience) {
  int tick = interrupted_ ? kTick : patience;
  for (int waited = 0;; waited += tick) {
    if (patience >= 0) tick = std::min(tick, patience - waited);
    int ready = poll(fds.data(), fds.size(), tick);
    if (ready < 0 && errno != EINTR) return fail("cannot wait for gdb: {}", strerror(errno));
    if (ready > 0) return ready;
    if (ready < 0 || (interrupted_ && interrupted_())) return 0;
    if (patience >= 0 && waited + tick >= patience) return fail("gdb does not answer");
  }
}

/// The process that it has sent on hears of it by itself, and then gdb has stopped in a moment.
Status Gdb::pass_on_interrupt() {
  if (!interrupted_ || !interrupted_()) return {};
  auto now = std::chrono::steady_clock::now();
  if (!interrupted_at_) {
    interrupted_at_ = now;
    interrupts_sent_ = 0;
  }
  if (now - *interrupted_at_ < kGrace + interrupts_sent_ * kBetweenInterrupts) return {};
  if (interrupts_sent_++ == kMostInterrupts) {
    kill(pid_, SIGKILL);
    return ended();
  }
  interrupt();
  if (interrupts_sent_ > 1) TRY_STATUS(send("\n"));  // a script may read a line, and does not hear of it
  return {};
}

// By descriptor, since a source may have added another one, or have been forgotten meanwhile.
void Gdb::serve_ready(int fd) {
  auto is_it = [fd](const Source& source) { return source.fd == fd; };
  auto source = std::find_if(sources_.begin(), sources_.end(), is_it);
  if (source == sources_.end()) return;
  auto readable = source->readable;
  if (readable()) return;
  source = std::find_if(sources_.begin(), sources_.end(), is_it);
  if (source != sources_.end()) sources_.erase(source);
}

tl::unexpected<Error> Gdb::ended() {
  if (alive()) {
    pollfd exit{process_.get(), POLLIN, 0};
    poll(&exit, 1, kLastBreath);
  }
  reap();
  if (WIFSIGNALED(status_)) return fail("gdb was killed by signal {}", WTERMSIG(status_));
  return fail("gdb has ended (exit status {})", WEXITSTATUS(status_));
}

}  // namespace pastcone::gdb
