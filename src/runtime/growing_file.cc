#include "growing_file.h"

#include "text.h"

namespace pastcone::runtime {

char* map_window(const Thread& t, const char* suffix, u64 size, bool first) {
  char path[320];
  Text(path, sizeof path) << g.stage.header().index_directory << "/" << t.process->number << "." << t.number << suffix;
  constexpr int kReadWrite = 2, kCreate = 0100, kCloseOnExec = 02000000;
  long fd = sys(__NR_open, path, kReadWrite | kCreate | kCloseOnExec, 0600);
  if (is_error(fd)) return nullptr;
  Stat s{};
  sys(__NR_fstat, fd, &s);
  u64 begin = (u64)s.size;
  bool again = begin && first;
  if (again) begin -= size;
  char* window = nullptr;
  if (again || !sys(__NR_ftruncate, fd, begin + size))
    window = (char*)far_map(size, kProtRead | kProtWrite, kMapShared, (int)fd, begin);
  sys(__NR_close, fd);
  return window;
}

}  // namespace pastcone::runtime
