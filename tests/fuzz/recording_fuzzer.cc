// Whatever is in the files of a recording, reading it ends, within bounds. Bytes to files: container.h.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "container.h"
#include "pastcone/base/check.h"
#include "pastcone/trace/event_reader.h"
#include "pastcone/trace/processes.h"
#include "pastcone/trace/recording.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone {
namespace {

void read_items(const Recording& recording, ThreadId thread) {
  StreamReader reader(recording, thread);
  uint64_t events = 0;
  while (true) {
    auto item = reader.next();
    if (!item || !*item) break;
    CHECK((*item)->event == 0 || (*item)->event == ++events);
    kind_name(**item);
    Bytes part(std::min<uint64_t>((*item)->payload_length, 4096));
    CHECK(reader.copy_payload(**item, (*item)->payload_length - part.size(), part));
  }
  CHECK(reader.events() == events);
}

void read_events(const Recording& recording, ThreadId thread) {
  EventReader reader(recording, thread);
  while (true) {
    auto event = reader.next();
    if (!event || *event == nullptr) return;
    if ((*event)->item.payload_length < 65536) CHECK(reader.payload((*event)->item));
  }
}

void read(const fuzz::Files& files) {
  auto recording = Recording::from_bytes({files.pack, files.live, files.manifest, files.files});
  if (!recording) {
    CHECK(!recording.error().message.empty());
    return;
  }
  for (const auto& [thread, streams] : recording->threads()) {
    read_items(*recording, thread);
    read_events(*recording, thread);
  }
  ProcessTable table = ProcessTable::read(*recording);
  for (const auto& [id, process] : table.processes()) {
    table.program(id);
    to_string(process.end);
  }
  recording->manifest().to_json();
}

}  // namespace
}  // namespace pastcone

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pastcone::read(pastcone::fuzz::unpack(pastcone::ByteView(data, size)));
  return 0;
}
