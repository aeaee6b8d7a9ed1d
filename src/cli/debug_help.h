// What is said about the commands of `pastcone debug`: their names, and all that `help` and docs/debugger.md
// have.
//
// What they do is bound elsewhere (Commands::bind); those of gdb need not be.
#pragma once

#include <vector>

#include "pastcone/shell/commands.h"

namespace pastcone::cli {

/// Adds the texts of all commands. `help`, `apropos`, `source` and `quit` are of src/shell, and added by it.
void add_debug_texts(shell::Commands& commands);

/// docs/debugger.md.
std::string debug_reference(const shell::Commands& commands);

// One each in its own file, by what they are for.
std::vector<shell::CommandText> running_texts();
std::vector<shell::CommandText> stopping_texts();
std::vector<shell::CommandText> looking_texts();
std::vector<shell::CommandText> state_texts();
std::vector<shell::CommandText> causal_texts();

}  // namespace pastcone::cli
