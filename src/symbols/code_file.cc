#include "pastcone/symbols/code_file.h"

#include <gelf.h>

#include <algorithm>
#include <cctype>

#include "pastcone/patch/elf_image.h"
#include "pastcone/symbols/module_lookup.h"
#include "pastcone/symbols/unwind_rows.h"

namespace pastcone::symbols {
namespace {

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

/// An executable that asks for no dynamic linker.
bool brings_libraries(Dwfl_Module* module, bool executable) {
  Elf_Scn* section = nullptr;
  Dwarf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module, &bias);
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return false;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr && header.p_type == PT_INTERP)
      return false;
  }
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Dyn entry;
    for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr; ++i)
      executable |= entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0;
  }
  return executable;
}

}  // namespace

struct CodeFile::State {
  MappedFile file;
  patch::ElfImage image;
  Path original;
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  Dwfl_Module* module;
  DebugUnits units;
  bool is_static;
};

CodeFile::CodeFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CodeFile::~CodeFile() = default;
CodeFile::CodeFile(CodeFile&&) noexcept = default;
CodeFile& CodeFile::operator=(CodeFile&&) noexcept = default;

std::optional<CodeFile> CodeFile::open(const Path& file, const Path& original) {
  auto mapped = MappedFile::open(file);
  if (!mapped) return std::nullopt;
  auto image = patch::ElfImage::parse(mapped->bytes());
  if (!image || std::ranges::none_of(image->segments(), &patch::Segment::executable)) return std::nullopt;
  elf_version(EV_CURRENT);
  std::unique_ptr<Dwfl, EndDwfl> dwfl(dwfl_begin(&kFindDebugInformation));
  dwfl_report_begin(dwfl.get());
  Dwfl_Module* module = dwfl_report_elf(dwfl.get(), original.c_str(), file.c_str(), -1, 0, true);
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  if (module == nullptr) return std::nullopt;
  DebugUnits units(module);
  bool is_static = brings_libraries(module, image->is_fixed());
  return CodeFile(std::make_unique<State>(State{*std::move(mapped), *std::move(image), original,
                                                std::move(dwfl), module, std::move(units), is_static}));
}

bool CodeFile::has_source() const { return !state_->units.empty(); }

bool CodeFile::is_static() const { return state_->is_static; }

bool CodeFile::in_c_library() const {
  Location here;
  here.module = state_->original;
  return here.in_c_library();
}

std::vector<stage::UnwindRow> CodeFile::unwind_rows(const Origins* origins) const {
  auto rows = make_unwind_rows(state_->module, state_->image, state_->units);
  std::vector<stage::UnwindRow> result;
  for (const AddressRow& row : rows) {
    const patch::Segment* segment = state_->image.executable_segment(row.address);
    uint64_t offset = segment == nullptr ? UINT64_MAX : row.address - segment->vaddr + segment->offset;
    if (offset > UINT32_MAX) continue;
    result.push_back(row.row);
    result.back().begin = static_cast<uint32_t>(offset);
  }
  std::ranges::stable_sort(result, {}, &stage::UnwindRow::begin);
  if (origins != nullptr) add_trampoline_rows(*origins, result);
  return result;
}

std::vector<stage::UnwindRow> CodeFile::unwind_rows_from(uint64_t base) const {
  std::vector<stage::UnwindRow> result;
  for (const AddressRow& row : make_unwind_rows(state_->module, state_->image, state_->units)) {
    result.push_back(row.row);
    result.back().begin = static_cast<uint32_t>(row.address - base);
  }
  return result;
}

std::vector<Location> CodeFile::locate(uint64_t offset) const {
  for (const patch::Segment& segment : state_->image.segments()) {
    if (!segment.executable || offset - segment.offset >= segment.file_size) continue;
    auto found = locate_in(state_->module, state_->units, segment.vaddr + (offset - segment.offset));
    for (Location& each : found) each.linked_in = each.file.empty() && is_library(each, offset);
    return found;
  }
  return {};
}

/// Without debug information the C library is known by its names, which programs must not use, and by making
/// system calls.
bool CodeFile::is_library(const Location& location, uint64_t offset) const {
  if (!state_->is_static) return false;
  ByteView bytes = state_->image.file();
  std::string_view name = location.function;
  bool reserved = name.size() > 1 && name[0] == '_' && (name[1] == '_' || std::isupper(name[1]) != 0);
  bool makes_call = offset > 0 && offset < bytes.size() && bytes[offset - 1] == 0x0f && bytes[offset] == 0x05;
  return reserved || makes_call;
}

}  // namespace pastcone::symbols
