// Numbers and tables for people to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pastcone::cli {

/// "812 B", "1.2 MB".
std::string size_text(uint64_t bytes);
/// "1,234,567".
std::string count_text(uint64_t count);
/// "45 ms", "2.5 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(int64_t ns);
/// "2024-11-15 10:55:02", local time.
std::string local_time_text(int64_t unix_ns);
/// "1 process", "3 processes".
std::string plural(uint64_t count, std::string_view one, std::string_view many);
/// A command line that a shell would take; control characters escaped.
std::string command_text(const std::vector<std::string>& arguments);

/// Columns to be lined up. The last one is never padded, and cut where the terminal ends.
class Table {
 public:
  enum class Align { kLeft, kRight };
  explicit Table(std::vector<std::pair<std::string, Align>> header);
  void add(std::vector<std::string> row);
  /// `width`: columns of the terminal, 0 for no limit.
  std::string text(size_t width = 0) const;

 private:
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Columns of the terminal that is stdout; 0 if it is none.
size_t terminal_width();

}  // namespace pastcone::cli
