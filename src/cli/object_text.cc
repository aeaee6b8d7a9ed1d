#include "pastcone/cli/object_text.h"

#include <charconv>
#include <optional>

#include "pastcone/trace/json.h"
#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using replay::Access;
using replay::ObjectHistory;

/// "2" for p2, "2.3" for p2.3: as short as there may be many.
std::string short_name(ThreadId thread) { return to_string(thread).substr(1); }

std::string title(size_t number, const ObjectHistory& object) {
  std::string text = fmt::format("obj {}", number);
  if (!object.name.empty()) text += " " + printable(object.name);
  return text + fmt::format(": {}{}, {}, {}, {}", object.shared ? "shared " : "",
                            replay::kind_name(object.kind),
                            plural(object.accesses.size(), "access", "accesses"),
                            plural(object.hand_overs(), "hand-over", "hand-overs"),
                            plural(object.threads(), "thread", "threads"));
}

std::optional<size_t> as_number(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  if (auto [rest, error] = std::from_chars(text.data(), end, number); error != std::errc() || rest != end) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Result<std::vector<size_t>> choose_objects(const std::vector<ObjectHistory>& objects, const std::string& which) {
  std::vector<size_t> chosen;
  auto wanted = as_number(which);
  for (size_t number = 1; number <= objects.size(); ++number) {
    if (which == "all" || wanted == number || objects[number - 1].name == which) chosen.push_back(number);
  }
  if (!chosen.empty() || which == "all") return chosen;
  return fail("no object {} in this recording, which has {}; `show obj all` lists them", printable(which),
              objects.empty() ? "none" : plural(objects.size(), "object", "objects"));
}

void print_history(size_t number, const ObjectHistory& object, const Mark& mark) {
  fmt::print("{}\n", title(number, object));
  size_t width = terminal_width();
  std::string line;
  for (size_t i = 0; i < object.accesses.size(); ++i) {
    const Access& access = object.accesses[i];
    std::string item =
        fmt::format(" {}: {}{}{}", i, short_name(access.thread), access.write ? 'w' : 'r', mark ? mark(i) : "");
    if (width > 0 && !line.empty() && line.size() + item.size() + 1 > width) {
      fmt::print(" {}\n", line);
      line.clear();
    }
    line += item;
  }
  fmt::print(" {}\n", line);
}

}  // namespace pastcone::cli
