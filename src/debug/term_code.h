// A simple predicate as a program understands it: its expression in bytecode, and where it is to be looked
// at. gdb is asked once for a program and the address that it lies at.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/debug/condition.h"
#include "pastcone/debug/images.h"
#include "pastcone/debug/inner_blocks.h"
#include "pastcone/debug/predicate.h"
#include "pastcone/debug/watch_words.h"

namespace pastcone::debug {

struct TermCode {
  std::map<uint64_t, Conditions> places;  ///< at, in: by address; in: behind the function's prologue
  std::map<uint64_t, uint64_t>
      entries;  ///< in: where the function of each place begins; several may have its name
  std::map<uint64_t, std::vector<OwnVariable>> own;  ///< in: of a place's function
  std::map<uint64_t, InnerBlocks> inner;  ///< in: of a place's function, if they have what it names
  Conditions anywhere;                    ///< else

  bool asks() const;  ///< one of its conditions does
};

/// What a term is now, and what has to be watched to know when it is not any more.
struct Verdict {
  bool holds = false;
  std::set<Word> words;
  bool by_registers = false;  ///< of others than the frame's
  bool unknown = false;       ///< the process has to stand for it, and does not
};

/// What was found out while the process stands; none: it does not.
struct Told {
  bool known = false, holds = false;
  std::vector<std::pair<uint64_t, uint32_t>> memory;  ///< that it depends on
};
using FindOut = std::function<std::optional<Told>(const Condition& condition)>;

Verdict judge(const Conditions& conditions, const gdb::ReadMemory& read, const gdb::ReadRegister& reg,
              const FindOut& ask);

/// Where the function that has an address begins; the name is that of its symbol.
struct FunctionStart {
  uint64_t address = 0;
  std::string name;
};
Result<FunctionStart> function_at(gdb::Gdb& gdb, uint64_t address);

/// Kept from one search to the next.
class TermCodes {
 public:
  struct Known {
    TermCode code;
    std::string error;  ///< gdb's; empty: there is none
  };
  using KnownRef = std::shared_ptr<const Known>;  ///< several processes run one program, and forget at their own times
  /// `gdb` looks at a process of the program, `blocks` knows the function at an address.
  using BlocksAt = std::function<std::optional<symbols::FunctionBlocks>(uint64_t)>;
  Result<KnownRef> compile(const Image& image, const SimplePredicate& term,
                           const std::function<Result<gdb::Gdb*>()>& gdb, const BlocksAt& blocks);
  KnownRef find(const Image& image, const SimplePredicate& term) const;
  /// More may be known of the program now.
  void forget(const Image& image, const SimplePredicate& term);

 private:
  std::map<std::pair<Image, std::string>, KnownRef> known_;
};

}  // namespace pastcone::debug
