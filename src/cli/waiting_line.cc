#include "pastcone/cli/waiting_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "pastcone/cli/text.h"

namespace pastcone::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 1s;
constexpr auto kOften = 100ms;
constexpr std::string_view kClear = "\r\033[K";

int terminal_fd() {
  const char* name = std::getenv("TERM");
  if (name == nullptr || *name == '\0' || name == std::string_view("dumb")) return -1;  // it cannot take a line back
  for (int fd : {STDERR_FILENO, STDOUT_FILENO})
    if (isatty(fd) == 1) return fd;
  return -1;
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string_view beginning_of(std::string_view text, size_t width) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at)
    if ((text[at] & 0xc0) != 0x80 && ++seen > width) break;
  return text.substr(0, at);
}

}  // namespace

std::string waiting_text(std::string_view what, uint64_t done, uint64_t to, size_t width) {
  std::string far;
  if (to > 0) {
    done = std::min(done, to);
    far = fmt::format("{}%, {} of {} events", done * 100 / to, count_text(done), count_text(to));
  } else if (done > 0) {
    far = fmt::format("{} events", count_text(done));
  }
  constexpr size_t kDots = 3;
  size_t taken = width_of(far) + kDots;
  std::string line(beginning_of(what, width > taken ? width - taken : 0));
  line += far.empty() ? " …" : " … " + far;
  return std::string(beginning_of(line, width));
}

WaitingLine::WaitingLine() : WaitingLine(terminal_fd()) {}

WaitingLine::Scope::Scope(WaitingLine& line, std::string what, uint64_t to)
    : line_(line), what_(std::exchange(line.what_, std::move(what))), to_(std::exchange(line.to_, to)) {
  line_.far_ = {};
}

WaitingLine::Scope::~Scope() {
  line_.hide();
  line_.what_ = std::move(what_);
  line_.to_ = to_;
}

void WaitingLine::begin() {
  hide();
  half_line_ = false;
  due_ = Clock::now() + kPatience;
}

std::string WaitingLine::text() const {
  winsize size{};
  bool known = ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return waiting_text(what_, far_.done, to_ != 0 ? to_ : far_.of, known ? size.ws_col - 1u : 79);
}

void WaitingLine::tick() {
  tick([this] { return far_; });
}

void WaitingLine::tick(const std::function<Far()>& ask) {
  if (fd_ < 0 || what_.empty() || half_line_) return;
  auto now = Clock::now();
  if (now < due_) return;
  due_ = now + kOften;
  far_ = ask();
  std::fflush(stdout);  // what was said before stands before it
  std::string line = fmt::format("{}{}", kClear, text());
  shown_ = true;
  (void)!write(fd_, line.data(), line.size());
}

void WaitingLine::hide() {
  if (!std::exchange(shown_, false)) return;
  (void)!write(fd_, kClear.data(), kClear.size());
}

void WaitingLine::make_room(std::string_view text) {
  hide();
  if (!text.empty()) half_line_ = text.back() != '\n';
}

}  // namespace pastcone::cli
