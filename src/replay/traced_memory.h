// The memory of traced processes, with breakpoints in it that do not show. Processes may share one (vfork,
// clone with CLONE_VM).
//
// A breakpoint is a `hlt`, which a program may not execute: SIGSEGV with the instruction pointer at it. Not
// int3, so that it is never taken for one of those that the runtime puts in by itself (runtime/breakpoint.cc,
// runtime/traps.cc), which may even come and go at the same place.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"
#include "pastcone/replay/guarded_pages.h"

namespace pastcone::replay {

class AheadMemory;

class TracedMemory {
 public:
  static constexpr uint8_t kBreak = 0xf4;

  static Result<std::shared_ptr<TracedMemory>> open(pid_t process);
  /// Of a child that has a copy of `parent`: without the breakpoints that were copied too.
  static Result<std::shared_ptr<TracedMemory>> open_copy(pid_t child, const TracedMemory& parent);

  /// Breakpoints do not show, and are not overwritten.
  bool read(uint64_t address, void* to, size_t size) const;
  bool write(uint64_t address, const void* from, size_t size);
  /// The same, past `ahead`.
  bool read_through(uint64_t address, void* to, size_t size) const;
  bool write_through(uint64_t address, const void* from, size_t size);
  /// /proc/PID/maps, to be asked about single mappings; may be invalid.
  int maps() const { return maps_.get(); }

  /// Counted.
  Status add(uint64_t address);
  void remove(uint64_t address);
  /// Whether one is there, and in.
  bool has(uint64_t address) const;
  /// Whether it is what the process would execute: it may have put something else there.
  bool is_in_place(uint64_t address) const;
  /// Whether any lies there, in or not.
  bool any(uint64_t begin, uint64_t end) const;
  /// Whether there was one that has been removed: somebody may have hit it before.
  bool was_removed(uint64_t address) const { return removed_.contains(address); }
  /// If the process itself had something else in its place at that time, and has put it back since: removes it.
  bool bury(uint64_t address);

  /// For a moment, to let somebody execute what is below.
  void take_out(uint64_t address);
  void put_in(uint64_t address);
  /// Those that the process itself has overwritten are put in again.
  void renew();

  /// Somebody who is not traced has this memory too, and would die of the breakpoints: they are out until he
  /// has gone.
  void add_stranger(pid_t process);
  /// `process`: one that is traced and has it.
  void look_for_strangers(pid_t process);
  bool has_strangers() const { return !strangers_.empty(); }

  GuardedPages pages;             ///< which the Tracer sees to
  AheadMemory* ahead = nullptr;   ///< who has done something in the place of the process
  uint64_t call_instruction = 0;  ///< a `syscall` that may be used; 0: not known yet

 private:
  struct Break {
    uint8_t original;
    int users;
    bool in;
  };
  TracedMemory(UniqueFd memory, UniqueFd maps) : memory_(std::move(memory)), maps_(std::move(maps)) {}
  bool peek(uint64_t address, uint8_t& byte) const;
  bool poke(uint64_t address, uint8_t byte) const;

  UniqueFd memory_, maps_;
  std::map<uint64_t, Break> breaks_;
  std::map<uint64_t, uint8_t> removed_;  ///< what was below them
  std::vector<pid_t> strangers_;
};

/// Whether two processes have the same memory.
bool share_memory(pid_t one, pid_t other);

}  // namespace pastcone::replay
