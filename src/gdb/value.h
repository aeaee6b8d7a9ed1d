// What gdb says over MI, one line at a time: kind of record, token, class, results as a tree, decoded text.
//
// Lines come from outside (gdb, or a program that writes into gdb's output): anything is accepted, and what
// is no record is plain text. No state, no I/O; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pastcone::gdb {

/// A string, a tuple {a="1",b=…} or a list. A list's items may have names ([frame={…},frame={…}]) or none.
struct Value {
  enum class Kind { kString, kTuple, kList };
  Kind kind = Kind::kString;
  std::string text;
  std::vector<std::pair<std::string, Value>> items;

  Value();  // these where it is complete, as clang wants it
  ~Value();
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;

  /// The first item of that name, or a value that is empty: frame["args"]["nothing"].text is "".
  const Value& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Value* find(std::string_view name) const;
  /// A number as gdb prints it, decimal or 0x…; none if it is no number.
  std::optional<uint64_t> number() const;
};

enum class RecordKind {
  kResult,   ///< ^done
  kExec,     ///< *stopped
  kStatus,   ///< +download
  kNotify,   ///< =library-loaded
  kConsole,  ///< ~"text for the user"
  kTarget,   ///< @"text of the program"
  kLog,      ///< &"gdb's own log: commands, errors"
  kPrompt,   ///< (gdb)
  kText,     ///< no record: the program's own output, or nonsense
};

struct Record {
  RecordKind kind = RecordKind::kText;
  std::optional<uint64_t> token;
  std::string name;  ///< done, error, running, stopped, …
  Value results;     ///< a tuple
  std::string text;  ///< of a stream record decoded; of kText the line
  bool whole =
      true;  ///< false: the line was cut off or is not as MI writes it; the rest is what was understood
};

/// `line` without its end of line.
Record parse_record(std::string_view line);

/// A C string for an MI command, in quotes. A newline becomes a space: a command is one line.
std::string c_string(std::string_view text);

}  // namespace pastcone::gdb
