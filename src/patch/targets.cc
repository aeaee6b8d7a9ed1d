#include "pastcone/patch/targets.h"

#include <algorithm>
#include <cstring>

namespace pastcone::patch {
namespace {

template <typename T>
T read_value(ByteView bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Goes over the code and then the data of one file.
class Collector {
 public:
  explicit Collector(const ElfImage& image) : image_(image), targets_(image), starts_(image) {}

  void add_code(const std::vector<Piece>& pieces) {
    auto piece = pieces.begin();
    for (const Segment& segment : image_.segments()) {
      if (!segment.executable) continue;
      uint64_t done = segment.vaddr;
      for (; piece != pieces.end() && piece->start < segment.end(); ++piece) {
        add_unknown(done, piece->start);
        targets_.add(piece->start);
        add_piece(*piece);
        done = piece->end;
      }
      add_unknown(done, segment.end());
    }
  }

  void add_symbols() {
    for (const Symbol& symbol : image_.symbols()) targets_.add(symbol.address);
    for (uint64_t addend : image_.relocation_addends()) add_doubtful(addend);
  }

  void add_data() {
    for (uint64_t reference : references_) add_doubtful(reference);
    for (const Segment& segment : image_.segments()) {
      ByteView bytes = image_.bytes(segment);
      for (size_t at = -segment.vaddr % 8; at + 8 <= bytes.size(); at += 8) {
        add_doubtful(read_value<uint64_t>(bytes, at));
      }
    }
  }

  void add_tables() {
    std::ranges::sort(tables_);
    tables_.erase(std::unique(tables_.begin(), tables_.end()), tables_.end());
    for (uint64_t table : tables_) {
      ByteView bytes = image_.from(table);
      bytes = bytes.first(std::min(bytes.size(), kLargestTable));
      for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
        uint64_t target = table + static_cast<uint64_t>(int64_t{read_value<int32_t>(bytes, at)});
        if (!starts_.contains(target)) break;
        targets_.add(target);
      }
    }
  }

  CodeAddresses take() { return std::move(targets_); }

 private:
  void add_doubtful(uint64_t address) {
    if (starts_.contains(address)) targets_.add(address);
  }

  void add_references(const Instruction& instruction) {
    starts_.add(instruction.address);
    if (image_.executable_segment(instruction.reference) != nullptr)
      references_.push_back(instruction.reference);
    if (image_.is_fixed() && image_.executable_segment(instruction.constant) != nullptr) {
      references_.push_back(instruction.constant);
    }
  }

  void add_piece(const Piece& piece) {
    bool jumps_indirectly = false;
    size_t tables_before = tables_.size();
    bool complete = decode_range(image_, piece.start, piece.end, [&](const Instruction& instruction) {
      add_references(instruction);
      if (instruction.target != 0) targets_.add(instruction.target);
      if (instruction.flow == Flow::kIndirectJump) jumps_indirectly = true;
      if (instruction.is_lea && instruction.reference != 0) tables_.push_back(instruction.reference);
    });
    if (!jumps_indirectly) tables_.resize(tables_before);
    if (!complete) add_unknown(piece.start, piece.end);
  }

  /// Code or data: what does not decode is stepped over.
  void add_unknown(uint64_t start, uint64_t end) {
    while (start < end) {
      uint64_t reached = start;
      decode_range(image_, start, end, [&](const Instruction& instruction) {
        add_references(instruction);
        if (instruction.target != 0) references_.push_back(instruction.target);
        reached = instruction.end();
      });
      start = std::max(reached, start + 1);
    }
  }

  static constexpr size_t kLargestTable = 4 * 4096;

  const ElfImage& image_;
  CodeAddresses targets_;
  CodeAddresses starts_;              // of instructions
  std::vector<uint64_t> references_;  // doubtful targets that code mentions
  std::vector<uint64_t> tables_;      // what may be the start of a switch table
};

}  // namespace

CodeAddresses::CodeAddresses(const ElfImage& image) {
  for (const Segment& segment : image.segments()) {
    if (!segment.executable) continue;
    maps_.push_back({segment.vaddr, segment.file_size, std::vector<uint64_t>(segment.file_size / 64 + 1)});
  }
}

void CodeAddresses::add(uint64_t address) {
  for (Map& map : maps_) {
    uint64_t offset = address - map.start;
    if (offset < map.size) map.bits[offset / 64] |= uint64_t{1} << offset % 64;
  }
}

bool CodeAddresses::contains(uint64_t address) const {
  return std::ranges::any_of(maps_, [&](const Map& map) {
    uint64_t offset = address - map.start;
    return offset < map.size && (map.bits[offset / 64] >> offset % 64 & 1) != 0;
  });
}

bool CodeAddresses::any_in(uint64_t start, uint64_t end) const {
  for (uint64_t address = start; address < end; ++address) {
    if (contains(address)) return true;
  }
  return false;
}

CodeAddresses find_targets(const ElfImage& image, const std::vector<Piece>& pieces) {
  Collector collector(image);
  collector.add_code(pieces);
  collector.add_symbols();
  collector.add_data();
  collector.add_tables();
  return collector.take();
}

}  // namespace pastcone::patch
