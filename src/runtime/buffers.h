// The memory that a read or write names, whatever the call's way of naming it.
#pragma once

#include "call.h"

namespace pastcone::runtime {

struct MessageHeader {
  u64 name;
  u32 name_length, pad0;
  u64 vectors, vector_count;
  u64 control, control_length;
  u32 flags, pad1;
};
static_assert(sizeof(MessageHeader) == 56);

struct Buffers {
  static constexpr u32 kMost = 1024;
  Iovec of[kMost];
  u32 count;
  u64 total;
  bool bad;  ///< the list itself could not be read

  void add(u64 base, u64 length);
  void add_vectors(u64 vectors, u64 n);
  void skip(u64 n);   ///< the first n bytes are done
};

/// The buffers of any call of the read and write families.
void fill_buffers(Call& c, Buffers& buffers);
/// Walks the first n bytes: function(address, length).
template <typename F>
void each_part(const Buffers& buffers, u64 n, F function) {
  for (u32 i = 0; i < buffers.count && n; ++i) {
    u64 part = min(n, buffers.of[i].length);
    if (part) function(buffers.of[i].base, part);
    n -= part;
  }
}

}  // namespace pastcone::runtime
