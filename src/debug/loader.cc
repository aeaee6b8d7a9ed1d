#include "pastcone/debug/loader.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace pastcone::debug {
namespace {

constexpr size_t kMostHeaders = 64, kMostEntries = 256, kMostSymbols = 4096, kMostLibraries = 4096, kLongestName = 4096;

template <typename T>
bool get(const Loader::Read& read, uint64_t address, T& to) {
  return read(address, &to, sizeof to);
}

std::string text_at(const Loader::Read& read, uint64_t address, size_t most) {
  std::string text;
  for (char c; text.size() < most && get(read, address + text.size(), c) && c != '\0';) text += c;
  return text;
}

/// The symbols of a file that is mapped.
class Symbols {
 public:
  Symbols(uint64_t base, const Loader::Read& read) : base_(base), read_(read) { find_tables(); }

  /// 0: there is none. By the table that DT_GNU_HASH has.
  uint64_t find(std::string_view name) const {
    struct {
      uint32_t buckets, first, bloom_words, bloom_shift;
    } head;
    if (hash_ == 0 || names_ == 0 || symbols_ == 0 || !get(read_, hash_, head) || head.buckets == 0) return 0;
    uint64_t buckets = hash_ + sizeof head + head.bloom_words * sizeof(uint64_t);
    uint64_t chains = buckets + head.buckets * sizeof(uint32_t);
    uint32_t wanted = hash_of(name), index = 0, hash = 0;
    if (!get(read_, buckets + wanted % head.buckets * sizeof(uint32_t), index) || index < head.first) return 0;
    for (size_t looked = 0; looked < kMostSymbols; ++looked, ++index) {
      if (!get(read_, chains + (index - head.first) * sizeof(uint32_t), hash)) return 0;
      ElfW(Sym) symbol;
      bool same = (hash | 1) == (wanted | 1) && get(read_, symbols_ + index * sizeof symbol, symbol);
      if (same && text_at(read_, names_ + symbol.st_name, name.size() + 1) == name) return base_ + symbol.st_value;
      if ((hash & 1) != 0) return 0;  // the last of its bucket
    }
    return 0;
  }

 private:
  static uint32_t hash_of(std::string_view name) {
    uint32_t hash = 5381;
    for (char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
  }

  void find_tables() {
    ElfW(Ehdr) header;
    if (!get(read_, base_, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
    for (size_t i = 0; i < std::min<size_t>(header.e_phnum, kMostHeaders); ++i) {
      ElfW(Phdr) segment;
      if (!get(read_, base_ + header.e_phoff + i * sizeof segment, segment)) return;
      if (segment.p_type == PT_DYNAMIC) read_dynamic(base_ + segment.p_vaddr);
    }
  }

  void read_dynamic(uint64_t address) {
    ElfW(Dyn) entry;
    for (size_t i = 0; i < kMostEntries && get(read_, address + i * sizeof entry, entry); ++i) {
      // Once it runs, the loader has made addresses of them.
      uint64_t value = entry.d_un.d_ptr < base_ ? base_ + entry.d_un.d_ptr : entry.d_un.d_ptr;
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_SYMTAB) symbols_ = value;
      if (entry.d_tag == DT_STRTAB) names_ = value;
      if (entry.d_tag == DT_GNU_HASH) hash_ = value;
    }
  }

  uint64_t base_;
  const Loader::Read& read_;
  uint64_t symbols_ = 0, names_ = 0, hash_ = 0;
};

}  // namespace

std::optional<Loader> Loader::find(uint64_t base, const Read& read) {
  if (base == 0) return {};
  Symbols symbols(base, read);
  uint64_t notice = symbols.find("_dl_debug_state"), list = symbols.find("_r_debug");
  if (notice == 0 || list == 0) return {};
  return Loader(notice, list);
}

std::string Loader::libraries(const Read& read) const {
  struct r_debug debug;
  if (!get(read, list_, debug) || debug.r_state != r_debug::RT_CONSISTENT) return {};
  std::string all;
  auto next = reinterpret_cast<uint64_t>(debug.r_map);
  for (size_t i = 0; i < kMostLibraries && next != 0; ++i) {
    link_map library;
    if (!get(read, next, library)) break;
    all += fmt::format("{:x} {}\n", library.l_addr, text_at(read, reinterpret_cast<uint64_t>(library.l_name), kLongestName));
    next = reinterpret_cast<uint64_t>(library.l_next);
  }
  return all;
}

}  // namespace pastcone::debug
