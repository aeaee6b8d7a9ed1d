#include "pastcone/gdb/value.h"

#include <charconv>

namespace pastcone::gdb {
namespace {

// Deeper than gdb ever nests, and safe for the stack.
constexpr int kDeepest = 100;

bool is_octal(char c) { return c >= '0' && c <= '7'; }

class Parser {
 public:
  explicit Parser(std::string_view rest) : rest_(rest) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<uint64_t> take_token() {
    uint64_t token = 0;
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), token);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return token;
  }

  std::string take_name() {
    size_t length = rest_.find_first_of("=,{}[]\"");
    std::string name(rest_.substr(0, length));
    rest_.remove_prefix(name.size());
    return name;
  }

  /// "…" with C escapes.
  bool take_string(std::string& to) {
    if (!take('"')) return false;
    while (!rest_.empty()) {
      char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      to.push_back(c == '\\' ? take_escape() : c);
    }
    return false;
  }

  bool take_value(Value& to, int depth) {
    if (depth > kDeepest || rest_.empty()) return false;
    switch (rest_.front()) {
      case '"':
        return take_string(to.text);
      case '{':
        to.kind = Value::Kind::kTuple;
        return take_items(to, '}', depth);
      case '[':
        to.kind = Value::Kind::kList;
        return take_items(to, ']', depth);
      default:
        return false;
    }
  }

  /// name=value, or in a list a value alone.
  bool take_item(Value& to, int depth) {
    auto& [name, value] = to.items.emplace_back();
    name = take_name();
    if (!name.empty() && !take('=')) return false;
    return take_value(value, depth + 1);
  }

  const std::string_view& rest() const { return rest_; }

 private:
  bool take_items(Value& to, char close, int depth) {
    rest_.remove_prefix(1);
    if (take(close)) return true;
    do {
      if (!take_item(to, depth)) return false;
    } while (take(','));
    return take(close);
  }

  char take_escape() {
    if (rest_.empty()) return '\\';
    char c = rest_.front();
    if (is_octal(c)) {
      int value = 0;
      for (int i = 0; i < 3 && !rest_.empty() && is_octal(rest_.front()); ++i) {
        value = value * 8 + (rest_.front() - '0');
        rest_.remove_prefix(1);
      }
      return static_cast<char>(value);
    }
    rest_.remove_prefix(1);
    switch (c) {
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 'r':
        return '\r';
      case 'a':
        return '\a';
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'e':
        return '\033';
      default:
        return c;
    }
  }

  std::string_view rest_;
};

std::optional<RecordKind> kind_of(char c) {
  switch (c) {
    case '^':
      return RecordKind::kResult;
    case '*':
      return RecordKind::kExec;
    case '+':
      return RecordKind::kStatus;
    case '=':
      return RecordKind::kNotify;
    case '~':
      return RecordKind::kConsole;
    case '@':
      return RecordKind::kTarget;
    case '&':
      return RecordKind::kLog;
    default:
      return std::nullopt;
  }
}

Record plain_text(std::string_view line) {
  Record record;
  record.text = line;
  return record;
}

}  // namespace

Value::Value() = default;
Value::~Value() = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;

const Value* Value::find(std::string_view name) const {
  for (const auto& [key, value] : items)
    if (key == name) return &value;
  return nullptr;
}

const Value& Value::operator[](std::string_view name) const {
  static const Value kNothing;
  const Value* found = find(name);
  return found ? *found : kNothing;
}

std::optional<uint64_t> Value::number() const {
  std::string_view digits = text;
  int base = 10;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    base = 16;
  }
  uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Record parse_record(std::string_view line) {
  Record record;
  if (line == "(gdb) " || line == "(gdb)") {
    record.kind = RecordKind::kPrompt;
    return record;
  }
  Parser parser(line);
  record.token = parser.take_token();
  auto kind = parser.done() ? std::nullopt : kind_of(parser.rest().front());
  if (!kind) return plain_text(line);
  record.kind = *kind;
  parser.take(parser.rest().front());

  if (*kind == RecordKind::kConsole || *kind == RecordKind::kTarget || *kind == RecordKind::kLog) {
    if (parser.done() || parser.rest().front() != '"') return plain_text(line);
    record.whole = parser.take_string(record.text) && parser.done();
    return record;
  }
  record.name = parser.take_name();
  if (record.name.empty() || record.name.find(' ') != std::string::npos) return plain_text(line);
  record.results.kind = Value::Kind::kTuple;
  while (record.whole && parser.take(',')) record.whole = parser.take_item(record.results, 0);
  record.whole = record.whole && parser.done();
  return record;
}

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c == '\n' || c == '\r' || c == '\0' ? ' ' : c);
  }
  return out + '"';
}

}  // namespace pastcone::gdb
