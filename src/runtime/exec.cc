// Executing a program: the runtime is executed in its place (see boot.cc), and told through a pipe what the program is and
// what this process knows.
#include "boot.h"
#include "facts.h"
#include "handlers.h"
#include "objects.h"
#include "loader.h"
#include "pastcone/patch/sanitizers.h"
#include "robust.h"
#include "takeover.h"
#include "text.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kEmptyPath = 0x1000, kEffectiveAccess = 0x200;
constexpr int kReadOnly = 0, kCloexec = 02000000;

/// The file that will really be mapped, once scripts have been followed, and the arguments it gets.
struct Program {
  int fd = -1;
  bool outside = false;      ///< cannot be recorded: run it natively
  const char* why = nullptr;
  const char* name = nullptr;
  char script[4096];         ///< path of the script, or the program itself
  char line[256];            ///< the last script's first line
  u32 extra = 0;             ///< arguments that take the place of argv[0]
  const char* arguments[12];
};

char* skip_blanks(char* s) {
  while (*s == ' ' || *s == '\t') ++s;
  return s;
}

/// Splits "#! interpreter argument" in place. False: there is no interpreter in it.
bool parse_script(char* line, char*& interpreter, char*& argument) {
  char* end = line;
  while (*end && *end != '\n') ++end;
  while (end > line && (end[-1] == ' ' || end[-1] == '\t')) --end;
  *end = 0;
  interpreter = skip_blanks(line + 2);
  char* s = interpreter;
  while (*s && *s != ' ' && *s != '\t') ++s;
  argument = nullptr;
  if (*s) {
    *s = 0;
    argument = skip_blanks(s + 1);
    if (!*argument) argument = nullptr;
  }
  return *interpreter;
}

long open_program(int directory, const char* path, u64 flags) {
  if (!*path && (flags & kEmptyPath)) {
    char link[64];
    Text(link, sizeof link) << "/proc/self/fd/" << directory;
    return sys(__NR_open, link, kReadOnly | kCloexec, 0);
  }
  return sys(__NR_openat, directory, path, kReadOnly | kCloexec, 0);
}

/// Says why a program for this machine cannot be recorded all the same; nullptr: it can.
const char* find_obstacle(int fd, const Stat& s) {
  u32 euid = (u32)sys(__NR_geteuid), egid = (u32)sys(__NR_getegid);
  if (((s.mode & 04000) && s.uid != euid) || ((s.mode & 02010) == 02010 && s.gid != egid))
    return "it is set-user-ID or set-group-ID; record what it starts";
  if (euid && sys(__NR_fgetxattr, fd, "security.capability", 0, 0) > 0)
    return "it gets capabilities from its file; record a copy without them (cp), or as root";
  void* bytes = far_map((u64)s.size, kProtRead, kMapPrivate, fd, 0);
  if (!bytes) return nullptr;
  bool sanitized = patch::sanitizer_of({(const char*)bytes, (u64)s.size});
  far_unmap(bytes, (u64)s.size);
  return sanitized ? "it is built with ThreadSanitizer or MemorySanitizer; build it without" : nullptr;
}

/// Finds out what `path` is, as the kernel would; follows scripts. 0 or -errno.
long resolve(Program& program, int directory, const char* path, u64 flags, u32 depth) {
  if (depth > 4) return -ELOOP;
  long fd = open_program(directory, path, flags);
  if (is_error(fd)) {
    // Executable but not readable: only the kernel can run it.
    if (fd == -EACCES && !sys(__NR_faccessat2, directory, path, 1, kEffectiveAccess)) {
      program.outside = true;
      program.why = "it may not be read; try chmod +r";
      return 0;
    }
    return fd;
  }
  Stat s{};
  sys(__NR_fstat, fd, &s);
  long access = sys(__NR_faccessat2, fd, "", 1, kEmptyPath | kEffectiveAccess);
  if ((s.mode & kModeType) != kModeRegular || access) {
    sys(__NR_close, fd);
    return access && access != -ENOSYS ? access : -EACCES;
  }
  char head[256];
  long n = sys(__NR_pread64, fd, head, sizeof head - 1, 0);
  if (n < 0) n = 0;
  head[n] = 0;
  if (n > 2 && head[0] == '#' && head[1] == '!') {
    sys(__NR_close, fd);
    memcpy(program.line, head, sizeof head);
    char *interpreter, *argument;
    if (!parse_script(program.line, interpreter, argument)) return -ENOEXEC;
    // Each level puts its interpreter (and argument) in front of the script's path.
    const char* before[12];
    u32 count = 0;
    static char interpreters[5][256];
    char* kept = interpreters[depth];
    memcpy(kept, program.line, 256);
    kept += interpreter - program.line;
    before[count++] = kept;
    if (argument) before[count++] = interpreters[depth] + (argument - program.line);
    if (!program.extra) program.arguments[program.extra++] = program.script;
    for (u32 i = program.extra; i-- > 0;) program.arguments[i + count] = program.arguments[i];
    for (u32 i = 0; i < count; ++i) program.arguments[i] = before[i];
    program.extra += count;
    return resolve(program, -100, kept, 0, depth + 1);
  }
  const char* why = refuse_reason(head, n);
  if (why && (n < 4 || memcmp(head, "\177ELF", 4))) {
    sys(__NR_close, fd);
    return -ENOEXEC;
  }
  if (!why) why = find_obstacle((int)fd, s);
  if (why) {
    program.outside = true;
    program.why = why;
    sys(__NR_close, fd);
    return 0;
  }
  program.fd = (int)fd;
  return 0;
}

bool write_all(int fd, const void* from, u64 n) {
  return sys(__NR_write, fd, from, n) == (long)n;
}

/// Puts everything the next image must know into a pipe that stays open across the exec; its descriptor, or -errno.
long prepare_handoff(Thread& t, const char* path, const char* name) {
  Process& p = *t.process;
  i32 ends[2];
  if (long error = sys(__NR_pipe2, ends, kCloexec)) return error;
  sys(__NR_fcntl, ends[1], 1031, 1 << 20);  // F_SETPIPE_SZ
  HandoffHeader h{};
  h.strings = (u32)(strlen(path) + strlen(name) + 2);
  h.thread = t.number;
  h.process = p.number;
  h.pid = p.pid;
  h.parent_pid = p.parent_pid;
  h.group = p.serial ? p.group : 0;
  h.exec_count = p.exec_count;
  h.address_limit = {p.address_limit.soft, p.address_limit.hard, false};
  h.log = t.log;
  hand_over_lock_stream(t, h.log);
  for (u32 i = 0; i < p.fds.size; ++i) {
    if (p.fds.of[i].kind != FdKind::kClosed && !p.fds.of[i].cloexec) ++h.fd_count;
    if (p.fds.of[i].cloexec) note_dropped(p.fds.of[i]);
  }
  bool ok = write_all(ends[1], &h, sizeof h) && write_all(ends[1], path, strlen(path) + 1) &&
            write_all(ends[1], name, strlen(name) + 1);
  for (u32 i = 0; i < p.fds.size && ok; ++i)
    if (p.fds.of[i].kind != FdKind::kClosed && !p.fds.of[i].cloexec) {
      HandoffFd entry{(i32)i, p.fds.of[i]};
      ok = write_all(ends[1], &entry, sizeof entry);
    }
  sys(__NR_close, ends[1]);
  if (ok) {
    sys(__NR_fcntl, ends[0], 2, 0);  // not close-on-exec
    return ends[0];
  }
  sys(__NR_close, ends[0]);
  return -ENOMEM;
}

/// argv and envp for the runtime: the program's, the script's arguments in front, our variable behind.
struct Vectors {
  u64* memory;
  u64 size;
  u64 *argv, *envp;
  char variable[64];
};

u64 count_pointers(u64 list) {
  u64 n = 0, pointer;
  while (list && read_memory(pointer, list + 8 * n) && pointer) ++n;
  return n;
}

bool make_vectors(Vectors& v, const Program& program, u64 argv, u64 envp, u32 process, int handoff) {
  u64 argc = count_pointers(argv), envc = count_pointers(envp);
  v.size = (argc + envc + 20) * 8;
  v.memory = (u64*)far_map(v.size, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  if (!v.memory) return false;
  u64* out = v.memory;
  v.argv = out;
  for (u32 i = 0; i < program.extra; ++i) *out++ = (u64)program.arguments[i];
  u64 skipped = program.extra ? 1 : 0;
  for (u64 i = skipped; i < argc; ++i) read_memory(out++, argv + 8 * i, 8);
  *out++ = 0;
  v.envp = out;
  for (u64 i = 0; i < envc; ++i) read_memory(out++, envp + 8 * i, 8);
  *out++ = (u64)v.variable;
  *out++ = 0;
  Text text(v.variable, sizeof v.variable);
  text << stage::kVariable;
  text.decimal((u64)g.fd_base, 5) << ":";
  text.decimal(process, 7) << ":" << handoff;
  if (program.fd >= 0) text << ":" << program.fd;
  return true;
}

long execute_runtime(const Vectors& v) {
  return sys(__NR_execveat, own_fd(stage::kFdRuntime), "", v.argv, v.envp, kEmptyPath);
}

void prepare_next_image(Thread& t, Vectors& v) {
  Program none;
  none.arguments[none.extra++] = "replay";
  long handoff = prepare_handoff(t, "", "");
  if (is_error(handoff) || !make_vectors(v, none, 0, 0, t.process->number, (int)handoff))
    diverge(t, Cause::kMachine, "a program cannot be started");
}

/// The runtime again; or the program, and the director puts the runtime in its place.
[[noreturn]] void execute_next_image(Thread& t, const Vectors& v, const char* as_program) {
  if (as_program) {
    sys(__NR_execve, as_program, v.argv, v.envp);
    decline_takeover();
  }
  long result = execute_runtime(v);
  diverge(t, Cause::kMachine, "a program cannot be started", 0, result);
}

/// A program that cannot be recorded runs as it is; what it says to others is from outside.
long execute_natively(Call& c, const Program& program) {
  for (int i = 0; i < stage::kFdCount; ++i) sys(__NR_fcntl, own_fd(i), 2, 1);
  u64 mask = c.t.signals.mask;
  sys(__NR_rt_sigprocmask, 2, &mask, 0, 8);
  restore_address_limit(*c.t.process);
  long result;
  if (c.t.process->outside) {
    result = raw(c);
  } else {
    char why[288];
    Text(why, sizeof why) << "executes " << program.script << ", which cannot be recorded: " << program.why;
    result = leave_recording(c, format::StopReason::kUnrecordable, why);
  }
  sync_kernel_mask(c.t);
  apply_address_limit(*c.t.process);
  return result;  // only if it failed; the process goes on unrecorded
}

void record_exec_mark(Call& c) {
  begin_item(c, Shape::kResult);
  c.log().zigzag(0);
  finish_item(c);
}

}  // namespace

void become_program(Thread& t) {
  const char* as_program = ask_for_takeover(t);
  if (!as_program) return;
  Vectors v{};
  prepare_next_image(t, v);
  execute_next_image(t, v, as_program);
}

long handle_execve(Call& c) {
  bool at = c.number == __NR_execveat;
  int directory = at ? (i32)c.a[0] : -100;
  u64 path_address = at ? c.a[1] : c.a[0], argv = at ? c.a[2] : c.a[1], envp = at ? c.a[3] : c.a[2];
  u64 flags = at ? c.a[4] : 0;
  Vectors v{};
  if (g.replay) {
    expect_item(c, 1 << (int)Shape::kResult);
    long result = c.log().read_zigzag();
    expect_check(c);
    result = corrected(c, result);
    if (is_error(result)) return result;
    if (c.log().peek() == Op::kStop || c.log().at_end()) end_of_log(c.t);
    const char* as_program = ask_for_takeover(c.t);
    prepare_next_image(c.t, v);
    release_all_robust_mutexes(c.t);
    store(slot_of(c.t).tid, 0u);  // it will have its process's
    execute_next_image(c.t, v, as_program);
  }
  static Program program;
  program = Program{};
  i64 length = string_length(path_address, sizeof program.script);
  if (length < 0 || length >= (i64)sizeof program.script) {
    record_result(c, length < 0 ? -EFAULT : -ENAMETOOLONG);
    return length < 0 ? -EFAULT : -ENAMETOOLONG;
  }
  read_memory(program.script, path_address, (u64)length + 1);
  const char* self = process().program;
  const char* path = equal(program.script, "/proc/self/exe") ? self : program.script;
  char name[4096];
  Text name_text(name, sizeof name);
  if (at && !*path) {
    name_text << "/dev/fd/" << directory;
  } else if (at && directory != -100 && *path != '/') {
    name_text << "/dev/fd/" << directory << "/" << path;
  } else {
    name_text << path;
  }
  long result = resolve(program, directory, path, flags, 0);
  if (at) memcpy(program.script, name, name_text.size() + 1);
  if (!result && (program.outside || c.t.process->outside)) return execute_natively(c, program);
  if (is_error(result)) {
    record_result(c, result);
    return result;
  }
  record_exec_mark(c);
  sys(__NR_fcntl, program.fd, 2, 0);  // not close-on-exec
  long handoff = prepare_handoff(c.t, path, name);
  result = is_error(handoff) ? handoff
           : make_vectors(v, program, argv, envp, c.t.process->number, (int)handoff) ? 0 : -ENOMEM;
  if (!result) {
    u64 mask = c.t.signals.mask;
    sys(__NR_rt_sigprocmask, 2, &mask, 0, 8);
    // Its own id will be its process's: nobody may think that who has the turn is gone.
    if (c.t.has_turn) store(group_of(c.t).owner, c.t.process->pid);
    result = execute_runtime(v);
    if (c.t.has_turn) store(group_of(c.t).owner, c.t.tid);
    sync_kernel_mask(c.t);
  }
  if (!is_error(handoff)) sys(__NR_close, handoff);
  sys(__NR_close, program.fd);
  if (v.memory) far_unmap(v.memory, v.size);
  record_correction(c, result);
  return result;
}

}  // namespace pastcone::runtime
