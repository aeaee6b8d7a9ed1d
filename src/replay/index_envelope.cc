#include "pastcone/replay/index_envelope.h"

#include "pastcone/trace/checksum.h"

namespace pastcone::replay {

Bytes put_in_envelope(const IndexKind& kind, const std::string& recording, ByteView contents) {
  ByteWriter body;
  body.varint(recording.size());
  body.bytes(as_bytes(recording));
  body.bytes(contents);
  ByteWriter out;
  out.bytes(as_bytes(kind.magic));
  out.u32(kind.version);
  out.u64(xxh64(body.view()));
  out.bytes(body.view());
  return out.take();
}

Result<ByteView> open_envelope(const IndexKind& kind, const std::string& recording, ByteView bytes) {
  ByteReader in(bytes);
  if (as_text(in.bytes(kind.magic.size())) != kind.magic) return fail("it is no {}", kind.what);
  if (in.u32() != kind.version) return fail("it is of another version");
  uint64_t checksum = in.u64();
  if (in.failed() || xxh64(bytes.subspan(in.offset())) != checksum) return fail("its checksum is wrong");
  if (as_text(in.bytes(in.varint())) != recording || in.failed()) return fail("it is of another recording");
  return bytes.subspan(in.offset());
}

}  // namespace pastcone::replay
