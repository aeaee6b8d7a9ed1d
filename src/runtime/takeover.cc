#include "takeover.h"

#include <elf.h>

#include "call.h"
#include "files.h"
#include "pastcone/trace/format.h"

namespace pastcone::runtime {
namespace {

using State = stage::TakeoverState;

bool wanted() { return g.stage.header().flags & stage::kFlagAsPrograms; }

/// The file of the program that comes next in the log, of which nothing is taken; 0: there is none.
u32 next_program(const Thread& t) {
  Log log = t.log;
  if (log.read_byte() != (u8)Op::kExec) return 0;
  u64 size = log.read_varint();
  format::ExecInfo info;
  const char* bytes = size < sizeof info ? nullptr : log.read_payload(size);
  if (!bytes) return 0;
  memcpy(&info, bytes, sizeof info);
  return info.program_file;
}

u64* flags_entry;  ///< on the stack of a static program

void tell_director(State state) {
  auto& header = g.stage.header();
  store(header.takeover.state, (u32)state);
  add(header.activity, 1u);
  futex_wake(header.activity);
}

}  // namespace

const char* ask_for_takeover(const Thread& t) {
  u32 file = wanted() ? next_program(t) : 0;
  if (!file) return nullptr;
  auto& header = g.stage.header();
  auto& request = header.takeover;
  u32 self = (u32)sys(__NR_gettid);
  while (!swap_if(request.lock, 0u, self)) {
    if (load(header.give_up)) return nullptr;
    sys(__NR_sched_yield);
  }
  request.process = (u32)sys(__NR_getpid);
  request.thread = self;
  request.file = file;
  tell_director(State::kWanted);
  while (load(request.state) == (u32)State::kWanted && !load(header.give_up)) {
    Timespec wait{0, 100'000'000};
    futex_wait(request.state, (u32)State::kWanted, &wait);
  }
  if (load(request.state) == (u32)State::kReady && request.path[0]) return request.path;
  store(request.state, (u32)State::kFree);
  store(request.lock, 0u);
  return nullptr;
}

void decline_takeover() { tell_director(State::kFailed); }

u64 map_own_symbols() {
  static u64 mapped;
  if (mapped || !wanted()) return mapped;
  Stat s{};
  if (sys(__NR_fstat, own_fd(stage::kFdRuntime), &s)) return 0;
  u64 size = (u64)s.size;
  auto* file = (char*)far_map(size, kProtRead | kProtWrite, kMapPrivate, own_fd(stage::kFdRuntime), 0);
  if (!file) return 0;
  // To who reads a file from memory, program headers say where its bytes are: here all in one piece, sections and symbols too.
  auto& header = *(Elf64_Ehdr*)file;
  auto* segments = (Elf64_Phdr*)(file + header.e_phoff);
  for (u32 i = 0; i < header.e_phnum; ++i)
    if (segments[i].p_type == PT_GNU_STACK) segments[i] = {PT_LOAD, PF_R, 0, (u64)file, (u64)file, size, size, kPage};
  // Names and the way to the user's frames are enough: the runtime's own source lines would be in his way.
  auto* sections = (Elf64_Shdr*)(file + header.e_shoff);
  const char* names = header.e_shnum ? file + sections[header.e_shstrndx].sh_offset : nullptr;
  for (u32 i = 0; i < header.e_shnum; ++i)
    if (starts_with(names + sections[i].sh_name, ".debug_")) sections[i].sh_type = SHT_NULL;
  return mapped = (u64)file;
}

void note_static_auxv(u64* auxv) {
  for (; wanted() && auxv[0] != AT_NULL; auxv += 2)
    if (auxv[0] == AT_FLAGS && !auxv[1]) flags_entry = auxv;
}

void show_to_debuggers(bool shown) {
  constexpr int kSetPtracer = 0x59616d61;  // where Yama lets only a process's ancestors debug it: anybody may who could without
  if (shown) sys(__NR_prctl, kSetPtracer, ~u64{0}, 0, 0, 0);
  u64 entry[2];
  if (!flags_entry || !read_memory(entry, (u64)flags_entry, sizeof entry)) return;
  u64 symbols = map_own_symbols();
  if (!symbols || entry[0] != (shown ? AT_FLAGS : AT_SYSINFO_EHDR) || entry[1] != (shown ? 0 : symbols)) return;
  flags_entry[0] = shown ? AT_SYSINFO_EHDR : AT_FLAGS;
  flags_entry[1] = shown ? symbols : 0;
}

}  // namespace pastcone::runtime
