#include "pastcone/shell/line_reader.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "pastcone/shell/terminal_reader.h"

namespace pastcone::shell {
namespace {

bool can_edit() {
  const char* name = std::getenv("TERM");
  return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && name != nullptr && *name != '\0' &&
         name != std::string_view("dumb");
}

}  // namespace

PlainReader::PlainReader(int input, ReaderOptions options, Interrupt& interrupt)
    : input_(input), options_(std::move(options)), interrupt_(interrupt), terminal_(isatty(input) != 0) {}

Line PlainReader::interrupted() {
  if (terminal_) fmt::print("\n");  // after the ^C that the kernel shows
  return {Line::Kind::kInterrupted};
}

Line PlainReader::read() {
  interrupt_.clear();
  if (terminal_ && options_.prompt) fmt::print("{}", options_.prompt());
  std::fflush(stdout);
  for (;;) {
    size_t newline = buffer_.find('\n');
    if (newline == std::string::npos && ended_) newline = buffer_.size();
    if (newline < buffer_.size() || (ended_ && !buffer_.empty())) {
      Line line{Line::Kind::kText, buffer_.substr(0, newline)};
      buffer_.erase(0, newline + 1);
      return line;
    }
    if (ended_) return {Line::Kind::kEnd};
    pollfd waits[] = {{input_, POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return {Line::Kind::kEnd};
    if (interrupt_.pending()) return interrupted();
    if (waits[0].revents == 0) continue;
    char bytes[4096];
    ssize_t count = ::read(input_, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count > 0) {
      buffer_.append(bytes, static_cast<size_t>(count));
    } else {
      ended_ = true;
    }
  }
}

std::unique_ptr<LineReader> open_line_reader(ReaderOptions options, Interrupt& interrupt) {
  if (can_edit()) return std::make_unique<TerminalReader>(std::move(options), interrupt);
  return std::make_unique<PlainReader>(STDIN_FILENO, std::move(options), interrupt);
}

}  // namespace pastcone::shell
