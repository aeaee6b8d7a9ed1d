// What a command line names: the ELF file to run, and the arguments it gets. Does what a shell and the kernel
// do between them: PATH, #! lines, a text file without one. Says no, in one line, to what cannot be recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::record {

struct Program {
  Path path;                           ///< the ELF file, absolute
  std::string name;                    ///< what the program sees as AT_EXECFN: for a script, the script
  std::vector<std::string> arguments;  ///< argv; for a script with the interpreter's in front
};

/// Finds `command[0]` (in PATH if it has no slash) and follows scripts to their interpreter. `command` is not
/// empty.
Result<Program> find_program(const std::vector<std::string>& command);

/// The status a shell would end with for a command that was refused: 127 if there is no such file, else 126.
int refusal_status(const std::string& command);

/// A #! line as the kernel reads it (fs/binfmt_script.c).
struct ScriptLine {
  std::string interpreter;
  std::string argument;  ///< all the rest, as one; may be empty
};
/// `head` is the first 256 bytes of the file, or all of it. An error if there is no usable #! line.
Result<ScriptLine> parse_script_line(std::string_view head);

/// Whether a file without ELF header or #! line can be meant as a shell script: no NUL in its first line.
bool looks_like_text(std::string_view head);

/// Says why the ELF file at `path` cannot be recorded (setuid, 32 bit, another machine, a missing loader, a sanitizer …), if so.
Status check_elf(const Path& path);

/// Says why the file's permissions forbid recording it (not executable, not readable, capabilities), if so.
Status check_permissions(const Path& path);

}  // namespace pastcone::record
