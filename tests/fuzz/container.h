// How a fuzzer's input becomes the files of a recording. The first byte says how the rest is meant:
//
//   'f'  files: u32 size and bytes of trace.pack, live, manifest.json; what is left is files.jsonl
//   'c'  chunks: a byte for the manifest's state, then entries (see Entry), which are put into trace.pack and
//   live with
//        all the checksums right, so that what is fuzzed is what lies behind them
#pragma once

#include <string>

#include "pastcone/base/bytes.h"

namespace pastcone::fuzz {

struct Files {
  Bytes pack, live;
  std::string manifest, files;
};

inline constexpr uint8_t kAsFiles = 'f', kAsChunks = 'c';

/// One chunk: u8 each of place, stream, flags, process, thread, sequence and first event, u16 size, the
/// bytes.
struct Entry {
  static constexpr uint8_t kLive = 1;       ///< in `place`: goes to `live`
  static constexpr uint8_t kNewRecord = 2;  ///< begins a new record of the pack
  uint8_t place, stream, flags, process, thread, sequence, first_event;
  Bytes bytes;
};

Files unpack(ByteView input);

Bytes pack_files(const Files& files);
Bytes pack_entries(uint8_t state, const std::vector<Entry>& entries);

}  // namespace pastcone::fuzz
