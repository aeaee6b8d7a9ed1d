#include "pastcone/gdb/testing/stopped_subject.h"

#include <sys/uio.h>

#include <cstdlib>

namespace pastcone::gdb {

void StoppedSubject::open(const char* file) {
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
