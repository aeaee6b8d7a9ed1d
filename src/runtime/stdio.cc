// Streams of stdio. glibc's lock around each use of one is inlined, so ours is around that: who writes first into a buffer must be
// the same again. A thread that waits for input has the lock of that stream only.
#include "ordered.h"

namespace pastcone::runtime {
namespace {

/// glibc's FILE; only its beginning matters here.
struct File {
  u32 flags;
  static constexpr u32 kUserLocks = 0x8000;  ///< nobody locks but the program
};

/// The usual ones. A program may give another stream one of these names; then its uses by this name have an order of their own.
File* standard(Hook hook) { return (File*)originals[(u32)hook]; }
File* standard_input() { return standard(Hook::_IO_2_1_stdin_); }
File* standard_output() { return standard(Hook::_IO_2_1_stdout_); }
File* standard_error() { return standard(Hook::_IO_2_1_stderr_); }

/// A call that uses `file`.
template <typename Result = int, typename... Arguments>
Result use(File* file, Hook hook, Arguments... arguments) {
  Thread& t = current();
  if (!is_ordered(t, false) || file->flags & File::kUserLocks) return call_original<Result>(hook, arguments...);
  return call_holding<Result>(t, (u64)file, hook, arguments...);
}

}  // namespace

extern "C" {

// --- formatted; `v`: a va_list -----------------------------------------------------------------------------------------------

int hook_vprintf(void* format, void* list) { return use(standard_output(), Hook::vprintf, format, list); }
int hook_vfprintf(File* f, void* format, void* list) { return use(f, Hook::vfprintf, f, format, list); }
int hook_v_printf(void* format, void* list) { return use(standard_output(), Hook::vprintf, format, list); }
int hook_v_fprintf(File* f, void* format, void* list) { return use(f, Hook::vfprintf, f, format, list); }
int hook___vprintf_chk(int flag, void* format, void* list) {
  return use(standard_output(), Hook::__vprintf_chk, flag, format, list);
}
int hook___vfprintf_chk(File* f, int flag, void* format, void* list) {
  return use(f, Hook::__vfprintf_chk, f, flag, format, list);
}
int hook_v___printf_chk(int flag, void* format, void* list) {
  return use(standard_output(), Hook::__vprintf_chk, flag, format, list);
}
int hook_v___fprintf_chk(File* f, int flag, void* format, void* list) {
  return use(f, Hook::__vfprintf_chk, f, flag, format, list);
}
int hook_vwprintf(void* format, void* list) { return use(standard_output(), Hook::vwprintf, format, list); }
int hook_vfwprintf(File* f, void* format, void* list) { return use(f, Hook::vfwprintf, f, format, list); }
int hook_v_wprintf(void* format, void* list) { return use(standard_output(), Hook::vwprintf, format, list); }
int hook_v_fwprintf(File* f, void* format, void* list) { return use(f, Hook::vfwprintf, f, format, list); }
int hook___vwprintf_chk(int flag, void* format, void* list) {
  return use(standard_output(), Hook::__vwprintf_chk, flag, format, list);
}
int hook___vfwprintf_chk(File* f, int flag, void* format, void* list) {
  return use(f, Hook::__vfwprintf_chk, f, flag, format, list);
}
int hook_v___wprintf_chk(int flag, void* format, void* list) {
  return use(standard_output(), Hook::__vwprintf_chk, flag, format, list);
}
int hook_v___fwprintf_chk(File* f, int flag, void* format, void* list) {
  return use(f, Hook::__vfwprintf_chk, f, flag, format, list);
}
int hook_vscanf(void* format, void* list) { return use(standard_input(), Hook::vscanf, format, list); }
int hook_vfscanf(File* f, void* format, void* list) { return use(f, Hook::vfscanf, f, format, list); }
int hook_v_scanf(void* format, void* list) { return use(standard_input(), Hook::vscanf, format, list); }
int hook_v_fscanf(File* f, void* format, void* list) { return use(f, Hook::vfscanf, f, format, list); }
int hook___isoc99_vscanf(void* format, void* list) { return use(standard_input(), Hook::__isoc99_vscanf, format, list); }
int hook___isoc99_vfscanf(File* f, void* format, void* list) { return use(f, Hook::__isoc99_vfscanf, f, format, list); }
int hook_v___isoc99_scanf(void* format, void* list) { return use(standard_input(), Hook::__isoc99_vscanf, format, list); }
int hook_v___isoc99_fscanf(File* f, void* format, void* list) { return use(f, Hook::__isoc99_vfscanf, f, format, list); }
int hook___isoc23_vscanf(void* format, void* list) { return use(standard_input(), Hook::__isoc23_vscanf, format, list); }
int hook___isoc23_vfscanf(File* f, void* format, void* list) { return use(f, Hook::__isoc23_vfscanf, f, format, list); }
int hook_v___isoc23_scanf(void* format, void* list) { return use(standard_input(), Hook::__isoc23_vscanf, format, list); }
int hook_v___isoc23_fscanf(File* f, void* format, void* list) { return use(f, Hook::__isoc23_vfscanf, f, format, list); }

// --- output ------------------------------------------------------------------------------------------------------------------

int hook_puts(void* text) { return use(standard_output(), Hook::puts, text); }
int hook_putchar(int c) { return use(standard_output(), Hook::putchar, c); }
void hook_perror(void* text) { use<void>(standard_error(), Hook::perror, text); }
int hook_fputs(void* text, File* f) { return use(f, Hook::fputs, text, f); }
int hook_fputc(int c, File* f) { return use(f, Hook::fputc, c, f); }
int hook_putc(int c, File* f) { return use(f, Hook::putc, c, f); }
u64 hook_fwrite(void* data, u64 size, u64 count, File* f) { return use<u64>(f, Hook::fwrite, data, size, count, f); }
int hook_putwchar(int c) { return use(standard_output(), Hook::putwchar, c); }
int hook_fputws(void* text, File* f) { return use(f, Hook::fputws, text, f); }
int hook_fputwc(int c, File* f) { return use(f, Hook::fputwc, c, f); }
int hook_putwc(int c, File* f) { return use(f, Hook::putwc, c, f); }

// --- input -------------------------------------------------------------------------------------------------------------------

int hook_getchar() { return use(standard_input(), Hook::getchar); }
int hook_fgetc(File* f) { return use(f, Hook::fgetc, f); }
int hook_getc(File* f) { return use(f, Hook::getc, f); }
int hook_ungetc(int c, File* f) { return use(f, Hook::ungetc, c, f); }
void* hook_fgets(void* text, int size, File* f) { return use<void*>(f, Hook::fgets, text, size, f); }
void* hook___fgets_chk(void* text, u64 room, int size, File* f) {
  return use<void*>(f, Hook::__fgets_chk, text, room, size, f);
}
long hook_getline(void** line, u64* size, File* f) { return use<long>(f, Hook::getline, line, size, f); }
long hook_getdelim(void** line, u64* size, int end, File* f) { return use<long>(f, Hook::getdelim, line, size, end, f); }
u64 hook_fread(void* data, u64 size, u64 count, File* f) { return use<u64>(f, Hook::fread, data, size, count, f); }
u64 hook___fread_chk(void* data, u64 room, u64 size, u64 count, File* f) {
  return use<u64>(f, Hook::__fread_chk, data, room, size, count, f);
}
int hook_getwchar() { return use(standard_input(), Hook::getwchar); }
int hook_fgetwc(File* f) { return use(f, Hook::fgetwc, f); }
int hook_getwc(File* f) { return use(f, Hook::getwc, f); }
int hook_ungetwc(int c, File* f) { return use(f, Hook::ungetwc, c, f); }
void* hook_fgetws(void* text, int size, File* f) { return use<void*>(f, Hook::fgetws, text, size, f); }
void* hook___fgetws_chk(void* text, u64 room, int size, File* f) {
  return use<void*>(f, Hook::__fgetws_chk, text, room, size, f);
}

// --- the stream itself -------------------------------------------------------------------------------------------------------

/// Of all streams, those of other names than the usual one are not ordered.
int hook_fflush(File* f) { return use(f ? f : standard_output(), Hook::fflush, f); }
int hook_fclose(File* f) { return use(f, Hook::fclose, f); }
int hook_pclose(File* f) { return use(f, Hook::pclose, f); }
void* hook_freopen(void* name, void* mode, File* f) { return use<void*>(f, Hook::freopen, name, mode, f); }
void* hook_freopen64(void* name, void* mode, File* f) { return use<void*>(f, Hook::freopen64, name, mode, f); }
int hook_fseek(File* f, long offset, int from) { return use(f, Hook::fseek, f, offset, from); }
int hook_fseeko(File* f, long offset, int from) { return use(f, Hook::fseeko, f, offset, from); }
long hook_ftell(File* f) { return use<long>(f, Hook::ftell, f); }
long hook_ftello(File* f) { return use<long>(f, Hook::ftello, f); }
void hook_rewind(File* f) { use<void>(f, Hook::rewind, f); }
int hook_fgetpos(File* f, void* position) { return use(f, Hook::fgetpos, f, position); }
int hook_fsetpos(File* f, void* position) { return use(f, Hook::fsetpos, f, position); }
int hook_setvbuf(File* f, void* buffer, int mode, u64 size) { return use(f, Hook::setvbuf, f, buffer, mode, size); }
void hook_setbuf(File* f, void* buffer) { use<void>(f, Hook::setbuf, f, buffer); }
void hook_setbuffer(File* f, void* buffer, u64 size) { use<void>(f, Hook::setbuffer, f, buffer, size); }
void hook_setlinebuf(File* f) { use<void>(f, Hook::setlinebuf, f); }
int hook_feof(File* f) { return use(f, Hook::feof, f); }
int hook_ferror(File* f) { return use(f, Hook::ferror, f); }
void hook_clearerr(File* f) { use<void>(f, Hook::clearerr, f); }

void hook_flockfile(File* f) {
  Thread& t = current();
  if (is_ordered(t, false)) OrderedLock((u64)f).take(t);
  call_original<void>(Hook::flockfile, f);
}
int hook_ftrylockfile(File* f) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(Hook::ftrylockfile, f);
  OrderedLock lock((u64)f);
  bool again = lock.depth(t);
  if (!lock.try_take(t, [](u64 file) { return !call_original(Hook::ftrylockfile, (File*)file); })) return kBusyResult;
  if (again || g.replay) call_original<void>(Hook::flockfile, f);
  return 0;
}
void hook_funlockfile(File* f) {
  call_original<void>(Hook::funlockfile, f);
  OrderedLock((u64)f).give_back(current());
}

}  // extern "C"
}  // namespace pastcone::runtime
