#include "pastcone/cli/recordings.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "pastcone/base/suggest.h"
#include "pastcone/cli/print_error.h"
#include "pastcone/trace/file_names.h"
#include "pastcone/trace/json.h"
#include "pastcone/trace/live.h"

namespace pastcone::cli {
namespace {

namespace fs = std::filesystem;

bool is_recording(const Path& path) {
  std::error_code error;
  return fs::exists(path / kManifestName, error);
}

int64_t changed_ns(const Path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return 0;
  return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

/// Bytes of a file; of `live`, whose space is taken in advance, what it has of the disk.
uint64_t bytes_of(const Path& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  return static_cast<uint64_t>(path.filename() == kLiveName ? info.st_blocks * 512 : info.st_size);
}

}  // namespace

Result<std::vector<FoundRecording>> find_recordings() {
  std::vector<FoundRecording> found;
  std::error_code error;
  for (fs::directory_iterator entry(TRY(data_directory()), error), end; entry != end && !error;
       entry.increment(error)) {
    if (!is_recording(entry->path())) continue;
    found.push_back({entry->path().filename().native(), entry->path(), Manifest::read(entry->path())});
  }
  std::sort(found.begin(), found.end(), [](const FoundRecording& a, const FoundRecording& b) {
    int64_t a_time = a.manifest ? a.manifest->started_ns : INT64_MIN;
    int64_t b_time = b.manifest ? b.manifest->started_ns : INT64_MIN;
    return a_time != b_time ? a_time > b_time : a.name < b.name;
  });
  return found;
}

Result<Path> resolve_recording(const std::string& rec) {
  Path directory = TRY(data_directory());
  std::error_code error;
  if (rec.empty()) {
    auto found = TRY(find_recordings());
    if (found.empty()) {
      return fail("there is no recording in {}; make one: `pastcone record -- COMMAND`", directory.native());
    }
    return found.front().path;
  }
  bool is_path = rec.find('/') != std::string::npos;
  if (is_path || is_recording(rec)) return Path(rec);
  if (is_recording(directory / rec)) return directory / rec;
  if (fs::exists(rec, error)) return Path(rec);  // Recording::open says what is wrong with it
  std::vector<std::string> names;
  for (const FoundRecording& recording : TRY(find_recordings())) names.push_back(recording.name);
  std::string nearest = suggest(rec, names);
  return fail(
      "there is no recording '{}', here or in {}; {}", printable(rec), directory.native(),
      nearest.empty() ? "`pastcone ls` shows what there is" : fmt::format("did you mean {}?", nearest));
}

Result<Recording> open_recording(const std::string& rec, Check check) {
  Path path = TRY(resolve_recording(rec));
  Recording recording = TRY(Recording::open(path, check));
  const auto& damage = recording.damage();
  if (!damage.empty()) {
    std::string more = damage.size() == 1 ? "" : fmt::format(" (and {} more)", damage.size() - 1);
    print_error(fmt::format("{} is damaged: {}{}; what can be read is shown", recording.directory().native(),
                            damage.front(), more));
  }
  return recording;
}

std::string state_text(const Manifest& manifest, const Path& directory) {
  if (manifest.state != Manifest::State::kRecording || recorder_at_work(directory)) {
    return std::string(to_string(manifest.state));
  }
  return "unfinished";
}

int64_t duration_ns(const Manifest& manifest, const Path& directory) {
  int64_t end = manifest.ended_ns;
  if (end == 0 && recorder_at_work(directory)) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    end = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  } else if (end == 0) {
    end =
        std::max({changed_ns(directory / kPackName), changed_ns(directory / kLiveName), manifest.started_ns});
  }
  int64_t duration;
  return __builtin_sub_overflow(end, manifest.started_ns, &duration) ? 0 : duration;
}

RecordingSizes recording_sizes(const Path& directory) {
  RecordingSizes sizes;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; entry != end && !error; entry.increment(error)) {
    std::string name = entry->path().filename().native();
    (name == kPackName   ? sizes.pack
     : name == kLiveName ? sizes.live
                         : sizes.other) += bytes_of(entry->path());
  }
  for (fs::directory_iterator entry(directory / kFilesFolder, error), end; entry != end && !error;
       entry.increment(error)) {
    sizes.files += bytes_of(entry->path());
  }
  return sizes;
}

}  // namespace pastcone::cli
