#include "pastcone/shell/terminal_reader.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <string_view>
#include <utility>

#include "pastcone/base/check.h"

namespace pastcone::shell {
namespace {

/// Keys that libedit does not know by itself, though every terminal sends them.
constexpr std::pair<const char*, const char*> kKeys[] = {
    {"^I", "pastcone-complete"},  {"^R", "em-inc-search-prev"}, {"\\e[3~", "ed-delete-next-char"},
    {"\\e[1~", "ed-move-to-beg"}, {"\\e[4~", "ed-move-to-end"}, {"\\e[H", "ed-move-to-beg"},
    {"\\e[F", "ed-move-to-end"},  {"\\e[1;5C", "em-next-word"}, {"\\e[1;5D", "ed-prev-word"},
};

/// Names, lines of source and what programs sent are UTF-8 nearly everywhere.
void use_utf8() {
  setlocale(LC_CTYPE, "");
  if (nl_langinfo(CODESET) != std::string_view("UTF-8")) setlocale(LC_CTYPE, "C.UTF-8");
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

size_t characters(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += (c & 0xc0) != 0x80;
  return count;
}

}  // namespace

TerminalReader& TerminalReader::of(EditLine* editor) {
  void* reader = nullptr;
  el_get(editor, EL_CLIENTDATA, &reader);
  return *static_cast<TerminalReader*>(reader);
}

TerminalReader::TerminalReader(ReaderOptions options, Interrupt& interrupt)
    : options_(std::move(options)), interrupt_(interrupt), history_file_(options_.history) {
  use_utf8();
  editor_ = el_init("pastcone", stdin, stdout, stderr);
  history_ = history_init();
  CHECK(editor_ != nullptr && history_ != nullptr);
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_SIGNAL, 0);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(
      editor_, EL_PROMPT, +[](EditLine* editor) { return of(editor).prompt_.data(); });
  el_set(
      editor_, EL_GETCFN,
      +[](EditLine* editor, wchar_t* character) { return of(editor).next_character(*character); });
  el_set(
      editor_, EL_ADDFN, "pastcone-complete", "completes the word before the cursor",
      +[](EditLine* editor, int) { return of(editor).complete(); });

  HistEvent event;
  history(history_, &event, H_SETSIZE, static_cast<int>(HistoryFile::kKept));
  history(history_, &event, H_SETUNIQUE, 1);
  el_set(editor_, EL_HIST, history, history_);
  for (const std::string& line : history_file_.load()) history(history_, &event, H_ENTER, line.c_str());

  bind_keys();
  el_source(editor_, nullptr);
  // `bind -v` there takes all keys anew, so Tab needs to be bound again.
  el_set(editor_, EL_BIND, "^I", "pastcone-complete", nullptr);
}

TerminalReader::~TerminalReader() {
  el_end(editor_);
  history_end(history_);
}

void TerminalReader::bind_keys() {
  for (auto [key, function] : kKeys) el_set(editor_, EL_BIND, key, function, nullptr);
}

void TerminalReader::remember(const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  HistEvent event;
  bool again = history(history_, &event, H_FIRST) == 0 && event.str == line;
  if (again) return;
  history(history_, &event, H_ENTER, line.c_str());
  history_file_.append(line);
}

Line TerminalReader::read() {
  interrupt_.clear();
  interrupted_ = false;
  ended_by_ = 0;
  prompt_ = options_.prompt ? options_.prompt() : "";
  std::fflush(stdout);
  int count = 0;
  const char* typed = nullptr;
  {
    PromptSignals signals;
    signals_ = &signals;
    el_resize(editor_);  // the window may have changed while a command ran
    el_set(editor_, EL_PREP_TERM,
           1);  // libedit does so only after the prompt: too late for who types at once
    typed = el_gets(editor_, &count);
    signals_ = nullptr;
  }
  if (interrupted_) {
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    return {Line::Kind::kInterrupted};
  }
  if (ended_by_ != 0) raise(ended_by_);  // now that the terminal is as it was
  if (typed == nullptr || count <= 0) {
    fmt::print("\r{}quit\n", prompt_);  // as gdb shows Ctrl-D; libedit has written ^D
    std::fflush(stdout);
    return {Line::Kind::kEnd};
  }
  std::string line(typed, static_cast<size_t>(count));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  remember(line);
  return {Line::Kind::kText, line};
}

int TerminalReader::next_character(wchar_t& character) {
  std::mbstate_t state{};
  for (;;) {
    pollfd waits[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}, {signals_->fd(), POLLIN, 0}};
    if (poll(waits, 3, -1) < 0 && errno != EINTR) return -1;
    if (interrupt_.pending()) {
      interrupted_ = true;
      const LineInfo* line = el_line(editor_);
      if (auto behind = static_cast<int>(line->lastchar - line->cursor); behind > 0) {
        el_cursor(editor_, behind);  // so that ^C stands at the end
        show_again();
      }
      return -1;
    }
    if (std::optional<int> signal = signals_->next()) {
      if (!on_signal(*signal)) return -1;
      continue;
    }
    if (waits[0].revents == 0) continue;
    char byte;
    ssize_t count = ::read(STDIN_FILENO, &byte, 1);  // one: what is typed ahead may be for the program
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return static_cast<int>(count);
    size_t used = std::mbrtowc(&character, &byte, 1, &state);
    if (used == static_cast<size_t>(-2)) continue;  // more bytes of it to come
    if (used != static_cast<size_t>(-1)) return 1;
    state = {};  // not UTF-8: as if it had not been typed
  }
}

void TerminalReader::show_again() {
  std::fputs("\r", stdout);  // libedit begins where the cursor is
  std::fflush(stdout);
  el_set(editor_, EL_REFRESH);
}

bool TerminalReader::on_signal(int signal) {
  switch (signal) {
    case SIGWINCH:
      el_resize(editor_);
      show_again();
      return true;
    case SIGTSTP:
      el_set(editor_, EL_PREP_TERM, 0);
      signals_->pass_on(signal);
      [[fallthrough]];
    case SIGCONT:  // the shell has used the terminal
      el_set(editor_, EL_PREP_TERM, 1);
      el_resize(editor_);
      show_again();
      return true;
    default:
      ended_by_ = signal;
      return false;
  }
}

unsigned char TerminalReader::complete() {
  const LineInfo* line = el_line(editor_);
  std::string before(line->buffer, line->cursor);
  bool blank_follows = line->cursor < line->lastchar && *line->cursor == ' ';
  if (!options_.completer) return CC_REFRESH_BEEP;
  Completion completion = options_.completer(before);
  if (completion.candidates.empty()) return CC_REFRESH_BEEP;

  std::string typed = before.substr(completion.start), text = common_prefix(completion.candidates);
  bool only = completion.candidates.size() == 1;
  // After these something else of the same word follows.
  if (only && !blank_follows && !text.empty() &&
      std::string_view(":/=>#").find(text.back()) == std::string_view::npos)
    text += ' ';
  if (text.size() > typed.size() || only) {
    if (!text.starts_with(typed)) el_deletestr(editor_, static_cast<int>(characters(typed)));
    el_insertstr(editor_, text.starts_with(typed) ? text.c_str() + typed.size() : text.c_str());
    return CC_REFRESH;
  }
  std::fputs("\n", stdout);
  std::fputs(columns_text(completion.candidates, terminal_columns()).c_str(), stdout);
  std::fflush(stdout);
  return CC_REDISPLAY;
}

}  // namespace pastcone::shell
