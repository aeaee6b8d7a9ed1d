#include "pastcone/replay/unwind_tables.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "pastcone/patch/abi.h"
#include "pastcone/record/digest.h"
#include "pastcone/symbols/code_file.h"

namespace pastcone::replay {
namespace {

using symbols::CodeFile;
using symbols::Origins;

/// Programs map much that is not code; they need not be looked at more closely.
bool is_elf(const Path& path) {
  char magic[4] = {};
  auto fd = open_file(path, O_RDONLY);
  return fd && pread(fd->get(), magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, "\177ELF", sizeof magic) == 0;
}

Status write_table(const Path& path, const std::vector<stage::UnwindRow>& rows, uint32_t flags) {
  stage::UnwindTable header{static_cast<uint32_t>(rows.size()), flags};
  std::string bytes(sizeof header + rows.size() * sizeof(stage::UnwindRow), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!rows.empty())
    std::memcpy(bytes.data() + sizeof header, rows.data(), rows.size() * sizeof(stage::UnwindRow));
  return write_file_atomic(path, bytes);
}

Path table_path(const Path& directory, uint32_t file) { return directory / fmt::format("unwind.{}", file); }

/// Once there is debug information somewhere, callers are looked for until it is found; else whoever is
/// outside libc is the answer.
uint32_t flags_of(const CodeFile& file, bool any_source) {
  uint32_t flags = file.is_static() ? stage::kTableStatic : 0;
  return any_source || file.in_c_library() ? flags : flags | stage::kTableEnough;
}

Path patched_copy(const stage::View& stage, const stage::FileSlot& slot) {
  if (slot.patched == 0) return {};
  return Path(stage.header().patch_directory) / record::to_hex(slot.patched);
}

}  // namespace

Path patched_name(const Path& directory, uint32_t file) {
  return directory / fmt::format("patched.{}", file);
}

Status write_unwind_tables(const Recording& recording, const stage::View& stage, const Path& runtime,
                           const Path& directory) {
  std::map<uint32_t, CodeFile> files;
  bool any_source = false;
  for (const auto& [id, entry] : recording.files().entries()) {
    Path path = stage.file(id).path;
    if (!is_elf(path)) continue;
    auto file = CodeFile::open(path, entry.path);
    if (!file) continue;
    any_source |= file->has_source() && !file->in_c_library();
    files.emplace(id, *std::move(file));
  }
  for (const auto& [id, file] : files) {
    Path patched = patched_copy(stage, stage.file(id));
    std::error_code ignored;  // then what was patched has no place
    if (!patched.empty()) std::filesystem::create_symlink(patched, patched_name(directory, id), ignored);
    auto origins = Origins::read(patched);
    auto rows = file.unwind_rows(origins ? &*origins : nullptr);
    TRY_STATUS(write_table(table_path(directory, id), rows, flags_of(file, any_source)));
  }
  auto own = CodeFile::open(runtime, runtime);
  if (!own) return {};
  return write_table(table_path(directory, stage::kRuntimeFile), own->unwind_rows_from(patch::kRuntimeBase),
                     0);
}

}  // namespace pastcone::replay
