#include "pastcone/cli/checks.h"

#include <gnu/libc-version.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>

#include "pastcone/base/files.h"
#include "pastcone/cli/text.h"
#include "pastcone/gdb/spawn.h"

namespace pastcone::cli {
namespace {

using enum Check::Verdict;

/// Runs `attempt` in a child, which it may leave in any state; it gives 0 or an errno. -1: there was no
/// child.
int in_child(int (*attempt)()) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) _exit(attempt());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string why(int error) { return error > 0 ? errno_message(error) : "the attempt was ended"; }

Check check_machine_type() {
  utsname system{};
  uname(&system);
  std::string finding = fmt::format("{} {}, {}", system.sysname, system.release, system.machine);
  if (std::string_view(system.machine) != "x86_64") {
    return {"machine", kMissing, finding, "pastcone records x86-64 programs only"};
  }
  int major = 0, minor = 0;
  if (std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
      (major < 5 || (major == 5 && minor < 11))) {
    return {"machine", kLimited, finding, "use Linux 5.11 or newer, where all calls can be caught"};
  }
  return {"machine", kFine, finding, ""};
}

Check check_libc() {
  std::string finding = fmt::format("glibc {}", gnu_get_libc_version());
  int major = 0, minor = 0;
  if (std::sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor) == 2 &&
      (major < 2 || (major == 2 && minor < 31))) {
    return {"libc", kLimited, finding, "nobody has tried a glibc this old; use 2.31 or newer"};
  }
  return {"libc", kFine, finding, ""};
}

Check check_dispatch() {
  int error = in_child([] {
    static char selector = 0;  // SYSCALL_DISPATCH_FILTER_ALLOW
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) == 0 ? 0 : errno;
  });
  if (error == 0) return {"Syscall User Dispatch", kFine, "available", ""};
  return {"Syscall User Dispatch", kLimited, fmt::format("not available ({})", why(error)),
          "programs that make system calls outside of libc are refused; a kernel >= 5.11 with "
          "CONFIG_GENERIC_ENTRY has it"};
}

Check check_personality() {
  int error = in_child([] {
    int now = personality(0xffffffff);
    return now >= 0 && personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0 ? 0 : errno;
  });
  if (error == 0) return {"address randomisation", kFine, "can be switched off (personality)", ""};
  return {"address randomisation", kMissing, fmt::format("cannot be switched off: {}", why(error)),
          "in Docker: --security-opt seccomp=unconfined, or a profile that allows personality"};
}

Check check_memory_map() {
  unsigned int size = 0;
  if (prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0) == 0) {
    return {"memory map (PR_SET_MM_MAP)", kFine, "can be set", ""};
  }
  return {"memory map (PR_SET_MM_MAP)", kLimited, fmt::format("cannot be set: {}", errno_message(errno)),
          "brk and the like may differ in replay; a kernel with CONFIG_CHECKPOINT_RESTORE has it"};
}

Check check_namespaces() {
  int error = in_child([] { return unshare(CLONE_NEWUSER) == 0 ? 0 : errno; });
  if (error == 0) return {"user namespaces", kFine, "allowed", ""};
  return {"user namespaces", kLimited, fmt::format("not allowed: {}", why(error)),
          "replayed processes get other process ids; sysctl kernel.unprivileged_userns_clone=1, "
          "user.max_user_namespaces=15000"};
}

Check check_yama() {
  auto scope = read_file("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope) return {"ptrace (Yama)", kFine, "not restricted", ""};
  int value = std::atoi(scope->c_str());
  std::string finding = fmt::format("ptrace_scope is {}", value);
  if (value < 2) return {"ptrace (Yama)", kFine, finding, ""};
  return {"ptrace (Yama)", kLimited, finding,
          "the debugger cannot attach; sysctl kernel.yama.ptrace_scope=1"};
}

Check check_gdb() {
  auto path = gdb::find_gdb();
  if (path) return {"gdb", kFine, *path, ""};
  return {"gdb", kLimited, path.error().message, "`pastcone debug` needs it"};
}

Check check_proc() {
  if (access("/proc/self/maps", R_OK) == 0 && access("/proc/self/fd", X_OK) == 0) {
    return {"/proc", kFine, "mounted", ""};
  }
  return {"/proc", kMissing, "not mounted", "mount -t proc proc /proc"};
}

Check check_disk() {
  constexpr uint64_t kLittle = 1'000'000'000, kNothing = 64'000'000;
  auto directory = data_directory();
  if (!directory) return {"disk", kMissing, directory.error().message, "or record with -o DIR"};
  Path path = *directory;
  std::error_code error;
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0 || access(path.c_str(), W_OK | X_OK) != 0) {
    return {"disk", kMissing, fmt::format("cannot write to {}: {}", path.native(), errno_message(errno)),
            "set XDG_DATA_HOME, or record with -o DIR"};
  }
  uint64_t free = uint64_t{info.f_bavail} * info.f_frsize;
  std::string finding = fmt::format("{} free for {}", size_text(free), directory->native());
  if (free >= kLittle) return {"disk", kFine, finding, ""};
  return {"disk", free < kNothing ? kMissing : kLimited, finding,
          "delete old recordings, or record with -o DIR elsewhere"};
}

Check check_descriptors() {
  constexpr rlim_t kEnough = 1024;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  auto text = [](rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : std::to_string(value); };
  std::string finding = fmt::format("{}, at most {}", text(limit.rlim_cur), text(limit.rlim_max));
  if (limit.rlim_max >= kEnough) return {"open files", kFine, finding, ""};
  return {"open files", kLimited, finding, "the runtime needs a few beyond the program's: ulimit -Hn 4096"};
}

Check check_address_space() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  if (limit.rlim_max == RLIM_INFINITY) return {"address space", kFine, "unlimited", ""};
  return {"address space", kMissing, fmt::format("limited to {}", size_text(limit.rlim_max)),
          "the recorder maps 64 GB of addresses (not memory): ulimit -v unlimited"};
}

}  // namespace

std::vector<Check> check_machine() {
  return {check_machine_type(), check_libc(),       check_proc(),          check_personality(),
          check_dispatch(),     check_disk(),       check_address_space(), check_descriptors(),
          check_memory_map(),   check_namespaces(), check_yama(),          check_gdb()};
}

}  // namespace pastcone::cli
