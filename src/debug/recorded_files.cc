#include "pastcone/debug/recorded_files.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "pastcone/base/files.h"
#include "pastcone/debug/images.h"
#include "pastcone/gdb/formula.h"

namespace pastcone::debug {
namespace {

/// Programs may be of either kind, libraries of one.
bool has_code(const Path& path, bool program) {
  Elf64_Ehdr header{};
  auto file = open_file(path, O_RDONLY);
  bool read = file && pread(file->get(), &header, sizeof header, 0) == sizeof header;
  return read && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         (header.e_type == ET_DYN || (program && header.e_type == ET_EXEC));
}

/// Of "No symbol "x" in current context."
std::string unknown_name(const std::string& error) {
  constexpr std::string_view kBefore = "No symbol \"";
  if (!error.starts_with(kBefore)) return {};
  return error.substr(kBefore.size(), error.find('"', kBefore.size()) - kBefore.size());
}

}  // namespace

/// None: a program is not there any more.
std::optional<std::vector<std::string>> RecordedFiles::all(bool programs) const {
  std::set<std::string> executed;
  for (const auto& [process, record] : engine_.world().processes.processes())
    for (const ProgramRun& program : record.programs) executed.insert(program.path);
  std::vector<std::string> files;
  for (const std::string& path : executed) {
    if (programs && access(path.c_str(), R_OK) != 0) return {};
    if (programs && has_code(path, true)) files.push_back(path);
  }
  for (const auto& [id, file] : engine_.world().recording.files().entries())
    if (!executed.contains(file.path) && has_code(file.path, programs)) files.push_back(file.path);
  return files;
}

/// Not good: the file is no program, or it is what gdb says to the command.
Result<gdb::Answer> RecordedFiles::ask(const std::string& file, const std::string& command) {
  if (!gdb_ || !gdb_->alive()) {
    gdb_ = TRY(gdb::Gdb::start());
    gdb_->set_interrupted([this] { return engine_.interrupted(); });
    file_.clear();
  }
  if (file_ != file) {
    gdb::Answer opened = TRY(gdb_->console("file " + gdb::c_string(file)));
    file_ = opened.good ? file : std::string();
    if (!opened.good) return opened;
  }
  gdb::Answer answer = TRY(gdb_->console(command));
  if (engine_.interrupted()) return fail("interrupted");
  return answer;
}

Result<bool> RecordedFiles::have_location(const std::string& location, bool programs) {
  if (auto known = locations_.find({location, programs}); known != locations_.end()) return known->second;
  auto files = all(programs);
  bool found = !files;
  for (const std::string& path : files.value_or(std::vector<std::string>())) {
    if (!TRY(ask(path, "show language")).good) continue;
    found = find_sites(*gdb_, location, "").has_value();
    if (engine_.interrupted()) return fail("interrupted");
    if (found) break;
  }
  return locations_[{location, programs}] = found;
}

Result<bool> RecordedFiles::have(const std::vector<std::string>& files, const std::string& expression, std::string& error) {
  for (const std::string& path : files) {
    gdb::Answer answer = TRY(ask(path, fmt::format("whatis {}", expression)));
    if (answer.good) return true;
    if (error.empty()) error = answer.error;
  }
  return false;
}

/// What gdb does not understand may still be evaluated by us (containers.h).
Result<bool> RecordedFiles::compile(const std::vector<std::string>& files, const std::string& expression) {
  for (const std::string& path : files) {
    if (!TRY(ask(path, "show language")).good) continue;
    if (gdb::compile_formulas(*gdb_, expression, "main")) return true;
    if (engine_.interrupted()) return fail("interrupted");
  }
  return false;
}

Status RecordedFiles::check_expression(ProcessId process, const std::string& expression) {
  auto files = all(true);
  if (!files || expressions_.contains(expression)) return {};
  const ProgramRun* program = engine_.world().processes.program(process);
  // The error is that of its own program.
  if (program != nullptr) std::ranges::stable_partition(*files, [&](const std::string& path) { return path == program->path; });
  std::string error, ignored;
  bool good = TRY(have(*files, expression, error));
  bool is_none = error.starts_with("A syntax error") || error.starts_with("There is no member named");
  std::string name = unknown_name(error);
  // What is in two files, or has no type in them, is seen when it is evaluated.
  if (!good && !is_none) good = name.empty() || TRY(have(*files, name, ignored));
  good = good || TRY(compile(*files, expression));
  if (good) expressions_.insert(expression);
  if (good) return {};
  if (is_none || name.starts_with("operator")) return fail("{}", error);
  return fail("{} If it is a function's own variable, add 'in FUNCTION' or 'at FILE:LINE'", error);
}

}  // namespace pastcone::debug
