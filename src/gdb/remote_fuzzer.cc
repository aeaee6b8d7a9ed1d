// Any bytes as gdb's: once as the stream, once as packets that are sound, one a line.
#include <string_view>

#include "pastcone/gdb/packets.h"
#include "pastcone/gdb/requests.h"
#include "pastcone/gdb/testing/memory_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pastcone::gdb;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  testing::MemoryTarget target;
  Requests requests(target);

  PacketReader reader;
  reader.add(input);
  for (;;) {
    PacketReader::Item item = reader.next();
    if (item.kind == PacketReader::Kind::kNone) break;
    if (item.kind == PacketReader::Kind::kPacket) requests.answer(item.data);
  }
  for (std::string_view rest = input; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    requests.answer(line);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return 0;
}
