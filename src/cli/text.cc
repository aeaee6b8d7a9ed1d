#include "pastcone/cli/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "pastcone/base/check.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

/// Characters on the screen, near enough: those of UTF-8.
size_t text_width(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// The first `width` characters.
std::string_view cut(std::string_view text, size_t width) {
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    bool starts = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (starts && count++ == width) break;
  }
  return text.substr(0, end);
}

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
}

}  // namespace

std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  for (const char* unit : {"KB", "MB", "GB", "TB"}) {
    value /= 1000;
    if (value < 9.95) return fmt::format("{:.1f} {}", value, unit);
    if (value < 999.5) return fmt::format("{:.0f} {}", value, unit);
  }
  return fmt::format("{:.0f} PB", value / 1000);
}

std::string count_text(uint64_t count) {
  if (count < 1000) return std::to_string(count);
  return fmt::format("{},{:03}", count_text(count / 1000), count % 1000);
}

std::string duration_text(int64_t ns) {
  if (ns < 0) return "?";
  auto s = static_cast<double>(ns) / 1e9;
  if (s < 0.0995) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 59.95) return fmt::format("{:.1f} s", s);
  int64_t seconds = (ns + 500'000'000) / 1'000'000'000;
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

std::string local_time_text(int64_t unix_ns) {
  time_t seconds = unix_ns / 1'000'000'000;
  tm parts{};
  char text[64];
  if (localtime_r(&seconds, &parts) == nullptr) return "?";
  return {text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

std::string plural(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count_text(count), count == 1 ? one : many);
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) {
      text += argument;
      continue;
    }
    text += '\'';
    for (char c : argument) c == '\'' ? text += "'\\''" : text += c;
    text += '\'';
  }
  return printable(text);
}

Table::Table(std::vector<std::pair<std::string, Align>> header) {
  std::vector<std::string> names;
  for (auto& [name, align] : header) {
    aligns_.push_back(align);
    names.push_back(std::move(name));
  }
  add(std::move(names));
}

void Table::add(std::vector<std::string> row) {
  CHECK(row.size() == aligns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text(size_t width) const {
  std::vector<size_t> widths(aligns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      std::string padding(widths[i] - text_width(row[i]), ' ');
      line += aligns_[i] == Align::kLeft ? row[i] + padding : padding + row[i];
      line += "  ";
    }
    line += row.back();
    line.erase(line.find_last_not_of(' ') + 1);
    text += width == 0 ? line : cut(line, width);
    text += '\n';
  }
  return text;
}

size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace pastcone::cli
