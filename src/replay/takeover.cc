#include "pastcone/replay/takeover.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/surroundings.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;
using stage::TakeoverState;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kUserEnd = 0x7ffffffff000;
constexpr auto kBetweenLooks = 100us;  // executing a program takes some hundred

uint64_t page_down(uint64_t address) { return address & ~(kPage - 1); }
uint64_t page_up(uint64_t address) { return page_down(address + kPage - 1); }

/// A call that must not fail.
Status must(Tracee& process, const char* what, int64_t number, const std::array<uint64_t, 6>& arguments) {
  int64_t result = TRY(process.call(number, arguments));
  if (result >= 0) return {};
  return fail("it cannot {}: {}", what, errno_message(static_cast<int>(-result)));
}

std::vector<Elf64_Phdr> loaded_segments(ByteView file) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Phdr> segments;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, file.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD) segments.push_back(segment);
  }
  return segments;
}

/// As the kernel maps a segment of what it executes.
Status map_segment(Tracee& process, const Elf64_Phdr& segment, int fd) {
  uint64_t begin = page_down(segment.p_vaddr), file_end = segment.p_vaddr + segment.p_filesz;
  uint64_t shift = segment.p_vaddr - begin, end = page_up(segment.p_vaddr + segment.p_memsz);
  uint64_t protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                        ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                        ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  TRY_STATUS(must(process, "map the runtime", SYS_mmap,
                  {begin, segment.p_filesz + shift, protection, MAP_PRIVATE | MAP_FIXED,
                   static_cast<uint64_t>(fd), segment.p_offset - shift}));
  if (segment.p_memsz == segment.p_filesz) return {};
  uint64_t zero_from = page_up(file_end);
  std::vector<uint8_t> zeros(zero_from - file_end);
  if (!zeros.empty()) TRY_STATUS(process.write(file_end, zeros));
  if (end == zero_from) return {};
  return must(
      process, "map memory", SYS_mmap,
      {zero_from, end - zero_from, protection, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, ~uint64_t{0}, 0});
}

/// Where its arguments, environment and auxiliary vector begin.
struct StackPlaces {
  uint64_t arguments, environment, auxv;
};

Result<StackPlaces> read_stack(const Tracee& process) {
  uint64_t at = process.registers().rsp, word = 0;
  TRY_STATUS(process.read(at, &word, sizeof word));
  StackPlaces places{at + 8, at + 8 * (word + 2), 0};
  for (at = places.environment;; at += 8) {
    TRY_STATUS(process.read(at, &word, sizeof word));
    if (word == 0) break;
  }
  places.auxv = at + 8;
  return places;
}

/// There will be no vDSO: it may lie where the recording has something else.
Status forget_vdso(const Tracee& process) {
  for (uint64_t at = TRY(read_stack(process)).auxv;; at += 16) {
    uint64_t type = 0;
    TRY_STATUS(process.read(at, &type, sizeof type));
    if (type == AT_NULL) return {};
    uint64_t ignored = AT_IGNORE;
    if (type == AT_SYSINFO_EHDR)
      return process.write(at, ByteView(reinterpret_cast<const uint8_t*>(&ignored), sizeof ignored));
  }
}

/// All but its stack and what lies between.
Status unmap_all_but(Tracee& process, pid_t id, uint64_t begin, uint64_t end) {
  std::string maps = TRY(read_file(fmt::format("/proc/{}/maps", id)));
  uint64_t stack = process.registers().rsp;
  for (const symbols::Mapping& mapping : symbols::parse_mappings(maps)) {
    bool stays = mapping.start >= kUserEnd || (mapping.start <= stack && stack < mapping.end) ||
                 (mapping.start >= begin && mapping.end <= end);
    if (stays) continue;
    TRY_STATUS(must(process, "unmap its program", SYS_munmap,
                    {mapping.start, mapping.end - mapping.start, 0, 0, 0, 0}));
  }
  return {};
}

}  // namespace

Result<Takeovers> Takeovers::create(const Recording& recording, const Path& runtime, int first_fd,
                                    std::function<void(const std::string&)> remark) {
  MappedFile file = TRY(MappedFile::open(runtime));
  return Takeovers(recording, std::move(file), first_fd, record::HashCache(TRY(cache_directory())),
                   std::move(remark));
}

/// The original, if it is what was recorded: debuggers look beside it for more, and users know its name. Else
/// the recording's copy.
Result<Path> Takeovers::find_program(uint32_t file) {
  const FileEntry* known = recording_->files().find(file);
  if (known == nullptr) return fail("the recording does not have it");
  FileEntry entry = *known;
  entry.kept.reset();
  auto original = find_file(*recording_, entry, hashes_);
  struct stat about {};
  bool changes_user = original && stat(original->c_str(), &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)) != 0;
  if (changes_user)  // then the kernel forgets that addresses are not to be random
    return fail("it is a set-user-ID program");
  if (original && access(original->c_str(), X_OK) == 0) return *original;
  if (!known->kept) return fail("it may not be executed");
  Path kept = std::filesystem::absolute(recording_->directory() / *known->kept);
  if (access(kept.c_str(), X_OK) != 0 && chmod(kept.c_str(), 0700) != 0)
    return fail("{} may not be executed: {}", kept.native(), errno_message(errno));
  return kept;
}

Result<Tracee> Takeovers::prepare(stage::Takeover& request) {
  Path program = TRY(find_program(request.file));
  if (program.native().size() >= sizeof request.path) return fail("its path is too long");
  std::strcpy(request.path, program.c_str());
  return Tracee::seize(static_cast<pid_t>(request.process), static_cast<pid_t>(request.thread));
}

void Takeovers::serve(stage::Header& header, Session& session) {
  stage::Takeover& request = header.takeover;
  if (record::load(request.state) != static_cast<uint32_t>(TakeoverState::kWanted)) return;
  const FileEntry* entry = recording_->files().find(request.file);
  std::string program = entry == nullptr ? "a program" : entry->path;
  auto process = prepare(request);
  if (!process) {
    tell(program, process.error());
    request.path[0] = '\0';
    return record::bump_and_wake(request.state);
  }
  record::bump_and_wake(request.state);  // kReady
  if (Status done = follow(header, *process); !done) tell(program, done.error());
  process->let_go();
  if (process->status()) session.note(static_cast<pid_t>(request.process), *process->status());
  record::store(request.state, static_cast<uint32_t>(TakeoverState::kFree));
  record::store(request.lock, uint32_t{0});
}

Status Takeovers::follow(stage::Header& header, Tracee& process) {
  Tracee::State state;
  while ((state = process.look()) == Tracee::State::kRunning) std::this_thread::sleep_for(kBetweenLooks);
  if (state == Tracee::State::kEnded) return {};
  // What it has executed then is the runtime.
  if (record::load(header.takeover.state) == static_cast<uint32_t>(TakeoverState::kFailed))
    return fail("the kernel does not execute it");
  Status put = put_runtime(process);
  if (!put) TRY_STATUS(execute_runtime(process));
  return put;
}

Status Takeovers::put_runtime(Tracee& process) {
  ByteView file = runtime_.bytes();
  std::vector<Elf64_Phdr> segments = loaded_segments(file);
  TRY_STATUS(process.put_instruction(page_down(process.registers().rip)));
  for (const Elf64_Phdr& segment : segments) TRY_STATUS(map_segment(process, segment, runtime_fd_));
  const uint8_t syscall[] = {0x0f, 0x05};
  const Elf64_Phdr& text = segments.front();
  ByteView code = file.subspan(text.p_offset, text.p_filesz);
  auto found = std::search(code.begin(), code.end(), std::begin(syscall), std::end(syscall));
  process.use_instruction(text.p_vaddr + static_cast<uint64_t>(found - code.begin()));
  const Elf64_Phdr& last = segments.back();
  TRY_STATUS(
      unmap_all_but(process, process.id(), page_down(text.p_vaddr), page_up(last.p_vaddr + last.p_memsz)));
  TRY_STATUS(forget_vdso(process));
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  return process.go_on(header.e_entry);
}

/// Without being taken over, then.
Status Takeovers::execute_runtime(Tracee& process) {
  StackPlaces places = TRY(read_stack(process));
  uint64_t empty = places.environment - 8;  // the end of the arguments: a pointer that is 0
  return must(
      process, "execute the runtime", SYS_execveat,
      {static_cast<uint64_t>(runtime_fd_), empty, places.arguments, places.environment, AT_EMPTY_PATH, 0});
}

void Takeovers::tell(const std::string& program, const Error& why) {
  if (std::exchange(told_, true) || !remark_) return;
  remark_(fmt::format("gdb -p will not know {}: {}; try gdb -iex 'set exec-file-mismatch off' PROGRAM -p PID",
                      program, why.message));
}

}  // namespace pastcone::replay
