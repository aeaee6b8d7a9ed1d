// A process that a real gdb has stopped, with its memory and registers: what we compute is compared with what
// gdb does.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <memory>
#include <string>

#include "pastcone/gdb/agent.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::gdb {

class StoppedSubject : public testing::Test {
 protected:
  void open(const char* file);
  void run_to(const char* file, const char* place);
  int64_t by_gdb(const std::string& expression);
  uint64_t reg(int number);
  bool read(uint64_t address, void* to, size_t size) const;

  ReadMemory reader() const {
    return [this](uint64_t address, void* to, size_t size) { return read(address, to, size); };
  }
  ReadRegister registers() {
    return [this](int number) { return reg(number); };
  }

  std::unique_ptr<Gdb> gdb_;
  pid_t pid_ = 0;
};

}  // namespace pastcone::gdb
