// Answers the runtimes' requests for files (stage::FileSlot): which recorded programs map, or read by
// reference. A file of the system is noted with its hash. So is a large one that nobody writes to, and the
// first who wants to waits until it is copied into the recording; any other that is mapped is copied at once.
// Code gets a patched copy besides. The program waits for the answer, so it is given at once, and always:
// where something fails the program goes on, and replay will say what is missing.
//
// Used by one thread of the recorder.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/record/digest.h"
#include "pastcone/record/hash_cache.h"
#include "pastcone/record/patch_cache.h"
#include "pastcone/record/read_leases.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/file_table.h"

namespace pastcone::record {

/// Whether a file will be the same at replay as far as one can tell from its place and rights: root's, for
/// nobody else to write, in a directory that packages own. Replay checks it by hash.
bool belongs_to_system(const Path& path, const struct stat& info);

class FileKeeper {
 public:
  /// `patch`: whether to make patched copies at all. `breathe` is called during long copies.
  static Result<FileKeeper> create(const SharedStage& stage, const Path& recording, PatchCache patches,
                                   bool patch, Breathe breathe);

  /// Looks for requests and answers them. True if there was one.
  bool serve();
  /// The recording is over: notes the hashes of the large files, and copies those that have lost their name.
  void finish();

  /// Bytes of the copies so far.
  uint64_t kept_bytes() const { return kept_bytes_; }
  /// The first thing that went wrong, in words; empty if nothing did.
  const std::string& trouble() const { return trouble_; }

 private:
  FileKeeper(const SharedStage& stage, const Path& recording, const Path& cache, PatchCache patches,
             bool patch, FileTableWriter table, Breathe breathe);
  std::vector<uint32_t> requested() const;
  void answer(uint32_t id, stage::FileSlot& slot);
  Result<FileEntry> describe(uint32_t id, const stage::FileSlot& slot);
  Result<FileEntry> examine(uint32_t id, int fd, const Path& path, uint32_t wanted);
  /// Somebody is about to change it.
  void give_up(uint32_t id);
  Status conclude(FileEntry& entry, const ReadLeases::Held& held);
  void write(const FileEntry& entry);
  /// Copies it into the recording.
  Status keep(FileEntry& entry, int fd);
  Result<uint64_t> hash_of(int fd, const Path& path, const struct stat& info);
  void add_patched(int fd, FileEntry& entry);
  void note_trouble(const Error& error);

  const SharedStage& stage_;
  Path directory_;
  HashCache hashes_;
  PatchCache patches_;
  bool patch_;
  FileTableWriter table_;
  Breathe breathe_;
  int64_t started_ns_;
  ReadLeases leases_;
  std::map<uint32_t, FileEntry> entries_;  ///< what was answered
  uint32_t seen_requests_ = 0;
  uint64_t kept_bytes_ = 0;
  std::string trouble_;
};

}  // namespace pastcone::record
