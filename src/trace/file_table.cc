#include "pastcone/trace/file_table.h"

#include <fcntl.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "pastcone/trace/file_names.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/manifest.h"

namespace pastcone {
namespace {

constexpr uint64_t kMaxTable = 256 << 20;
constexpr size_t kMaxLine = 64 * 1024;  // a path has at most 4096 bytes
constexpr size_t kMaxDamage = 100;      // reported

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::optional<std::string> from_hex(std::string_view hex) {
  auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  std::string bytes;
  if (hex.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < hex.size(); i += 2) {
    if (digit(hex[i]) < 0 || digit(hex[i + 1]) < 0) return std::nullopt;
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

/// "files/" and a number: a kept copy never lies outside of the recording.
bool is_kept_name(std::string_view name) {
  constexpr std::string_view kFolder = "files/";
  return name.starts_with(kFolder) && name.size() > kFolder.size() &&
         name.find_first_not_of("0123456789", kFolder.size()) == std::string_view::npos;
}

std::optional<FileEntry> parse_entry(std::string_view line) {
  nlohmann::json json = parse_json(line);
  if (!json.is_object()) return std::nullopt;
  auto id = json_number<uint32_t>(json, "id");
  if (!id || *id == 0) return std::nullopt;
  FileEntry entry;
  entry.id = *id;
  entry.path = json_string(json, "path");
  if (json.contains("path_hex")) {
    auto path = from_hex(json_string(json, "path_hex"));
    if (!path) return std::nullopt;
    entry.path = *path;
  }
  if (entry.path.find('\0') != std::string::npos) return std::nullopt;
  entry.size = json_number<uint64_t>(json, "size").value_or(0);
  entry.mtime_ns = json_number<int64_t>(json, "mtime_ns").value_or(0);
  entry.hash = json_string(json, "hash");
  entry.patched = json_string(json, "patched");
  if (std::string kept = json_string(json, "kept"); !kept.empty()) {
    if (!is_kept_name(kept)) return std::nullopt;
    entry.kept = kept;
  }
  return entry;
}

}  // namespace

std::string FileEntry::to_json() const {
  nlohmann::ordered_json json;
  json["id"] = id;
  json["path"] = path;
  if (!is_utf8(path)) json["path_hex"] = to_hex(path);
  json["size"] = size;
  json["mtime_ns"] = mtime_ns;
  json["hash"] = hash;
  json["kept"] = kept ? nlohmann::ordered_json(*kept) : nlohmann::ordered_json();
  if (!patched.empty()) json["patched"] = patched;
  return dump_json(json);
}

FileTable FileTable::parse(std::string_view lines, std::vector<std::string>& damage) {
  FileTable table;
  for (size_t number = 1;; ++number) {
    size_t end = lines.find('\n');
    if (end == std::string_view::npos) return table;  // torn, or all read
    auto entry = end <= kMaxLine ? parse_entry(lines.substr(0, end)) : std::nullopt;
    if (entry) {
      table.entries_[entry->id] = std::move(*entry);
    } else if (damage.size() < kMaxDamage) {
      damage.push_back(fmt::format("files.jsonl, line {}: is damaged", number));
    }
    lines.remove_prefix(end + 1);
  }
}

Result<FileTable> FileTable::read(const Path& directory, std::vector<std::string>& damage) {
  Path path = directory / kFileTableName;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return FileTable();
  std::string lines = TRY(read_bounded_file(path, kMaxTable));
  return parse(lines, damage);
}

const FileEntry* FileTable::find(uint64_t id) const {
  if (id > UINT32_MAX) return nullptr;
  auto found = entries_.find(static_cast<uint32_t>(id));
  return found == entries_.end() ? nullptr : &found->second;
}

Result<FileTableWriter> FileTableWriter::open(const Path& directory) {
  Path path = directory / kFileTableName;
  return FileTableWriter(TRY(open_file(path, O_WRONLY | O_CREAT | O_APPEND)), path);
}

Status FileTableWriter::append(const FileEntry& entry) {
  std::string line = entry.to_json() + "\n";
  return write_all(fd_.get(), as_bytes(line), path_);
}

}  // namespace pastcone
