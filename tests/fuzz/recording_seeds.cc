// Writes the seed corpus of recording_fuzzer: small sound recordings, finished and not. recording_seeds
// DIRECTORY
#include <cstdio>
#include <filesystem>

#include "container.h"
#include "pastcone/base/files.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone {
namespace {

using trace_testing::BuiltChunk;
using trace_testing::every_item;
using trace_testing::family;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

fuzz::Files files_of(const RecordingBuilder& builder) {
  Bytes live = builder.live();
  if (!live.empty()) {  // small inputs are faster: without the unused slot, and up to the last byte in use
    live.erase(live.begin(), live.begin() + format::kChunkSize);
    while (!live.empty() && live.back() == 0) live.pop_back();
    live.resize(live.size() + sizeof(format::ChunkHeader));
  }
  return {builder.pack(), live, builder.manifest.to_json(), builder.files};
}

Bytes entries_of(uint8_t state, const StreamBuilder& stream, uint8_t place) {
  std::vector<fuzz::Entry> entries;
  for (const BuiltChunk& chunk : stream.chunks(true)) {
    const format::ChunkHeader& header = chunk.header;
    entries.push_back({place, header.stream, header.flags, static_cast<uint8_t>(header.process),
                       static_cast<uint8_t>(header.thread), static_cast<uint8_t>(header.sequence),
                       static_cast<uint8_t>(header.first_event), chunk.bytes});
  }
  return fuzz::pack_entries(state, entries);
}

Status write_seeds(const Path& directory) {
  ThreadId thread(ProcessId(1), 1);
  TRY_STATUS(make_directories(directory));
  auto write = [&](const char* name, const Bytes& bytes) {
    return write_file_atomic(directory / name, as_text(bytes));
  };
  TRY_STATUS(write("family", fuzz::pack_files(files_of(family()))));
  TRY_STATUS(write("every", fuzz::pack_files(files_of(RecordingBuilder().packed(every_item(thread, 80))))));
  StreamBuilder small(thread, 100);
  small.start(1, 1, EventId(), 1, 1).send(1, 2, 3).correct(2).exit_group(0);
  TRY_STATUS(write("live", fuzz::pack_files(files_of(RecordingBuilder().living(small)))));
  TRY_STATUS(write("chunks", entries_of(1, every_item(thread), 0)));
  TRY_STATUS(write("small_chunks", entries_of(0, every_item(thread, 80), fuzz::Entry::kNewRecord)));
  TRY_STATUS(write("live_chunks", entries_of(2, every_item(thread), fuzz::Entry::kLive)));
  return {};
}

}  // namespace
}  // namespace pastcone

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pastcone::Status written = pastcone::write_seeds(argv[1]);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
