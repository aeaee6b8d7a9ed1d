// An ELF file of x86-64 as the patcher needs it: its loaded segments, its symbols, what its relocations point
// to. Every access is checked against the file's size, since the file is whatever the user runs.
//
// A file that no loader would take is an error. Section headers are not needed to run it, so if they are
// damaged it simply has no symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"

namespace pastcone::patch {

inline constexpr uint64_t kPageSize = 4096;
constexpr uint64_t page_floor(uint64_t value) { return value & ~(kPageSize - 1); }
constexpr uint64_t page_ceil(uint64_t value) { return page_floor(value + kPageSize - 1); }

/// A PT_LOAD segment. Its bytes in the file are [offset, offset + file_size).
struct Segment {
  uint64_t vaddr = 0;
  uint64_t offset = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  bool executable = false;

  uint64_t end() const { return vaddr + file_size; }
  bool holds(uint64_t address) const { return address - vaddr < file_size; }
};

struct Symbol {
  std::string_view name;
  uint64_t address = 0;
  uint64_t size = 0;
  bool is_function = false;
  bool is_exported = false;  ///< what a program gets that asks for this name today: no symbol of an older version
};

class ElfImage {
 public:
  /// The image refers to `file`, which must outlive it.
  static Result<ElfImage> parse(ByteView file);

  ByteView file() const { return file_; }
  /// In order of address, not overlapping.
  const std::vector<Segment>& segments() const { return segments_; }
  const Segment* executable_segment(uint64_t address) const;
  ByteView bytes(const Segment& segment) const { return file_.subspan(segment.offset, segment.file_size); }
  /// What the file has in memory from `address` to the end of its segment; empty if nothing is there.
  ByteView from(uint64_t address) const;
  /// Linked at fixed addresses (ET_EXEC).
  bool is_fixed() const { return fixed_; }

  /// Defined symbols of .symtab and .dynsym.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Symbol>& data() const { return data_; }  ///< what of it other files can name
  /// Addends of all dynamic relocations (DT_RELA, DT_JMPREL). DT_RELR's lie in the data itself.
  std::vector<uint64_t> relocation_addends() const;
  /// .eh_frame_hdr (PT_GNU_EH_FRAME), or the section .eh_frame; 0 if there is none.
  uint64_t eh_frame_header() const { return eh_frame_header_; }
  uint64_t eh_frame_section() const { return eh_frame_section_; }

 private:
  explicit ElfImage(ByteView file) : file_(file) {}
  Status read_segments();
  void read_sections();
  void read_symbols(ByteView table, ByteView names, ByteView versions, bool exported);
  std::optional<ByteView> slice(uint64_t offset, uint64_t size) const;

  ByteView file_;
  bool fixed_ = false;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
  std::vector<Symbol> data_;
  uint64_t dynamic_ = 0;
  uint64_t eh_frame_header_ = 0;
  uint64_t eh_frame_section_ = 0;
};

}  // namespace pastcone::patch
