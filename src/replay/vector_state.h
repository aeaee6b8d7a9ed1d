// The vector registers of a thread that stands, for who does its instructions in its place. They are fetched
// when the first of these needs them.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::replay {

class VectorState {
 public:
  /// For as long as the thread stands.
  explicit VectorState(pid_t thread) : thread_(thread) {}
  /// Of a copy, which no thread gets; as Tracer::extended_state.
  using Fetch = std::function<Result<std::vector<uint8_t>>()>;
  explicit VectorState(Fetch fetch) : fetch_(std::move(fetch)) {}
  VectorState(const VectorState&) = delete;
  VectorState& operator=(const VectorState&) = delete;
  ~VectorState() { flush(); }

  /// As xsave has them; who gets them may change them. nullptr: that cannot be had.
  uint8_t* change();
  /// A copy of them, as the kernel gives it.
  Result<std::vector<uint8_t>> copy();
  /// Those that the processor has beside xmm, as bits of xsave; all that have to do with vectors.
  uint64_t components() const;
  /// Whether whatever is computed is just computed: nothing is signalled.
  bool is_quiet() const;

  /// Into the thread.
  void flush();
  /// The same, and nothing is known any more.
  void forget();

 private:
  static constexpr size_t kMost = 16 << 10;
  struct alignas(64) Area {
    std::array<uint8_t, kMost> bytes;
    size_t size = 0;
  };
  bool fetch();

  bool fetch_copy();

  pid_t thread_ = 0;
  Fetch fetch_;
  std::unique_ptr<Area> area_;
  bool known_ = false, changed_ = false;
};

}  // namespace pastcone::replay
