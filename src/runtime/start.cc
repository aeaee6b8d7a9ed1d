#include "start.h"

#include "call.h"
#include "horizon.h"
#include "takeover.h"
#include "text.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// Tells the kernel where the program's arguments, environment and auxiliary vector are now, for ps and for gdb. Without
/// CONFIG_CHECKPOINT_RESTORE it does not want to know; then ps shows nonsense, and gdb does not find the libraries.
void tell_kernel(const Start& start, u64 stack, u64 arguments, u64 environment, u64 end, u64* auxv) {
  struct {
    u64 start_code, end_code, start_data, end_data, start_brk, brk, start_stack, arg_start, arg_end, env_start, env_end;
    u64* auxv;
    u32 auxv_size;
    i32 exe_fd;
  } map{start.info.entry, start.info.entry + 1, start.info.brk - 2, start.info.brk - 1,
        start.info.brk, start.info.brk,   stack, arguments, environment, environment, end,
        auxv, start.info.auxc * 16, -1};
  u64 longer[128];
  if (u64 symbols = map_own_symbols(); symbols && map.auxv_size + 16 <= sizeof longer) {
    longer[0] = AT_SYSINFO_EHDR;
    longer[1] = symbols;
    memcpy(longer + 2, auxv, map.auxv_size);
    map.auxv = longer;
    map.auxv_size += 16;
  }
  sys(__NR_prctl, 35, 14, &map, sizeof map, 0);  // PR_SET_MM, PR_SET_MM_MAP
}

}  // namespace

u64 build_stack(const Start& start) {
  const char* name = after(start.strings);
  const char* cwd = after(name);
  const char* arguments = after(cwd);
  u64 argument_bytes = (u64)(start.strings + start.info.strings - arguments);
  u64 at = start.info.stack_top - 8;
  *(u64*)at = 0;
  at -= strlen(name) + 1;
  u64 name_at = at;
  memcpy((void*)at, name, strlen(name) + 1);
  at -= argument_bytes;
  u64 strings_at = at;
  memcpy((void*)at, arguments, argument_bytes);
  at = (at - 16) & ~u64{15};
  u64 platform_at = at;
  memcpy((void*)at, "x86_64", 7);
  at -= 16;
  u64 random_at = at;
  memcpy((void*)at, start.info.random, 16);

  u64 words = 1 + start.info.argc + 1 + start.info.envc + 1 + 2 * start.info.auxc;
  at = (at - 8 * words) & ~u64{15};
  auto* out = (u64*)at;
  *out++ = start.info.argc;
  const char* s = (const char*)strings_at;
  for (u32 i = 0; i < start.info.argc; ++i, s = after(s)) *out++ = (u64)s;
  *out++ = 0;
  u64 environment = (u64)s;
  for (u32 i = 0; i < start.info.envc; ++i, s = after(s)) *out++ = (u64)s;
  *out++ = 0;
  u64* auxv = out;
  for (u32 i = 0; i < start.info.auxc; ++i) {
    u64 type = start.auxv[2 * i], value = start.auxv[2 * i + 1];
    if (type == AT_RANDOM) value = random_at;
    if (type == AT_EXECFN) value = name_at;
    if (type == AT_PLATFORM) value = platform_at;
    *out++ = type;
    *out++ = value;
  }
  tell_kernel(start, at, strings_at, environment, (u64)s, auxv);
  if (!start.info.interpreter_file) note_static_auxv(auxv);
  return at;
}

Start describe_start(const KernelStack& kernel, const Target& target, const Image& program, const Image& interpreter,
                     u32 program_file, u32 interpreter_file) {
  Start start{};
  u64 bytes = strlen(target.path) + strlen(target.name) + 4096 + 3;
  for (u64 i = 0; i < kernel.argc; ++i) bytes += strlen(kernel.argv[i]) + 1;
  u64 envc = 0;
  for (char** e = kernel.envp; *e; ++e) {
    if (starts_with(*e, stage::kVariable)) continue;
    bytes += strlen(*e) + 1;
    ++envc;
  }
  auto* strings = (char*)far_map(bytes, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  char* out = strings;
  auto append = [&](const char* s) {
    u64 n = strlen(s) + 1;
    memcpy(out, s, n);
    out += n;
  };
  append(target.path);
  append(target.name);
  char cwd[4096];
  if (sys(__NR_getcwd, cwd, sizeof cwd) <= 0) cwd[0] = 0;
  append(cwd);
  for (u64 i = 0; i < kernel.argc; ++i) append(kernel.argv[i]);
  for (char** e = kernel.envp; *e; ++e)
    if (!starts_with(*e, stage::kVariable)) append(*e);

  auto* auxv = (u64*)far_map(kPage, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  u32 auxc = 0;
  for (auto* a = kernel.auxv;; ++a) {
    u64 value = a->a_un.a_val;
    switch (a->a_type) {
      case AT_SYSINFO_EHDR: continue;  // no vDSO: every clock reading is a call
      case AT_RSEQ_FEATURE_SIZE: case AT_RSEQ_ALIGN: continue;
      case AT_PHDR: value = program.headers; break;
      case AT_PHNUM: value = program.header_count; break;
      case AT_BASE: value = interpreter.base; break;
      case AT_ENTRY: value = program.entry; break;
      default: break;
    }
    auxv[2 * auxc] = a->a_type;
    auxv[2 * auxc + 1] = value;
    ++auxc;
    if (a->a_type == AT_NULL) break;
  }
  auto* execfn = (const char*)kernel.aux(AT_EXECFN);
  start.info.argc = (u32)kernel.argc;
  start.info.envc = (u32)envc;
  start.info.auxc = auxc;
  start.info.strings = (u32)(out - strings);
  start.info.program_file = program_file;
  start.info.interpreter_file = interpreter_file;
  start.info.patched = (program.patched ? 1 : 0) | (interpreter.patched ? 2 : 0);
  start.info.program_base = program.base;
  start.info.interpreter_base = interpreter.base;
  start.info.entry = interpreter.entry ? interpreter.entry : program.entry;
  start.info.stack_top = page_up((u64)execfn + strlen(execfn));
  start.info.brk = program.end;
  start.info.ignored = kernel_ignored();
  start.info.blocked = kernel_mask();
  memcpy(start.info.random, (void*)kernel.aux(AT_RANDOM), 16);
  start.strings = strings;
  start.auxv = auxv;
  return start;
}

void write_exec(Log& log, const Start& start, bool first) {
  log.payload(&start.info, sizeof start.info);
  log.payload(start.strings, start.info.strings);
  log.payload(start.auxv, start.info.auxc * 16);
  u64 inherited = 0;
  const FdTable& fds = process().fds;
  for (u32 i = 0; first && i < fds.size; ++i)
    if (fds.of[i].kind != FdKind::kClosed) {
      HandoffFd entry{(i32)i, fds.of[i]};
      log.payload(&entry, sizeof entry);
      inherited += sizeof entry;
    }
  log.begin();
  log.byte((u8)Op::kExec);
  log.varint(sizeof start.info + start.info.strings + start.info.auxc * 16 + inherited);
  log.hash.bytes(&start.info, sizeof start.info);
  log.check();
  ++log.event_count;
  log.commit();
}

Start read_exec(Thread& t) {
  Log& log = t.log;
  park_on_entering(t);
  if (log.at_end() || log.peek() == Op::kStop) end_of_log(t);
  if (log.read_byte() != (u8)Op::kExec) diverge(t, Cause::kFlow, "no program starts here in the recording");
  u64 size = log.read_varint();
  const char* bytes = log.read_payload(size);
  if (!bytes || size < sizeof(format::ExecInfo)) end_of_log(t);
  Start start{};
  memcpy(&start.info, bytes, sizeof start.info);
  start.strings = bytes + sizeof start.info;
  // The auxiliary vector may be unaligned in the stream.
  auto* auxv = (u64*)far_map(kPage, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  memcpy(auxv, start.strings + start.info.strings, start.info.auxc * 16);
  start.auxv = auxv;
  u64 fixed = sizeof start.info + start.info.strings + start.info.auxc * 16;
  for (u64 at = fixed; at + sizeof(HandoffFd) <= size; at += sizeof(HandoffFd)) {
    HandoffFd entry;
    memcpy(&entry, bytes + at, sizeof entry);
    set_fd_raw(entry.fd, entry.entry);
  }
  log.hash.bytes(&start.info, sizeof start.info);
  log.read_byte();
  ++log.event_count;
  note_next_event(t);
  return start;
}

}  // namespace pastcone::runtime
