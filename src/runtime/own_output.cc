#include "own_output.h"

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

i64 descriptor_by_process(const char* path) {
  bool own = skip(path, "/proc/") && read_number(path) == (i64)process().pid && skip(path, "/fd/");
  i64 fd = own ? read_number(path) : -1;
  return *path ? -1 : fd;
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

Fd find_output(int opened, u64 directory, u64 path) {
  char text[kLongest];
  u64 length = string_length(path, sizeof text - 1);
  if (length < sizeof text - 1 && read_memory(text, path, length + 1)) {
    for (int links = 0; links <= kMostLinks; ++links) {
      Fd named = get_fd(max(descriptor_of(text), descriptor_by_process(text)));
      if (named.kind == FdKind::kOutput) return named;
      if (!follow(directory, text)) break;
    }
  }
  Stat s{}, own{};
  if (sys(__NR_fstat, opened, &s) || !is_known_by_itself(s, opened)) return {};
  const FdTable& table = process().fds;
  for (u32 i = 0; i < table.size; ++i) {
    bool same = table.of[i].kind == FdKind::kOutput && !sys(__NR_fstat, i, &own) && own.dev == s.dev && own.ino == s.ino;
    if (same) return table.of[i];
  }
  return {};
}

}  // namespace pastcone::runtime
