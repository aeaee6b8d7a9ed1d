#include "pastcone/patch/eh_frame.h"

#include <map>
#include <string_view>

namespace pastcone::patch {
namespace {

// DW_EH_PE_*: how a pointer is written (low four bits) and what it is relative to (the next three).
constexpr uint8_t kOmitted = 0xff;
constexpr uint8_t kIndirect = 0x80;
constexpr uint8_t kPcRelative = 0x10;

/// Reads from an address of the image on, and knows where it is: pointers are relative to themselves.
class EhReader {
 public:
  EhReader(ByteView bytes, uint64_t address) : in_(bytes), address_(address) {}

  uint64_t position() const { return address_ + in_.offset(); }
  ByteReader& in() { return in_; }

  int64_t signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      uint8_t byte = in_.u8();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    in_.set_failed();
    return 0;
  }

  /// A number in the given format, without what it is relative to.
  uint64_t number(uint8_t encoding) {
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c:
        return in_.u64();
      case 0x01:
        return in_.varint();
      case 0x02:
        return in_.u16();
      case 0x03:
        return in_.u32();
      case 0x09:
        return static_cast<uint64_t>(signed_leb());
      case 0x0a:
        return static_cast<uint64_t>(int64_t{static_cast<int16_t>(in_.u16())});
      case 0x0b:
        return static_cast<uint64_t>(int64_t{static_cast<int32_t>(in_.u32())});
      default:
        in_.set_failed();
        return 0;
    }
  }

  /// A pointer, absolute or relative to itself; other kinds do not occur here. 0 is the null pointer.
  uint64_t pointer(uint8_t encoding) {
    uint64_t here = position();
    uint64_t value = number(encoding);
    uint8_t base = encoding & 0x70;
    if ((encoding & kIndirect) != 0 || (base != 0 && base != kPcRelative)) in_.set_failed();
    return value == 0 || base == 0 ? value : here + value;
  }

 private:
  ByteReader in_;
  uint64_t address_;
};

EhReader reader_at(const ElfImage& image, uint64_t address) { return {image.from(address), address}; }

/// What a CIE says about the FDEs that refer to it.
struct Cie {
  bool sound = false;
  bool has_augmentation = false;
  uint8_t pointer_encoding = 0;
  uint8_t lsda_encoding = kOmitted;
};

Cie read_cie(const ElfImage& image, uint64_t address) {
  EhReader reader = reader_at(image, address);
  ByteReader& in = reader.in();
  Cie cie;
  uint32_t length = in.u32();
  uint32_t id = in.u32();
  uint8_t version = in.u8();
  if (length == 0xffffffff || id != 0 || (version != 1 && version != 3)) return cie;
  std::string_view rest = as_text(image.from(reader.position()));
  size_t end = rest.find('\0');
  if (end == std::string_view::npos) return cie;
  std::string_view augmentation = rest.substr(0, end);
  in.skip(end + 1);
  in.varint();                           // code alignment
  reader.signed_leb();                   // data alignment
  version == 1 ? in.u8() : in.varint();  // return address register
  for (char c : augmentation) {
    switch (c) {
      case 'z':
        cie.has_augmentation = true;
        in.varint();
        break;
      case 'R':
        cie.pointer_encoding = in.u8();
        break;
      case 'L':
        cie.lsda_encoding = in.u8();
        break;
      case 'P': {
        uint8_t encoding = in.u8();
        reader.number(encoding);
        break;
      }
      case 'S':
      case 'B':
        break;  // signal frame, pointer authentication
      default:
        return cie;
    }
  }
  cie.sound = !in.failed();
  return cie;
}

uint64_t eh_frame_start(const ElfImage& image) {
  if (image.eh_frame_header() == 0) return image.eh_frame_section();
  EhReader reader = reader_at(image, image.eh_frame_header());
  uint8_t version = reader.in().u8();
  uint8_t encoding = reader.in().u8();
  reader.in().skip(2);
  uint64_t start = reader.pointer(encoding);
  return version != 1 || reader.in().failed() ? image.eh_frame_section() : start;
}

}  // namespace

std::vector<Frame> read_frames(const ElfImage& image) {
  std::vector<Frame> frames;
  std::map<uint64_t, Cie> cies;
  uint64_t entry = eh_frame_start(image);
  while (entry != 0) {
    EhReader reader = reader_at(image, entry);
    ByteReader& in = reader.in();
    uint32_t length = in.u32();
    if (length == 0 || length == 0xffffffff || length > in.remaining()) break;
    uint64_t next = reader.position() + length;
    uint64_t cie_field = reader.position();
    uint32_t cie_offset = in.u32();
    entry = next;
    if (cie_offset == 0) continue;  // this is a CIE

    auto [found, is_new] = cies.try_emplace(cie_field - cie_offset);
    if (is_new) found->second = read_cie(image, cie_field - cie_offset);
    const Cie& cie = found->second;
    if (!cie.sound) continue;
    Frame frame;
    frame.start = reader.pointer(cie.pointer_encoding);
    frame.end = frame.start + reader.number(cie.pointer_encoding);
    if (cie.has_augmentation) {
      uint64_t size = in.varint();
      if (cie.lsda_encoding != kOmitted && size > 0) frame.lsda = reader.pointer(cie.lsda_encoding);
    }
    if (!in.failed() && frame.start < frame.end) frames.push_back(frame);
  }
  return frames;
}

std::optional<std::vector<uint64_t>> landing_pads(const ElfImage& image, const Frame& frame) {
  EhReader reader = reader_at(image, frame.lsda);
  ByteReader& in = reader.in();
  uint64_t landing_base = frame.start;
  if (uint8_t encoding = in.u8(); encoding != kOmitted) landing_base = reader.pointer(encoding);
  if (in.u8() != kOmitted) in.varint();  // where the type table is
  uint8_t encoding = in.u8();
  uint64_t table_size = in.varint();
  uint64_t table_end = reader.position() + table_size;
  if (in.failed() || table_size > in.remaining()) return std::nullopt;

  std::vector<uint64_t> pads;
  while (reader.position() < table_end && !in.failed()) {
    reader.number(encoding);  // call site: start
    reader.number(encoding);  // and length
    uint64_t pad = reader.number(encoding);
    in.varint();  // action
    if (pad != 0) pads.push_back(landing_base + pad);
  }
  if (in.failed()) return std::nullopt;
  return pads;
}

}  // namespace pastcone::patch
