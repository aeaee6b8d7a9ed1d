// Where in the program each event is: as chains of callers, which are places in the files of a recording.
// Made from what the threads of a replay have written down (stage/where.h), and kept in the recording as
// bytes. What the places are called comes later (places.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

/// Places as stage/where.h has them, innermost first.
using CallChain = std::vector<uint64_t>;

class WhereIndex {
 public:
  struct At {
    uint64_t event;
    uint32_t chain;

    bool operator==(const At&) const = default;
  };

  /// Adds what a thread wrote down. `original` says what a place in a patched file stands for.
  void add(ThreadId thread, ByteView words, const std::function<uint64_t(uint64_t)>& original);

  const std::vector<CallChain>& chains() const { return chains_; }  ///< no two are the same
  /// Its chain's number; none: not known. Not from several threads.
  std::optional<uint32_t> find(EventId event) const;

  /// Of what was added. `recording` says of which one it is.
  Bytes pack(const std::string& recording) const;
  /// An error if the bytes are damaged, of another version or of another recording.
  static Result<WhereIndex> unpack(ByteView bytes, const std::string& recording);

 private:
  /// A thread's events as bytes, in blocks: of millions of events mostly a few are asked for.
  class PackedEvents {
   public:
    /// Those of the block in which the event is, if it is known. Good until the next call.
    const std::vector<At>* around(uint64_t event) const;

   private:
    friend WhereIndex;
    struct Block {
      uint64_t first;
      Bytes packed;
    };

    std::vector<Block> blocks_;
    uint32_t chains_ = 0;  ///< that there are
    mutable size_t opened_ = SIZE_MAX;
    mutable std::vector<At> unpacked_;
  };

  uint32_t number_of(CallChain chain);

  std::vector<CallChain> chains_;
  std::map<CallChain, uint32_t> numbers_;
  std::map<ThreadId, std::vector<At>> threads_;  ///< by event, as they were added
  std::map<ThreadId, PackedEvents> packed_;      ///< or as they were read
};

}  // namespace pastcone::replay
