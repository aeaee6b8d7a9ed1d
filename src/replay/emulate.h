// Instructions that are done without the process. At first those at which breakpoints mostly lie: it is twice
// as quick to let it pass by this as to take the breakpoint out for a step, and nobody else has to be held
// meanwhile.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <span>

namespace pastcone::replay {

class Watchpoints;
class VectorState;

/// What is read and written by an instruction, in the place of the process's own memory.
class EmulatedMemory {
 public:
  virtual ~EmulatedMemory() = default;
  virtual bool read(uint64_t address, void* to, size_t size) = 0;
  virtual bool write(uint64_t address, const void* from, size_t size) = 0;
};

/// What an emulated instruction may do to memory besides its own stack.
struct EmulationBounds {
  pid_t process = 0;
  bool alone = false;    ///< nobody else may be using the memory
  bool guarded = false;  ///< pages may be read-only: the processor has to do all that is written
  bool called = false;   ///< what functions are made of is done here, too: of those that only we have called,
                         ///< or in loops
  const Watchpoints* watches = nullptr;  ///< what touches them is for the processor to see
  EmulatedMemory* memory = nullptr;      ///< none: that of the process
  VectorState* vectors = nullptr;        ///< none: what has to do with vectors is for the processor
  /// Whether somebody is to be told of what is written there; none: what writes several times is for the processor.
  std::function<bool(uint64_t address, uint64_t size)> looked_at = {};
};

/// Does to `registers`, and to the memory of the process, what the instruction at `code` does. False: that is
/// for the processor, and nothing has changed.
bool emulate(std::span<const uint8_t> code, user_regs_struct& registers, const EmulationBounds& bounds);

}  // namespace pastcone::replay
