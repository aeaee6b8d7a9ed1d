// files.jsonl: the files that a recording refers to by number, and which of them it keeps a copy of. One JSON
// object a line, appended while recording; a later line for the same id replaces the earlier.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone {

struct FileEntry {
  uint32_t id = 0;
  std::string path;  ///< any bytes but NUL
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  std::string hash;  ///< xxh64 of the contents, 16 hex digits
  std::optional<std::string>
      kept;             ///< "files/3", in the recording's directory; none: the file itself is needed
  std::string patched;  ///< names its patched copy in the cache; empty: none

  std::string to_json() const;
};

class FileTable {
 public:
  /// A torn last line is ignored, any other line that makes no sense is told in `damage`.
  static FileTable parse(std::string_view lines, std::vector<std::string>& damage);
  /// No file: an empty table.
  static Result<FileTable> read(const Path& directory, std::vector<std::string>& damage);

  const FileEntry* find(uint64_t id) const;
  const std::map<uint32_t, FileEntry>& entries() const { return entries_; }

 private:
  std::map<uint32_t, FileEntry> entries_;
};

/// Appends to files.jsonl: each entry by one write, so a reader sees whole lines.
class FileTableWriter {
 public:
  static Result<FileTableWriter> open(const Path& directory);
  Status append(const FileEntry& entry);

 private:
  FileTableWriter(UniqueFd fd, Path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  UniqueFd fd_;
  Path path_;
};

}  // namespace pastcone
