#include "pastcone/shell/help.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

namespace pastcone::shell {
namespace {

constexpr size_t kWidth = 78;

const CommandText kHelp = {
    .name = "help",
    .aliases = "h",
    .group = "The session",
    .summary = "Say what commands there are, or what one does.",
    .usage = "help\nhelp COMMAND\nhelp all",
    .example = "(p2:1041) help run to",
    .text =
        "Without an argument the names of all commands are listed; `help all` adds what each of them does.\n"
        "What is no command of pastcone is looked up in gdb.",
};

const CommandText kApropos = {
    .name = "apropos",
    .group = "The session",
    .summary = "List the commands whose help has a word.",
    .usage = "apropos WORD",
    .example = "(p2:1041) apropos deadlock\nwhere -- Show all processes at once.",
};

/// "step, s".
std::string names_text(const CommandText& text) {
  std::string names(text.name);
  size_t last = text.name.rfind(' ');
  std::string before(last == std::string_view::npos ? "" : text.name.substr(0, last + 1));
  for (std::string_view alias : words_of(text.aliases)) names += fmt::format(", {}{}", before, alias);
  return names;
}

std::string summary_line(const CommandText& text) {
  return fmt::format("{} -- {}\n", names_text(text), text.summary);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string indented(std::string_view text, std::string_view first, std::string_view others) {
  std::string result;
  for (std::string_view line : lines_of(text)) {
    result += fmt::format("{}{}\n", result.empty() ? first : others, line);
  }
  return result;
}

/// Groups in the order of their first command, each with its commands.
std::vector<std::pair<std::string_view, std::vector<const CommandText*>>> grouped(const Commands& commands) {
  std::vector<std::pair<std::string_view, std::vector<const CommandText*>>> groups;
  for (const CommandText* text : commands.texts()) {
    if (text->prefix) continue;
    auto group =
        std::find_if(groups.begin(), groups.end(), [text](const auto& g) { return g.first == text->group; });
    if (group == groups.end()) group = groups.insert(groups.end(), {text->group, {}});
    group->second.push_back(text);
  }
  return groups;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Status run_help(const Commands& commands, std::string_view arguments) {
  if (arguments.empty()) {
    fmt::print("{}", help_overview(commands));
  } else if (arguments == "all") {
    fmt::print("{}", help_all(commands));
  } else if (const CommandText* text = TRY(commands.find(arguments)); text != nullptr) {
    fmt::print("{}", help_command(commands, *text));
  } else {
    return commands.hand_on_help(arguments);
  }
  return {};
}

}  // namespace

std::string help_overview(const Commands& commands) {
  std::string text;
  for (const auto& [group, members] : grouped(commands)) {
    text += fmt::format("{}:\n", group);
    std::string line = " ";
    for (const CommandText* member : members) {
      bool last = member == members.back();
      std::string item = fmt::format(" {}{}", member->name, last ? "" : ",");
      if (line.size() + item.size() > kWidth) {
        text += line + "\n";
        line = " ";
      }
      line += item;
    }
    text += line + "\n";
  }
  return text +
         "\nNames may be shortened while they are unique. Anything else is handed to gdb.\n"
         "Type \"help COMMAND\" for one with an example, \"help all\" for all of them, \"apropos WORD\" to "
         "search.\n";
}

std::string help_all(const Commands& commands) {
  std::string text;
  for (const auto& [group, members] : grouped(commands)) {
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", group);
    for (const CommandText* member : members) text += "  " + summary_line(*member);
  }
  return text;
}

std::string help_below(const Commands& commands, const CommandText& prefix) {
  std::string text = fmt::format("{}\n\n", prefix.summary);
  for (const CommandText* member : commands.below(prefix.name)) text += summary_line(*member);
  if (prefix.gdb) text += fmt::format("\nAny other \"{}\" is handed to gdb.\n", prefix.name);
  return text;
}

std::string help_command(const Commands& commands, const CommandText& text) {
  if (text.prefix)
    return summary_line(text) + "\n" + help_below(commands, text).substr(text.summary.size() + 2);
  std::string result = summary_line(text);
  result += indented(text.usage, "Usage: ", "       ");
  if (!text.text.empty()) result += "\n" + indented(text.text, "", "");
  if (!text.example.empty()) result += "\nExample:\n" + indented(text.example, "  ", "  ");
  std::vector<const CommandText*> more = commands.below(text.name);
  if (!more.empty()) result += "\nSee also:\n";
  for (const CommandText* member : more) result += "  " + summary_line(*member);
  return result;
}

std::string apropos(const Commands& commands, std::string_view word) {
  std::string sought = lower(word), found;
  for (const CommandText* text : commands.texts()) {
    std::string all =
        fmt::format("{}\n{}\n{}\n{}", names_text(*text), text->summary, text->usage, text->text);
    if (lower(all).find(sought) != std::string::npos) found += summary_line(*text);
  }
  return found.empty() ? fmt::format("Nothing about \"{}\".\n", word) : found;
}

std::string help_markdown(const Commands& commands) {
  std::string result;
  for (const auto& [group, members] : grouped(commands)) {
    result += fmt::format("## {}\n\n", group);
    for (const CommandText* text : members) {
      result += fmt::format("### {}\n\n{}\n\n", text->name, text->summary);
      std::vector<std::string_view> aliases = words_of(text->aliases);
      result += fmt::format("```\n{}```\n\n", indented(text->usage, "", ""));
      if (!aliases.empty())
        result += fmt::format("Also: `{}`.\n\n", names_text(*text).substr(text->name.size() + 2));
      if (!text->text.empty()) result += indented(text->text, "", "") + "\n";
      if (!text->example.empty()) result += fmt::format("```\n{}```\n\n", indented(text->example, "", ""));
    }
  }
  if (!result.empty()) result.pop_back();
  return result;
}

void add_help(Commands& commands) {
  commands.add(
      kHelp, [&commands](std::string_view arguments) { return run_help(commands, arguments); },
      [&commands](std::string_view arguments) { return commands.complete_names(arguments); });
  commands.add(kApropos, [&commands](std::string_view arguments) -> Status {
    if (arguments.empty()) return fail("Which word?  Try \"apropos message\".");
    fmt::print("{}", apropos(commands, arguments));
    return {};
  });
}

}  // namespace pastcone::shell
