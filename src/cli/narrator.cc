#include "pastcone/cli/narrator.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "pastcone/base/files.h"
#include "pastcone/cli/text.h"
#include "pastcone/shell/commands.h"

namespace pastcone::cli {
namespace {

// Reading pace: some 400 words a minute, for half of it is looked over.
constexpr size_t kMillisecondsPerCharacter = 18;
constexpr size_t kLongest = 8000;

bool can_be_bold() {
  const char* kind = std::getenv("TERM");
  return kind != nullptr && std::string_view(kind) != "dumb" && std::getenv("NO_COLOR") == nullptr;
}

}  // namespace

Narrator::Narrator(const shell::Interrupt& interrupt)
    : interrupt_(interrupt), terminal_(isatty(STDOUT_FILENO) == 1), bold_(terminal_ && can_be_bold()) {}

void Narrator::say(std::string_view text) {
  fmt::print("{}\n\n", filled(text, terminal_width()));
  std::fflush(stdout);
  told_ += text.size();
}

std::string filled(std::string_view text, size_t width) {
  if (width == 0) return std::string(text);
  std::string result;
  size_t column = 0;
  auto end_line = [&] {
    if (column > 0) result += '\n';
    column = 0;
  };
  for (bool more = true; more;) {
    size_t end = text.find('\n');
    more = end != std::string_view::npos;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(more ? end + 1 : text.size());
    bool as_it_is = line.empty() || line.front() == ' ';
    if (as_it_is) {
      end_line();
      result.append(line);
      if (more) result += '\n';
      continue;
    }
    for (std::string_view word : shell::words_of(line)) {
      if (column > 0 && column + 1 + word.size() >= width) end_line();
      if (column > 0) result += ' ', ++column;
      result.append(word);
      column += word.size();
    }
  }
  return result;
}

void Narrator::type(std::string_view prompt, std::string_view command) {
  fmt::print("{}{}{}{}\n", bold_ ? "\033[1m" : "", prompt, command, bold_ ? "\033[0m" : "");
  std::fflush(stdout);
  told_ += command.size();
}

void Narrator::show(std::string_view output) {
  fmt::print("{}", output);
  if (!output.empty() && !output.ends_with('\n')) fmt::print("\n");
  std::fflush(stdout);
  told_ += output.size() / 2;
}

void Narrator::let_read() {
  size_t wait = std::min(told_ * kMillisecondsPerCharacter, kLongest);
  told_ = 0;
  if (!terminal_) return;
  pollfd fds[] = {{interrupt_.fd(), POLLIN, 0}, {isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : -1, POLLIN, 0}};
  if (poll(fds, 2, static_cast<int>(wait)) <= 0 || fds[1].revents == 0) return;
  char line[4096];
  if (read(STDIN_FILENO, line, sizeof line) < 0) return;
}

Result<std::string> capture_output(const std::function<void()>& act) {
  UniqueFd file(memfd_create("output", MFD_CLOEXEC));
  std::fflush(stdout);
  UniqueFd before(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!file.valid() || !before.valid() || dup2(file.get(), STDOUT_FILENO) < 0)
    return fail("cannot redirect the output: {}", errno_message(errno));
  act();
  std::fflush(stdout);
  if (dup2(before.get(), STDOUT_FILENO) < 0) return fail("cannot restore stdout: {}", errno_message(errno));
  off_t size = lseek(file.get(), 0, SEEK_END);
  std::string text(static_cast<size_t>(std::max<off_t>(size, 0)), '\0');
  if (pread(file.get(), text.data(), text.size(), 0) != size)
    return fail("cannot read the output back: {}", errno_message(errno));
  return text;
}

}  // namespace pastcone::cli
