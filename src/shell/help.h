// What `help` says, and the reference that is made of the same texts.
#pragma once

#include <string>
#include <string_view>

#include "pastcone/shell/commands.h"

namespace pastcone::shell {

/// `help`: the names of all commands by group, and how to go on.
std::string help_overview(const Commands& commands);
/// `help all`: each with its summary.
std::string help_all(const Commands& commands);
/// `help COMMAND`.
std::string help_command(const Commands& commands, const CommandText& text);
/// The commands that begin with the words of `prefix`.
std::string help_below(const Commands& commands, const CommandText& prefix);
/// `apropos WORD`: the commands whose texts have that word, in capitals or not.
std::string apropos(const Commands& commands, std::string_view word);
/// All of it as Markdown: a section per group, with a section per command.
std::string help_markdown(const Commands& commands);

/// Adds the commands `help` and `apropos`.
void add_help(Commands& commands);

}  // namespace pastcone::shell
