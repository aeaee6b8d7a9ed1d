#include "pastcone/symbols/symbols.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <string>

#include "pastcone/symbols/module_lookup.h"
#include "pastcone/symbols/origins.h"

namespace pastcone::symbols {
namespace {

constexpr uint64_t kPage = 4096;
constexpr pid_t kThread = 1;  // there is one, and its number means nothing

/// What is to be added to the file's addresses, given where an executable part of it is mapped.
std::optional<uint64_t> find_bias(const Mapping& mapping) {
  auto fd = open_file(mapping.file, O_RDONLY);
  if (!fd) return std::nullopt;
  std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_begin(fd->get(), ELF_C_READ_MMAP, nullptr), elf_end);
  size_t count = 0;
  if (!elf || elf_getphdrnum(elf.get(), &count) != 0) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD)
      continue;
    // The mapping may be a later piece of the segment, if protections were changed.
    uint64_t begin = header.p_offset & ~(kPage - 1), end = header.p_offset + header.p_filesz;
    if ((header.p_flags & PF_X) == 0 || mapping.offset < begin || mapping.offset >= end) continue;
    return mapping.start - (header.p_vaddr + (mapping.offset - header.p_offset));
  }
  return std::nullopt;
}

}  // namespace

struct Symbols::State {
  std::map<Path, Path> originals;
  std::map<Path, Origins> origins;
  std::vector<Mapping> code;
  std::set<std::pair<Path, uint64_t>> reported;  ///< file and bias: one file may be mapped in pieces
  Dwfl* dwfl = nullptr;
  std::map<Dwfl_Module*, DebugUnits> units;

  // While unwinding.
  const ReadMemory* read = nullptr;
  Registers from;
  std::vector<uint64_t>* found = nullptr;
  size_t limit = 0;
  bool first = false;
  const std::function<bool(uint64_t)>* inside = nullptr;
  std::optional<Registers> outside;
  bool again = false;  ///< the next frame is in a trampoline: `from` has its registers

  void add(const Mapping& mapping);
  uint64_t leave_trampoline(uint64_t address) const;
  Path original(const Path& file) const;
  bool take_frame(Dwfl_Frame* frame);
};

Path Symbols::State::original(const Path& file) const {
  auto known = originals.find(file);
  return known == originals.end() ? file : known->second;
}

void Symbols::State::add(const Mapping& mapping) {
  code.push_back(mapping);
  if (!origins.contains(mapping.file)) {
    if (auto read_origins = Origins::read(mapping.file))
      origins.emplace(mapping.file, std::move(*read_origins));
  }
  auto patched = origins.find(mapping.file);
  if (patched != origins.end() && patched->second.is_trampoline(mapping.offset)) return;
  auto bias = find_bias(mapping);
  if (!bias || !reported.insert({mapping.file, *bias}).second) return;
  dwfl_report_elf(dwfl, original(mapping.file).c_str(), mapping.file.c_str(), -1, *bias, true);
}

/// Where the code in a trampoline comes from; any other address as it is.
uint64_t Symbols::State::leave_trampoline(uint64_t address) const {
  for (const Mapping& mapping : code) {
    if (address < mapping.start || address >= mapping.end) continue;
    auto patched = origins.find(mapping.file);
    if (patched == origins.end()) return address;
    auto offset = patched->second.original(mapping.offset + (address - mapping.start));
    if (!offset) return address;
    // A file may be mapped more than once; the nearest above is the trampolines' own.
    uint64_t best = address;
    for (const Mapping& text : code) {
      if (text.file != mapping.file || *offset < text.offset ||
          *offset - text.offset >= text.end - text.start)
        continue;
      uint64_t candidate = text.start + (*offset - text.offset);
      if (best == address || candidate - address < best - address) best = candidate;
    }
    return best;
  }
  return address;
}

/// All but rip.
static Registers registers_of(Dwfl_Frame* frame) {
  Registers registers;
  for (unsigned i = 0; i < Registers::kRip; ++i) {
    Dwarf_Word value = 0;
    if (dwfl_frame_reg(frame, i, &value) == 0) registers.values[i] = value;
  }
  return registers;
}

bool Symbols::State::take_frame(Dwfl_Frame* frame) {
  Dwarf_Addr pc = 0;
  bool exact = false;  // not a return address
  if (!dwfl_frame_pc(frame, &pc, &exact)) return false;
  if (inside != nullptr) {
    if ((*inside)(pc)) return true;
    outside = registers_of(frame);
    outside->values[Registers::kRip] = pc;
    return false;
  }
  if (!first && leave_trampoline(pc) != pc) {
    from = registers_of(frame);
    from.values[Registers::kRip] = leave_trampoline(pc);
    again = true;
    return false;
  }
  first = false;
  found->push_back(exact ? pc : pc - 1);
  return found->size() < limit;
}

Symbols::Symbols(const std::vector<Mapping>& mappings, const std::map<Path, Path>& originals)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.originals = originals;
  elf_version(EV_CURRENT);
  state.dwfl = dwfl_begin(&kFindDebugInformation);
  dwfl_report_begin(state.dwfl);
  for (const Mapping& mapping : mappings) {
    if (mapping.executable && !mapping.file.empty()) state.add(mapping);
  }
  dwfl_report_end(state.dwfl, nullptr, nullptr);

  static const Dwfl_Thread_Callbacks kThreadCallbacks = {
      .next_thread = [](Dwfl*, void* argument, void** thread) -> pid_t {
        if (*thread != nullptr) return 0;
        *thread = argument;
        return kThread;
      },
      .get_thread =
          [](Dwfl*, pid_t, void* argument, void** thread) {
            *thread = argument;
            return true;
          },
      .memory_read =
          [](Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
            uint64_t value = 0;
            bool read = (*static_cast<State*>(argument)->read)(address, value);
            *word = value;
            return read;
          },
      .set_initial_registers =
          [](Dwfl_Thread* thread, void* argument) {
            const Registers& from = static_cast<State*>(argument)->from;
            return dwfl_thread_state_registers(thread, 0, Registers::kCount, from.values);
          },
      .detach = nullptr,
      .thread_detach = nullptr,
  };
  dwfl_attach_state(state.dwfl, nullptr, kThread, &kThreadCallbacks, &state);
}

Symbols::~Symbols() { dwfl_end(state_->dwfl); }

std::vector<Location> Symbols::locate_all(uint64_t address) const {
  address = state_->leave_trampoline(address);
  Dwfl_Module* module = dwfl_addrmodule(state_->dwfl, address);
  if (module == nullptr) return {};
  return locate_in(module, state_->units.try_emplace(module, module).first->second, address);
}

std::optional<FunctionBlocks> Symbols::blocks(uint64_t address) const {
  Dwfl_Module* module = dwfl_addrmodule(state_->dwfl, address);
  if (module == nullptr) return {};
  return state_->units.try_emplace(module, module).first->second.blocks(address);
}

Location Symbols::locate(uint64_t address) const {
  std::vector<Location> all = locate_all(address);
  return all.empty() ? Location() : all.front();
}

std::optional<Registers> Symbols::leave(const Registers& registers, const ReadMemory& read,
                                        const std::function<bool(uint64_t)>& inside) const {
  State& state = *state_;
  state.read = &read;
  state.from = registers;
  state.inside = &inside;
  state.outside.reset();
  dwfl_getthread_frames(
      state.dwfl, kThread,
      [](Dwfl_Frame* frame, void* argument) -> int {
        return static_cast<State*>(argument)->take_frame(frame) ? DWARF_CB_OK : DWARF_CB_ABORT;
      },
      &state);
  state.inside = nullptr;
  return state.outside;
}

std::vector<uint64_t> Symbols::unwind(const Registers& registers, const ReadMemory& read,
                                      size_t limit) const {
  State& state = *state_;
  std::vector<uint64_t> found;
  state.read = &read;
  state.found = &found;
  state.limit = limit;
  state.from = registers;
  uint64_t& pc = state.from.values[Registers::kRip];
  pc = state.leave_trampoline(pc);
  do {
    state.again = false;
    state.first = true;
    size_t before = found.size();
    dwfl_getthread_frames(
        state.dwfl, kThread,
        [](Dwfl_Frame* frame, void* argument) -> int {
          return static_cast<State*>(argument)->take_frame(frame) ? DWARF_CB_OK : DWARF_CB_ABORT;
        },
        &state);
    if (found.size() == before && before < limit) {  // no tables there at all
      found.push_back(pc);
      break;
    }
  } while (state.again && found.size() < limit);
  return found;
}

}  // namespace pastcone::symbols
