// The beginning of every program image: the kernel has started the runtime in the program's place; it maps the program,
// gives it the stack the kernel would have given it, and lets it go. In replay all of that comes from the recording.
#include "boot.h"

#include <elf.h>
#include <initializer_list>

#include "call.h"
#include "files.h"
#include "horizon.h"
#include "loader.h"
#include "objects.h"
#include "process_heap.h"
#include "pastcone/stage/build_note.h"
#include "start.h"
#include "text.h"
#include "turn.h"
#include "waits.h"

PASTCONE_BUILD_NOTE

namespace pastcone::runtime {

Globals g;
static Process first_process;
static Target target;

namespace {

constexpr u64 kProgramBase = 0x555555554000;  // where the kernel puts position-independent programs without randomization

KernelStack kernel_stack;
Thread* first_thread;

[[noreturn]] void die(const char* why) {
  char line[512];
  Text text(line, sizeof line);
  text << "pastcone: cannot start " << (target.path[0] ? target.path : "the program") << ": " << why << "\n";
  sys(__NR_write, 2, line, text.size());
  sys(__NR_exit_group, 127);
  __builtin_unreachable();
}

u64 parse_number(const char*& s) {
  u64 n = 0;
  while (*s >= '0' && *s <= '9') n = n * 10 + (u64)(*s++ - '0');
  return n;
}

/// Finds a symbol of the kernel's vDSO.
u64 vdso_symbol(u64 vdso, const char* name) {
  if (!vdso) return 0;
  auto& header = *(Elf64_Ehdr*)vdso;
  auto* segments = (Elf64_Phdr*)(vdso + header.e_phoff);
  u64 dynamic = 0, bias = vdso;
  for (int i = 0; i < header.e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) bias = vdso + segments[i].p_offset - segments[i].p_vaddr;
    if (segments[i].p_type == PT_DYNAMIC) dynamic = vdso + segments[i].p_offset;
  }
  if (!dynamic) return 0;
  Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  u32* hash = nullptr;
  u32* gnu_hash = nullptr;
  for (auto* d = (Elf64_Dyn*)dynamic; d->d_tag != DT_NULL; ++d) {
    u64 at = bias + d->d_un.d_ptr;
    if (d->d_tag == DT_SYMTAB) symbols = (Elf64_Sym*)at;
    if (d->d_tag == DT_STRTAB) strings = (const char*)at;
    if (d->d_tag == DT_HASH) hash = (u32*)at;
    if (d->d_tag == DT_GNU_HASH) gnu_hash = (u32*)at;
  }
  if (!symbols || !strings) return 0;
  u32 count = hash ? hash[1] : 0;
  if (!hash && gnu_hash) {
    // The number of symbols is behind the last chain.
    u32* buckets = (u32*)((u64*)(gnu_hash + 4) + gnu_hash[2]);
    u32* chains = buckets + gnu_hash[0];
    for (u32 i = 0; i < gnu_hash[0]; ++i) count = max(count, buckets[i]);
    if (count) {
      while (!(chains[count - gnu_hash[1]] & 1)) ++count;
      ++count;
    }
  }
  for (u32 i = 0; i < count; ++i)
    if (symbols[i].st_shndx && equal(strings + symbols[i].st_name, name)) return bias + symbols[i].st_value;
  return 0;
}

void find_xsave_size() {
  u32 a = 0xd, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  g.xsave_size = b;
  u32 low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  g.xsave_mask = (u64)high << 32 | low;
}

bool read_all(int fd, void* to, u64 n) {
  auto at = (char*)to;
  while (n) {
    long got = sys(__NR_read, fd, at, n);
    if (got <= 0) return false;
    at += got;
    n -= (u64)got;
  }
  return true;
}

/// What the image before this one left for us.
void take_handoff(Thread& t) {
  Process& p = *t.process;
  int fd = g.handoff_fd;
  HandoffHeader h;
  if (!read_all(fd, &h, sizeof h) || !read_all(fd, target.path, h.strings)) die("its handover is damaged");
  u64 n = strlen(target.path) + 1;
  memcpy(target.name, target.path + n, h.strings - n);
  p.number = h.process;
  p.pid = h.pid;
  p.parent_pid = h.parent_pid;
  p.exec_count = h.exec_count + 1;
  t.number = h.thread;
  t.tid = h.pid;  // whichever thread it was
  if (g.replay) store(slot_of(t).tid, (u32)sys(__NR_gettid));
  t.signals.mask = h.mask;
  p.address_limit = h.address_limit;
  t.log = h.log;
  for (u32 i = 0; i < h.fd_count; ++i) {
    HandoffFd entry;
    if (!read_all(fd, &entry, sizeof entry)) die("its handover is damaged");
    set_fd_raw(entry.fd, entry.entry);
  }
  sys(__NR_close, fd);
  if (h.group) {  // the image before was in a sharing group, and had its turn
    p.serial = true;
    p.group = h.group;
    t.has_turn = true;
  }
}

/// The chunk windows, or the feed's mappings, of a log that was handed over.
void map_log(Thread& t) {
  Log& log = t.log;
  if (g.replay) {
    map_feed(t);
    return;
  }
  for (auto* w : {&log.events, &log.data, &log.locks})
    if (w->open && !(w->base = map_chunk(w->chunk))) die("its log cannot be mapped");
}

/// The first image of a recording: the recorder says what to run.
void take_tool_handoff(Process& p) {
  auto& slot = g.stage.process(p.number);
  u64 offset = (u64)(slot.handoff_chunk - 1) * format::kChunkSize;
  stage::Handoff h{};
  int fd = own_fd(stage::kFdTrace);
  if (sys(__NR_pread64, fd, &h, sizeof h, offset) != sizeof h || h.magic != stage::kHandoffMagic)
    die("the recorder's handover is damaged");
  sys(__NR_pread64, fd, target.path, sizeof target.path - 1, offset + h.path);
  sys(__NR_pread64, fd, target.name, sizeof target.name - 1, offset + h.name);
}

// --- loading ----------------------------------------------------------------------------------------------------------------

int open_or_die(const char* path) {
  long fd = sys(__NR_open, path, 02000000, 0);
  if (is_error(fd)) die(fd == -EACCES ? "no permission to read it" : "it cannot be opened");
  return (int)fd;
}

Start load_recorded(Thread& t, bool first) {
  int fd = g.program_fd >= 0 ? g.program_fd : open_or_die(target.path);
  Image program{}, interpreter{};
  char link[64];
  Text(link, sizeof link) << "/proc/self/fd/" << fd;
  long n = sys(__NR_readlink, link, target.path, sizeof target.path - 1);
  if (n > 0) target.path[n] = 0;  // as /proc/self/exe would have it
  u32 program_file = file_id(fd, stage::kWantCode), interpreter_file = 0;
  if (load_image(fd, program_file, 0, kProgramBase, program)) die("it cannot be mapped");
  t.process->data_begin = program.data_begin;
  t.process->data_end = program.data_end;
  sys(__NR_close, fd);
  if (program.interpreter[0]) {
    fd = open_or_die(program.interpreter);
    interpreter_file = file_id(fd, stage::kWantCode);
    if (load_image(fd, interpreter_file, 0, 0, interpreter)) die("its interpreter cannot be mapped");
    sys(__NR_close, fd);
  }
  Start start = describe_start(kernel_stack, target, program, interpreter, program_file, interpreter_file);
  start.executable_stack = program.executable_stack;
  if (!program_file || (program.interpreter[0] && !interpreter_file))  // the recorder was killed, or could not read it
    go_unrecorded(t, format::StopReason::kUnrecordable, "executes a program that the recorder could not keep");
  write_exec(t.log, start, first);
  return start;
}

Start load_replayed(Thread& t) {
  Start start = read_exec(t);
  auto load = [&](u32 file, u64 base, const char* what, bool patched) {
    int fd = open_file(file);
    if (fd < 0) diverge(t, Cause::kMachine, "a file of the recording cannot be opened", file, fd, what);
    Image image{};
    image.patched = patched;
    if (long e = load_image(fd, file, base, 0, image)) diverge(t, Cause::kMachine, "a program cannot be mapped", 0, e, what);
    sys(__NR_close, fd);
    return image.executable_stack;
  };
  start.executable_stack = load(start.info.program_file, start.info.program_base, "program", start.info.patched & 1);
  if (start.info.interpreter_file) load(start.info.interpreter_file, start.info.interpreter_base, "interpreter", start.info.patched & 2);
  return start;
}

void set_name(const char* path) {
  const char* base = path;
  for (const char* s = path; *s; ++s)
    if (*s == '/') base = s + 1;
  sys(__NR_prctl, 15, base, 0, 0, 0);
}

[[noreturn]] void boot_on_stack(void*) {
  Thread& t = *first_thread;
  Process& p = *t.process;
  bool continued = g.handoff_fd >= 0;
  if (continued) {
    take_handoff(t);
    map_log(t);
    resume_lock_stream(t);
  } else {
    t.number = 1;
    if (g.replay) {
      begin_replay_thread(t);
    } else {
      take_tool_handoff(p);
      p.pid = t.tid = (u32)sys(__NR_getpid);
      open_log(p.number, 1);
      g.stage.process(p.number).pid = p.pid;
      g.stage.process(p.number).threads = 1;
      scan_fds();
      record_start(t, 0, 0, 0, format::kStartProcess | format::kStartRoot);
    }
    open_lock_stream(t);
    if (g.replay) become_program(t);
  }
  if (p.serial) {
    stage::Group& group = g.stage.group(p.group);
    add(group.members, -1);
    give_back_turn(t);
    p.serial = false;
    p.group = 0;
  }
  p.threads = 1;
  if (p.parallel && !begin_heap(t)) die("there is no memory for its heap");
  install_fault_handlers();
  Start start = g.replay ? load_replayed(t) : load_recorded(t, !continued);
  const char* path = start.strings;
  Text(p.program, sizeof p.program) << path;
  p.brk_start = p.brk_end = start.info.brk;
  g.stage.process(p.number).state = (u32)stage::ProcessState::kRunning;
  set_name(after(path));
  set_up_signals(t, start.info.ignored, start.info.blocked);

  u64 stack = p.stack_begin = build_stack(start);
  if (start.executable_stack) {  // what the kernel has executed is the runtime, which wants none
    constexpr u64 kGrowsDown = 0x01000000;
    u64 begin = page_down(stack), end = page_up(start.info.stack_top);
    sys(__NR_mprotect, begin, end - begin, kProtRead | kProtWrite | kProtExec | kGrowsDown);
  }
  Frame frame{};
  frame.rip = start.info.entry;
  frame.rsp = stack;
  frame.flags = 0x202;
  if (!g.replay) apply_address_limit(p);
  arm_dispatch();
  sync_kernel_mask(t);
  t.frame = &frame;
  park_on_leaving(t);
  t.frame = nullptr;
  runtime_leave(&frame);
}

}  // namespace

extern "C" void runtime_boot(u64* sp) {
  auto& k = kernel_stack;
  k.argc = *sp;
  k.argv = (char**)(sp + 1);
  k.envp = k.argv + k.argc + 1;
  char** e = k.envp;
  const char* variable = nullptr;
  for (; *e; ++e)
    if (starts_with(*e, stage::kVariable)) variable = *e + sizeof stage::kVariable - 1;
  k.auxv = (Elf64_auxv_t*)(e + 1);
  if (!variable) die("this is pastcone's runtime; use: pastcone record -- COMMAND");
  g.fd_base = (int)parse_number(variable);
  ++variable;
  u32 number = (u32)parse_number(variable);
  g.handoff_fd = *variable == ':' ? (int)parse_number(++variable) : -1;
  g.program_fd = *variable == ':' ? (int)parse_number(++variable) : -1;

  lift_address_limit(first_process);
  count_own_memory(first_process, stage::kStageSize);
  long mapped = sys(__NR_mmap, kStageBase, stage::kStageSize, kProtRead | kProtWrite,
                    kMapShared | kMapFixed | kMapNoReserve, own_fd(stage::kFdStage), 0);
  if (mapped != (long)kStageBase) die("the stage cannot be mapped");
  g.stage.base = (char*)kStageBase;
  auto& header = g.stage.header();
  if (header.magic != stage::kMagic || header.version != stage::kBuildNote.version)
    die("pastcone and pastcone-runtime are of different builds; build pastcone again");
  g.replay = header.mode == stage::Mode::kReplay;
  g.far_next = kFarBase;
  u64 vdso = k.aux(AT_SYSINFO_EHDR);
  g.vdso_clock_gettime = vdso_symbol(vdso, "__vdso_clock_gettime");
  g.quick_clocks = g.vdso_clock_gettime && !g.replay && !(g.stage.header().flags & stage::kFlagListCalls);
  find_xsave_size();

  first_process.number = number;
  first_process.group = 0;
  first_process.parallel = header.flags & stage::kFlagParallel;
  first_thread = allocate_thread(&first_process, 1);
  enter_thread(first_thread);
  runtime_on_stack(first_thread->stack_top, boot_on_stack, nullptr);
}

}  // namespace pastcone::runtime
