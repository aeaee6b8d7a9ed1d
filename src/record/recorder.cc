#include "pastcone/record/recorder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "pastcone/record/descendants.h"
#include "pastcone/record/new_recording.h"
#include "pastcone/record/packer.h"
#include "pastcone/record/program.h"
#include "pastcone/record/service.h"
#include "pastcone/trace/processes.h"

extern char** environ;

namespace pastcone::record {
namespace {

/// Up to this size a recording is read again to count its events; reading more would make the user wait.
constexpr uint64_t kCountLimit = 1 << 20;

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

/// Where the caller has closed standard input, output or error, a file of ours must not take its place. The
/// program finds them closed as we did.
void reserve_standard_descriptors() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) close(fd);
}

/// Until the recorder is gone readers see that it is at work (trace/live.h).
Status lock_live(const LiveFile& live) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(live.fd(), F_SETLK, &lock) != 0) return fail("cannot lock `live`: {}", errno_message(errno));
  return {};
}

/// A limit on the size of files, or of memory, is for the program, not for what we do about it.
std::vector<Limit> lift_limits() {
  std::vector<Limit> original;
  for (auto resource : {RLIMIT_FSIZE, RLIMIT_AS}) original.push_back({resource, lift_limit(resource)});
  return original;
}

class Recorder {
 public:
  Recorder(const RecordOptions& options, Path directory, SharedStage stage, LiveFile live, PackWriter pack)
      : options_(options),
        directory_(std::move(directory)),
        stage_(std::move(stage)),
        live_(std::move(live)),
        packer_(stage_, live_, std::move(pack)),
        service_(stage_, live_, packer_, options.max_size) {}

  Status prepare(const PatchCache& patches);
  Result<RecordOutcome> run(const Program& program, const Path& runtime, Descendants descendants,
                            std::vector<Limit> limits);

 private:
  Status hand_over(const Program& program);
  void finish(RecordOutcome& outcome);
  /// Why the recording ends before the program; empty if it does not.
  std::string reason_to_stop() const;
  /// The processes that went on without being recorded, and from where; empty if there are none.
  std::string who_left() const;
  void count(RecordOutcome& outcome) const;
  std::vector<std::string> remarks(stage::Remark kind) const;

  const RecordOptions& options_;
  Path directory_;
  SharedStage stage_;
  LiveFile live_;
  Packer packer_;
  Service service_;
  Manifest manifest_;
};

Status Recorder::prepare(const PatchCache& patches) {
  manifest_ = describe_run(options_.command);
  manifest_.parallel = options_.parallel;
  TRY_STATUS(manifest_.write(directory_));
  TRY_STATUS(lock_live(live_));
  TRY_STATUS(service_.first_chunks());
  return service_.prepare(directory_, patches, options_.patch);
}

/// What the runtime must know to become the program (stage::Handoff), in the first chunk.
Status Recorder::hand_over(const Program& program) {
  stage::Header& header = stage_.header();
  const std::string& path = program.path.native();
  stage::Handoff handoff{};
  handoff.magic = stage::kHandoffMagic;
  handoff.from_tool = 1;
  handoff.path = sizeof handoff;
  handoff.name = static_cast<uint32_t>(handoff.path + path.size() + 1);
  handoff.rest = static_cast<uint32_t>(handoff.name + program.name.size() + 1);
  handoff.size = handoff.rest;
  if (handoff.size > format::kChunkSize) return fail("the command's path is too long");
  uint32_t chunk = header.next_chunk++;
  char* at = live_.chunk(chunk);
  std::memcpy(at, &handoff, sizeof handoff);
  std::memcpy(at + handoff.path, path.c_str(), path.size() + 1);
  std::memcpy(at + handoff.name, program.name.c_str(), program.name.size() + 1);

  header.next_process = 1;
  stage::ProcessSlot& first = stage_.view().process(1);
  first.handoff_chunk = chunk + 1;
  first.handoff_size = handoff.size;
  store(first.state, static_cast<uint32_t>(stage::ProcessState::kExecuting));
  return {};
}

Result<RecordOutcome> Recorder::run(const Program& program, const Path& runtime, Descendants descendants,
                                    std::vector<Limit> limits) {
  TRY_STATUS(hand_over(program));
  rlimit open_files{};
  getrlimit(RLIMIT_NOFILE, &open_files);
  Launch how;
  how.runtime = runtime;
  how.arguments = program.arguments;
  how.environment = own_environment();
  how.limits = std::move(limits);
  how.open_files = open_files.rlim_cur;
  how.trace_fd = live_.fd();
  how.signal_mask = descendants.original_mask();
  how.ignore_child_signal = descendants.child_signal_ignored();
  pid_t first = TRY(launch(stage_, how));
  packer_.start();
  service_.start();

  RecordOutcome outcome;
  outcome.directory = directory_;
  outcome.interrupted_by = descendants.wait(first);
  outcome.status = descendants.first_status().value_or(0);
  if (descendants.first_status()) {
    int status = outcome.status;
    manifest_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  finish(outcome);
  return outcome;
}

void Recorder::finish(RecordOutcome& outcome) {
  bool all_ended = outcome.interrupted_by == 0;
  if (!all_ended) {
    service_.stop_recording(format::StopReason::kByUser);
    service_.wait_until_quiet();
  }
  service_.stop();
  Status packed = packer_.finish(all_ended);
  if (packed) live_.remove();
  outcome.why = reason_to_stop();
  manifest_.ended_ns = now_ns();
  manifest_.why = !packed ? packed.error().message : outcome.why.empty() ? who_left() : outcome.why;
  manifest_.state = manifest_.why.empty() ? Manifest::State::kComplete : Manifest::State::kIncomplete;
  if (packed) manifest_.pack_bytes = packer_.packed_bytes();
  outcome.processes = load(stage_.header().next_process);
  manifest_.processes = outcome.processes;
  if (Status written = manifest_.write(directory_); !written)
    outcome.remarks.push_back(written.error().message);
  if (!packed) {
    outcome.remarks.push_back(
        fmt::format("{}; the rest stays in {}", packed.error().message, (directory_ / "live").native()));
  }
  if (!service_.files().trouble().empty()) outcome.remarks.push_back(service_.files().trouble());
  for (stage::Remark kind : {stage::Remark::kLeft, stage::Remark::kSaid}) {
    for (std::string& text : remarks(kind)) outcome.remarks.push_back(std::move(text));
  }
  outcome.bytes = packer_.packed_bytes() + service_.files().kept_bytes();
  count(outcome);
}

std::string Recorder::reason_to_stop() const {
  if (uint32_t stopped = load(stage_.header().stopped); stopped != 0) {
    return std::string(pastcone::to_string(static_cast<format::StopReason>(stopped)));
  }
  return {};
}

/// Processes that went on without being recorded, or that were denied something, say so in their slot.
std::vector<std::string> Recorder::remarks(stage::Remark kind) const {
  std::vector<std::string> result;
  uint32_t count = std::min(load(stage_.header().next_process), stage::kMaxProcesses - 1);
  for (uint32_t number = 1; number <= count; ++number) {
    const stage::ProcessSlot& slot = stage_.view().process(number);
    if (slot.remark != static_cast<uint32_t>(kind)) continue;
    std::string report(slot.report, strnlen(slot.report, sizeof slot.report));
    EventId last(ThreadId(ProcessId(number), std::max(slot.diverged_thread, 1u)), slot.diverged_event);
    result.push_back(kind == stage::Remark::kLeft
                         ? fmt::format("{} is not recorded after {}: {}", ProcessId(number), last, report)
                         : fmt::format("{} {}", ProcessId(number), report));
  }
  return result;
}

std::string Recorder::who_left() const {
  std::vector<std::string> all = remarks(stage::Remark::kLeft);
  if (all.empty()) return {};
  return all.front() + (all.size() == 1 ? "" : fmt::format(" (and {} more)", all.size() - 1));
}

void Recorder::count(RecordOutcome& outcome) const {
  outcome.events = packer_.events_at_least();
  outcome.events_exact = false;
  if (packer_.packed_bytes() > kCountLimit) return;
  auto recording = Recording::open(directory_, Check::kAsRead);
  if (!recording) return;
  ProcessTable table = ProcessTable::read(*recording);
  outcome.processes = table.processes().size();
  outcome.events = table.events();
  outcome.events_exact = true;
}

/// Removes what a recording that never began has left.
void remove_recording(const Path& directory, bool existed) {
  std::error_code ignored;
  if (!existed) {
    std::filesystem::remove_all(directory, ignored);
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

Result<RecordOutcome> record_into(const RecordOptions& options, const Path& directory, const Program& program,
                                  const Path& runtime, Descendants descendants) {
  bool traps = !options.dispatch || !has_dispatch();
  uint32_t flags = (traps ? stage::kFlagNoDispatch : 0) | (options.patch ? 0 : stage::kFlagNoPatch) |
                   (options.parallel ? stage::kFlagParallel : 0);
  Path patch_directory = TRY(PatchCache::default_directory());
  std::vector<Limit> limits = lift_limits();
  SharedStage stage = TRY(SharedStage::create(stage::Mode::kRecord, flags, patch_directory));
  LiveFile live = TRY(LiveFile::create(directory));
  PackWriter pack = TRY(PackWriter::create(directory));
  Recorder recorder(options, directory, std::move(stage), std::move(live), std::move(pack));
  TRY_STATUS(recorder.prepare(PatchCache(patch_directory, {.traps = traps, .hooks = options.parallel})));
  return recorder.run(program, runtime, std::move(descendants), std::move(limits));
}

}  // namespace

Result<RecordOutcome> record(const RecordOptions& options) {
  reserve_standard_descriptors();
  Program program = TRY(find_program(options.command));
  if (!options.patch && (!options.dispatch || !has_dispatch())) {
    return fail(
        "nothing would catch the program's calls: this kernel has no Syscall User Dispatch; leave out "
        "--no-patch");
  }
  Path runtime = TRY(find_runtime());
  TRY_STATUS(switch_off_randomisation());
  std::error_code ignored;
  bool existed = options.output && std::filesystem::exists(*options.output, ignored);
  Path directory = TRY(make_recording_directory(options.output, options.command.front()));
  Descendants descendants = TRY(Descendants::adopt());
  auto outcome = record_into(options, directory, program, runtime, std::move(descendants));
  if (!outcome) remove_recording(directory, existed);
  return outcome;
}

}  // namespace pastcone::record
