#include "pastcone/patch/elf_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "pastcone/patch/abi.h"

namespace pastcone::patch {
namespace {

// Far above any program, and low enough that sums of a few addresses and sizes do not overflow.
constexpr uint64_t kAddressLimit = uint64_t{1} << 47;

/// A structure at the start of `bytes`, which must be large enough; the file need not be aligned.
template <typename T>
T read_struct(ByteView bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Calls `visit` with each whole T of a table.
template <typename T, typename Visit>
void for_each_entry(ByteView table, Visit visit) {
  for (; table.size() >= sizeof(T); table = table.subspan(sizeof(T))) visit(read_struct<T>(table));
}

/// The zero-terminated string at `offset` of a string table; empty if there is none.
std::string_view name_at(ByteView names, uint64_t offset) {
  if (offset >= names.size()) return {};
  std::string_view rest = as_text(names.subspan(offset));
  size_t length = rest.find('\0');
  return length == std::string_view::npos ? std::string_view{} : rest.substr(0, length);
}

}  // namespace

Result<ElfImage> ElfImage::parse(ByteView file) {
  ElfImage image(file);
  TRY_STATUS(image.read_segments());
  image.read_sections();
  return image;
}

std::optional<ByteView> ElfImage::slice(uint64_t offset, uint64_t size) const {
  if (offset > file_.size() || size > file_.size() - offset) return std::nullopt;
  return file_.subspan(offset, size);
}

Status ElfImage::read_segments() {
  if (file_.size() < sizeof(Elf64_Ehdr) || std::memcmp(file_.data(), ELFMAG, SELFMAG) != 0) {
    return fail("not an ELF file");
  }
  auto header = read_struct<Elf64_Ehdr>(file_);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    return fail("not for x86-64");
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return fail("neither a program nor a shared library");
  fixed_ = header.e_type == ET_EXEC;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return fail("its program headers have an unknown size");
  auto table = slice(header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
  if (!table) return fail("its program headers lie outside the file");

  bool sound = true;
  for_each_entry<Elf64_Phdr>(*table, [&](const Elf64_Phdr& p) {
    if (p.p_type == PT_DYNAMIC) dynamic_ = p.p_vaddr;
    if (p.p_type == PT_GNU_EH_FRAME) eh_frame_header_ = p.p_vaddr;
    if (p.p_type != PT_LOAD || p.p_memsz == 0) return;
    sound = sound && slice(p.p_offset, p.p_filesz) && p.p_filesz <= p.p_memsz && p.p_vaddr < kAddressLimit &&
            p.p_memsz < kAddressLimit - p.p_vaddr && (p.p_vaddr - p.p_offset) % kPageSize == 0;
    segments_.push_back({p.p_vaddr, p.p_offset, p.p_filesz, p.p_memsz, (p.p_flags & PF_X) != 0});
  });
  if (!sound) return fail("a segment lies outside the file, or is misaligned");
  std::ranges::sort(segments_, {}, &Segment::vaddr);
  for (size_t i = 1; i < segments_.size(); ++i) {
    if (segments_[i - 1].vaddr + segments_[i - 1].memory_size > segments_[i].vaddr) {
      return fail("its segments overlap");
    }
  }
  if (std::ranges::count_if(segments_, &Segment::executable) > kMaxSegments) {
    return fail("it has more than {} executable segments", kMaxSegments);
  }
  return {};
}

void ElfImage::read_sections() {
  auto header = read_struct<Elf64_Ehdr>(file_);
  auto table = slice(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  if (!table || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::vector<Elf64_Shdr> sections;
  for_each_entry<Elf64_Shdr>(*table, [&](const Elf64_Shdr& section) { sections.push_back(section); });

  auto contents = [&](uint32_t index) {
    if (index >= sections.size() || sections[index].sh_type == SHT_NOBITS) return ByteView{};
    return slice(sections[index].sh_offset, sections[index].sh_size).value_or(ByteView{});
  };
  ByteView section_names = contents(header.e_shstrndx);
  ByteView versions;
  for (uint32_t i = 0; i < sections.size(); ++i) {
    if (sections[i].sh_type == SHT_GNU_versym) versions = contents(i);
  }
  for (uint32_t i = 0; i < sections.size(); ++i) {
    const Elf64_Shdr& section = sections[i];
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
      read_symbols(contents(i), contents(section.sh_link), versions, section.sh_type == SHT_DYNSYM);
    } else if (name_at(section_names, section.sh_name) == ".eh_frame" && section.sh_type != SHT_NOBITS) {
      eh_frame_section_ = section.sh_addr;
    }
  }
}

void ElfImage::read_symbols(ByteView table, ByteView names, ByteView versions, bool exported) {
  constexpr uint16_t kHiddenVersion = 0x8000;
  size_t index = 0;
  for_each_entry<Elf64_Sym>(table, [&](const Elf64_Sym& s) {
    size_t at = sizeof(uint16_t) * index++;
    bool older = at + sizeof(uint16_t) <= versions.size() &&
                 (read_struct<uint16_t>(versions.subspan(at)) & kHiddenVersion) != 0;
    auto type = ELF64_ST_TYPE(s.st_info);
    bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if (s.st_shndx == SHN_UNDEF || s.st_shndx == SHN_ABS) return;
    bool visible = exported && !older && ELF64_ST_BIND(s.st_info) != STB_LOCAL;
    Symbol symbol{name_at(names, s.st_name), s.st_value, s.st_size, is_function, visible};
    if (is_function || type == STT_NOTYPE)
      symbols_.push_back(symbol);
    else if (type == STT_OBJECT && visible)
      data_.push_back(symbol);
  });
}

const Segment* ElfImage::executable_segment(uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (segment.executable && segment.holds(address)) return &segment;
  }
  return nullptr;
}

ByteView ElfImage::from(uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (segment.holds(address)) return bytes(segment).subspan(address - segment.vaddr);
  }
  return {};
}

std::vector<uint64_t> ElfImage::relocation_addends() const {
  struct Table {
    uint64_t address = 0, size = 0;
  } rela, jmprel;
  bool ended = false;
  for_each_entry<Elf64_Dyn>(dynamic_ != 0 ? from(dynamic_) : ByteView{}, [&](const Elf64_Dyn& entry) {
    ended = ended || entry.d_tag == DT_NULL;
    if (ended) return;
    if (entry.d_tag == DT_RELA) rela.address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_RELASZ) rela.size = entry.d_un.d_val;
    if (entry.d_tag == DT_JMPREL) jmprel.address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_PLTRELSZ) jmprel.size = entry.d_un.d_val;
  });
  std::vector<uint64_t> addends;
  for (const Table& table : {rela, jmprel}) {
    ByteView bytes = from(table.address);
    for_each_entry<Elf64_Rela>(
        bytes.first(std::min<uint64_t>(bytes.size(), table.size)),
        [&](const Elf64_Rela& r) { addends.push_back(static_cast<uint64_t>(r.r_addend)); });
  }
  return addends;
}

}  // namespace pastcone::patch
