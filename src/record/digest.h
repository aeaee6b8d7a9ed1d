// Reading whole files once: their xxh64, with or without a copy on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pastcone/base/files.h"
#include "pastcone/base/result.h"

namespace pastcone::record {

/// Called now and then during long work, so that nothing else has to wait for it.
using Breathe = std::function<void()>;

struct Digest {
  uint64_t hash = 0;  ///< xxh64 of the contents
  uint64_t size = 0;
};

/// Reads `fd` from its start to its end. `path` is for messages.
Result<Digest> digest_file(int fd, const Path& path, const Breathe& breathe = {});

/// The same, copying everything into the empty file `to`: by reference where the file system can (FICLONE),
/// holes as holes.
Result<Digest> copy_file(int fd, int to, const Path& path, const Breathe& breathe = {});

/// 16 hex digits, as in files.jsonl.
std::string to_hex(uint64_t hash);

}  // namespace pastcone::record
