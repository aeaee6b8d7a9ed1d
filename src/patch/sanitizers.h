// Programs that are built with a sanitizer which claims the addresses that the runtime lies at. The tool refuses them as the
// command, and the runtime lets them run outside.
// Freestanding: the runtime includes it.
#pragma once

#include <elf.h>

#include <cstdint>

namespace pastcone::patch {

/// A file in memory. Nothing in it is trusted.
struct FileBytes {
  const char* data;
  uint64_t size;

  template <typename T>
  bool read(uint64_t offset, T& value) const {
    if (offset > size || size - offset < sizeof value) return false;
    __builtin_memcpy(&value, data + offset, sizeof value);
    return true;
  }
};

/// Where the strings of the dynamic symbols are; empty if there are none.
inline FileBytes dynamic_strings(const FileBytes& file) {
  Elf64_Ehdr header;
  Elf64_Phdr dynamic{}, segment;
  if (!file.read(0, header)) return {};
  auto segment_at = [&](uint32_t i) { return header.e_phoff + uint64_t{i} * sizeof segment; };
  for (uint32_t i = 0; i < header.e_phnum && file.read(segment_at(i), segment); ++i) {
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
  }
  uint64_t address = 0, length = 0;
  Elf64_Dyn entry;
  for (uint64_t at = 0; at < dynamic.p_filesz && file.read(dynamic.p_offset + at, entry); at += sizeof entry) {
    if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) length = entry.d_un.d_val;
  }
  for (uint32_t i = 0; length != 0 && i < header.e_phnum && file.read(segment_at(i), segment); ++i) {
    uint64_t inside = address - segment.p_vaddr, offset = segment.p_offset + inside;
    if (segment.p_type != PT_LOAD || inside >= segment.p_filesz) continue;
    if (offset >= file.size || file.size - offset < length) return {};
    return {file.data + offset, length};
  }
  return {};
}

/// The sanitizer's name, or nullptr. They all have a function with a known name, which their libraries import or export.
inline const char* sanitizer_of(const FileBytes& file) {
  constexpr struct {
    const char* function;
    const char* name;
  } kSanitizers[] = {{"__tsan_init", "ThreadSanitizer"}, {"__msan_init", "MemorySanitizer"}};
  FileBytes strings = dynamic_strings(file);
  for (uint64_t begin = 0; begin < strings.size;) {
    uint64_t end = begin;
    while (end < strings.size && strings.data[end] != '\0') ++end;
    for (const auto& sanitizer : kSanitizers) {
      uint64_t length = __builtin_strlen(sanitizer.function);
      if (end - begin != length) continue;
      uint64_t same = 0;
      while (same < length && strings.data[begin + same] == sanitizer.function[same]) ++same;
      if (same == length) return sanitizer.name;
    }
    begin = end + 1;
  }
  return nullptr;
}

}  // namespace pastcone::patch
