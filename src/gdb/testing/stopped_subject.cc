#include "pastcone/gdb/testing/stopped_subject.h"

#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <iterator>

namespace pastcone::gdb {
namespace {

/// gdb before 14 cannot call functions where the processor has AMX: it writes the vector registers that it
/// knows, and the kernel takes only all of them. Where it cannot read them all, it goes by those of SSE.
void hide_extended_state() {
  static bool hidden = false;
  if (hidden) return;
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_GETREGSET, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + 2 * sizeof(uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NT_X86_XSTATE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(code), code};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
  hidden = true;
}

}  // namespace

void StoppedSubject::open(const char* file) {
  hide_extended_state();
  auto started = Gdb::start();
  ASSERT_TRUE(started) << started.error().message;
  gdb_ = std::move(*started);
  ASSERT_TRUE(gdb_->console(fmt::format("file {}", file))->good);
}

void StoppedSubject::run_to(const char* file, const char* place) {
  open(file);
  ASSERT_TRUE(gdb_->console(fmt::format("break {}", place))->good);
  ASSERT_TRUE(gdb_->console("run")->good);
  auto groups = gdb_->run("-list-thread-groups");
  pid_ = static_cast<pid_t>(groups->results["groups"].items.at(0).second["pid"].number().value());
}

int64_t StoppedSubject::by_gdb(const std::string& expression) {
  auto answer = gdb_->run("-data-evaluate-expression " + c_string("(long)(" + expression + ")"));
  EXPECT_TRUE(answer->good) << expression << ": " << answer->error;
  return strtoll(answer->results["value"].text.c_str(), nullptr, 10);
}

uint64_t StoppedSubject::reg(int number) {
  static const char* kNames[] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
                                 "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  EXPECT_LT(number, 17);
  return static_cast<uint64_t>(by_gdb(fmt::format("${}", kNames[number])));
}

bool StoppedSubject::read(uint64_t address, void* to, size_t size) const {
  iovec here{to, size};
  iovec there{reinterpret_cast<void*>(address), size};
  return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace pastcone::gdb
