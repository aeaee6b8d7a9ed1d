#include "pastcone/gdb/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace pastcone::gdb {
namespace {

bool is_program(const std::string& path) {
  std::error_code error;
  return access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path, error);
}

[[noreturn]] void become_gdb(const char* path, int in, int out, pid_t parent) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  in = fcntl(in, F_DUPFD, 3);  // ours may have been closed ones among 0, 1, 2
  out = fcntl(out, F_DUPFD, 3);
  int nowhere = open("/dev/null", O_WRONLY);
  dup2(in, 0);
  dup2(out, 1);
  dup2(nowhere, 2);
  close_range(3, UINT_MAX, 0);
  // What would change its output, or let it ask the network for debug information.
  unsetenv("DEBUGINFOD_URLS");
  unsetenv("LINES");
  unsetenv("COLUMNS");
  setenv("TERM", "dumb", 1);
  execl(path, "gdb", "--interpreter=mi3", "-nx", "-q", nullptr);
  _exit(127);
}

}  // namespace

Result<std::string> find_gdb() {
  if (const char* named = getenv("PASTCONE_GDB"); named && *named) {
    if (is_program(named)) return named;
    return fail("PASTCONE_GDB is {}, which is no program", named);
  }
  const char* variable = getenv("PATH");
  std::string_view rest = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    size_t end = rest.find(':');
    std::string path = std::string(rest.substr(0, end)) + "/gdb";
    if (is_program(path)) return path;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return fail("gdb is not installed; apt install gdb");
}

Result<Spawned> spawn_gdb(const std::string& path) {
  int input[2];
  int output[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input))
    return fail("no socket for gdb: {}", strerror(errno));
  UniqueFd in(input[0]);
  UniqueFd gdbs_in(input[1]);
  if (pipe2(output, O_CLOEXEC)) return fail("no pipe for gdb: {}", strerror(errno));
  UniqueFd out(output[0]);
  UniqueFd gdbs_out(output[1]);
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid < 0) return fail("cannot start gdb: {}", strerror(errno));
  if (pid == 0) become_gdb(path.c_str(), gdbs_in.get(), gdbs_out.get(), parent);
  return Spawned{pid, std::move(in), std::move(out)};
}

}  // namespace pastcone::gdb
