// A pure function of the program, called without the process: its instructions are done here
// (replay/emulate.h), on a stack that is only ours, and what it writes is kept on our side. So the process
// need not stand as a whole, and a call takes microseconds. What cannot be done so, because only the
// processor can do it, memory is not there, or something would be recorded, ends it: then somebody else has
// to make the call (question.h), and finds the reason.
//
// Nobody may be changing the memory of the process meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pastcone/gdb/formula.h"
#include "pastcone/replay/emulate.h"
#include "pastcone/replay/vector_state.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::debug {

/// Functions that the dynamic loader looks for when they are first called, by what it finds on the stack:
/// whose they are, and their numbers.
using Bindings = std::map<std::array<uint64_t, 2>, uint64_t>;
constexpr uint64_t kBindingSize =
    sizeof(Bindings::key_type);  ///< on the stack, as long as the loader is at work

/// Sees from the instructions that are executed when the loader is asked for a function: the table of calls
/// to other files has an entry for that, which pushes a word and jumps by the next one.
class LoaderEntry {
 public:
  void note(std::span<const uint8_t> code);
  /// The last instruction has led there.
  bool is_here() const { return passed_ == 2; }

 private:
  int passed_ = 0;
};

/// What is known of a process as long as it maps nothing else.
class MappedCode {
 public:
  /// As Tracer::mappings.
  explicit MappedCode(std::vector<symbols::Mapping> mappings);

  const symbols::Mapping* find(uint64_t address);
  /// Whether nobody writes to it: a read-only part of a program or library, which stays so.
  bool is_constant(uint64_t address, size_t size);
  /// The instruction there and what is behind it; none where nothing can be executed.
  std::span<const uint8_t> code(uint64_t address, const gdb::ReadMemory& read);
  Bindings bindings;  ///< that are known

 private:
  std::vector<symbols::Mapping> mappings_;
  std::set<std::pair<uint64_t, uint64_t>> images_;  ///< objects of programs and libraries
  const symbols::Mapping* last_ = nullptr;
  std::unordered_map<uint64_t, std::vector<uint8_t>> pieces_;
};

/// The thread in whose place it is called.
struct Caller {
  gdb::ReadMemory read;  ///< of its process
  uint64_t thread_pointer = 0;
  std::function<Result<std::vector<uint8_t>>()> vectors;  ///< Tracer::extended_state
};

class ImaginedCall : private replay::EmulatedMemory {
 public:
  ImaginedCall(MappedCode& mapped, Caller caller);
  ~ImaginedCall() override;

  /// Several, one after the other. Memory that the result depends on is added to `into`.
  Result<gdb::Number> call(const gdb::FunctionCall& call, gdb::Evaluation& into);
  /// Some call could not be made.
  bool failed() const { return failed_; }
  /// Because of memory that is not mapped, as far as is known: stacks grow by themselves.
  bool missed() const { return missed_; }

 private:
  static constexpr uint64_t kBlock = 256;
  using Block = std::array<uint8_t, kBlock>;

  bool read(uint64_t address, void* to, size_t size) override;
  bool write(uint64_t address, const void* from, size_t size) override;
  bool may_write(uint64_t address);
  Block* block_at(uint64_t begin);
  template <typename Each>
  bool for_pieces(uint64_t address, size_t size, const Each& each);
  const symbols::Mapping* find(uint64_t address);
  Result<uint64_t> put(const std::string& text);
  bool pass_loader(user_regs_struct& registers);
  bool follow(user_regs_struct& registers);

  MappedCode& mapped_;
  Caller caller_;
  replay::VectorState vectors_;
  std::unordered_map<uint64_t, Block> blocks_;  ///< by where they begin
  uint64_t last_begin_ = 1;
  Block* last_ = nullptr;
  uint64_t strings_ = 0;  ///< bytes of them
  gdb::Evaluation* into_ = nullptr;
  bool failed_ = false, missed_ = false;
};

}  // namespace pastcone::debug
