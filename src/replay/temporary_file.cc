#include "pastcone/replay/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace pastcone::replay {

Result<UniqueFd> temporary_file(const char* what) {
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
