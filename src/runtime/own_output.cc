#include "own_output.h"

#include "addresses.h"
#include "text.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kLongest = 256;  // of a path
constexpr int kMostLinks = 8;

/// The number at `text`, up to the next slash or the end, behind which `text` is then; -1: there is none.
i64 read_number(const char*& text) {
  i64 number = 0;
  const char* first = text;
  for (; *text && *text != '/'; ++text) {
    if (*text < '0' || *text > '9' || number > 1 << 28) return -1;
    number = number * 10 + (*text - '0');
  }
  return text == first ? -1 : number;
}

bool skip(const char*& text, const char* what) {
  u64 length = strlen(what);
  for (u64 i = 0; i < length; ++i)
    if (text[i] != what[i]) return false;
  text += length;
  return true;
}

i64 descriptor_of(const char* path) {
  if (equal(path, "/dev/stdout")) return 1;
  if (equal(path, "/dev/stderr")) return 2;
  i64 fd = skip(path, "/dev/fd/") || skip(path, "/proc/self/fd/") ? read_number(path) : -1;
  return *path ? -1 : fd;
}

/// A descriptor as /proc shows it, of this process or another one.
struct Shown {
  i64 fd = -1;
  bool own = false;
};

Shown descriptor_in_proc(const char* path) {
  if (!skip(path, "/proc/")) return {};
  bool own = skip(path, "self") || skip(path, "thread-self");
  if (!own) own = read_number(path) == (i64)process().pid;
  if (skip(path, "/task/")) read_number(path);
  i64 fd = skip(path, "/fd/") ? read_number(path) : -1;
  return {*path ? -1 : fd, own};
}

/// /proc and its directories can be had as descriptors, too.
void make_absolute(u64 directory, char (&path)[kLongest]) {
  if (path[0] == '/') return;
  char link[32], whole[kLongest];
  Text name(link, sizeof link);
  if ((i32)directory < 0) name << "/proc/self/cwd";
  else name << "/proc/self/fd/" << (i64)(i32)directory;
  long length = sys(__NR_readlink, link, whole, sizeof whole);
  u64 rest = strlen(path) + 1;
  if (is_error(length) || whole[0] != '/' || (u64)length + 1 + rest > sizeof whole) return;
  memmove(path + length + 1, path, rest);
  memcpy(path, whole, (u64)length);
  path[length] = '/';
}

/// Puts what a link leads to in the place of its path.
bool follow(u64 directory, char (&path)[kLongest]) {
  char target[kLongest];
  long length = sys(__NR_readlinkat, directory, path, target, sizeof target - 1);
  if (is_error(length) || length == (long)sizeof target - 1) return false;
  u64 keep = 0;  // of the path, up to its last slash
  for (u64 i = 0; target[0] != '/' && path[i]; ++i)
    if (path[i] == '/') keep = i + 1;
  if (keep + (u64)length >= sizeof path) return false;
  memcpy(path + keep, target, (u64)length);
  path[keep + (u64)length] = 0;
  return true;
}

/// A pipe has no other names than its descriptors'. A terminal is written to by its own name, too; of a file that would be another
/// use of it, and of /dev/null none.
bool is_known_by_itself(const Stat& s, int fd) {
  constexpr long kWriteOnly = 1;
  constexpr u64 kNull = 0x103;
  u32 type = s.mode & kModeType;
  return type == kModeFifo || (type == kModeChar && s.rdev != kNull && (sys(__NR_fcntl, fd, 3, 0) & 3) == kWriteOnly);
}

}  // namespace

i64 descriptor_named(u64 path) {
  char text[32];
  u64 length = string_length(path, sizeof text - 1);
  return length < sizeof text - 1 && read_memory(text, path, length + 1) ? descriptor_of(text) : -1;
}

namespace {
u64 output_key(const Stat& s) { return address_key(KeyOf::kOutput, s.dev, s.ino); }
}  // namespace

void note_output(int fd) {
  Stat s{};
  if (!sys(__NR_fstat, fd, &s) && !find_address(output_key(s))) put_address(output_key(s), (u32)fd);
}

Fd output_of_file(int fd) {
  Stat s{};
  u32 end = sys(__NR_fstat, fd, &s) ? 0 : find_address(output_key(s));
  Fd entry{};
  if (end) entry.kind = FdKind::kOutput, entry.end = (u8)end;
  return entry;
}

bool is_uncertain(const Fd& fd) { return fd.kind == FdKind::kClosed || (process().shares_descriptors && !has_end(fd)); }

Fd find_output(int opened, u64 directory, u64 path) {
  Fd output = output_of_file(opened);
  if (output.kind == FdKind::kClosed) return output;
  char text[kLongest];
  u64 length = string_length(path, sizeof text - 1);
  if (length < sizeof text - 1 && read_memory(text, path, length + 1)) {
    make_absolute(directory, text);
    for (int links = 0; links <= kMostLinks; ++links) {
      Shown shown = descriptor_in_proc(text);
      Fd own = get_fd(max(descriptor_of(text), shown.own ? shown.fd : -1));
      if (own.kind == FdKind::kOutput) return own;
      if (shown.fd >= 0 && own.kind == FdKind::kClosed) return output;
      if (!follow(directory, text)) break;
    }
  }
  Stat s{};
  return !sys(__NR_fstat, opened, &s) && is_known_by_itself(s, opened) ? output : Fd{};
}

}  // namespace pastcone::runtime
