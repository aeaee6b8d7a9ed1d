// What objects.idx and where.idx have in common: a first line of defence against bytes that are not theirs.
// The magic, u32 version, u64 xxh64 of all that follows; the recording it is of (varint, text); then what is
// in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"

namespace pastcone::replay {

struct IndexKind {
  std::string_view magic;
  uint32_t version;
  const char* what;  ///< the error's words for it: "it is no {}"
};

Bytes put_in_envelope(const IndexKind& kind, const std::string& recording, ByteView contents);

/// The contents, a view into `bytes`. An error if these are damaged, of another kind or version, or of
/// another recording.
Result<ByteView> open_envelope(const IndexKind& kind, const std::string& recording, ByteView bytes);

}  // namespace pastcone::replay
