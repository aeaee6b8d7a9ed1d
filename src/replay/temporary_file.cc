#include "pastcone/replay/temporary_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace pastcone::replay {
namespace {

/// What may be kept in memory of one file.
uint64_t memory_budget() {
  auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_AVPHYS_PAGES), 0L));
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 16;
}

}  // namespace

Result<UniqueFd> temporary_file(const char* what, uint64_t size) {
  if (size <= memory_budget()) {
    UniqueFd memory(memfd_create("pastcone", MFD_CLOEXEC));
    if (memory.valid()) return memory;
  }
  const char* wanted = std::getenv("TMPDIR");
  std::string directory = wanted != nullptr && wanted[0] == '/' ? wanted : "/tmp";
  UniqueFd fd(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return fd;
  std::string name = directory + "/pastcone-XXXXXX";  // a file system without O_TMPFILE
  fd.reset(mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) {
    return fail("cannot create {} in {}: {}; set TMPDIR to a directory with room", what, directory,
                errno_message(errno));
  }
  unlink(name.c_str());
  return fd;
}

}  // namespace pastcone::replay
