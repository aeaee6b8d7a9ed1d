#include "traps.h"

#include "thread.h"

namespace pastcone::runtime {

extern "C" void runtime_instruction(patch::SavedRegisters* registers, u32 descriptor, u64 resume);

namespace {

struct Table {
  u64 begin, end;  ///< of the segment in memory
  const patch::TrapEntry* entries;
  u64 count;
};
Table tables[256];
u32 table_count;

const patch::TrapEntry* find(u64 address) {
  for (u32 i = table_count; i-- > 0;) {
    const Table& table = tables[i];
    if (address < table.begin || address >= table.end) continue;
    u64 low = 0, high = table.count;
    u32 offset = (u32)(address - table.begin);
    while (low < high) {
      u64 middle = (low + high) / 2;
      if (table.entries[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    return low < table.count && table.entries[low].offset == offset ? &table.entries[low] : nullptr;
  }
  return nullptr;
}

/// Executes rdtsc and the like on the registers of the interrupted thread.
void execute(KernelContext& k, patch::Descriptor descriptor) {
  patch::SavedRegisters r{{k.rax, k.rcx, k.rdx, k.rbx, k.rsp, k.rbp, k.rsi, k.rdi, k.r8, k.r9, k.r10, k.r11, k.r12, k.r13,
                           k.r14, k.r15},
                          k.flags};
  runtime_instruction(&r, descriptor, 0);
  u64* to[16] = {&k.rax, &k.rcx, &k.rdx, &k.rbx, nullptr, &k.rbp, &k.rsi, &k.rdi,
                 &k.r8,  &k.r9,  &k.r10, &k.r11, &k.r12,  &k.r13, &k.r14, &k.r15};
  for (int i = 0; i < 16; ++i)
    if (to[i]) *to[i] = r.general[i];
  k.flags = r.flags;
}

}  // namespace

void add_traps(u64 address, const patch::PatchedSegment& segment, int fd) {
  if (!segment.trap_count || table_count == 256) return;
  u64 begin = page_down(segment.trap_offset), size = segment.trap_count * sizeof(patch::TrapEntry);
  u64 shift = segment.trap_offset - begin;
  auto* mapped = (char*)far_map(size + shift, kProtRead, kMapPrivate, fd, begin);
  if (!mapped) return;
  tables[table_count++] = {address, address + segment.size, (const patch::TrapEntry*)(mapped + shift), segment.trap_count};
}

bool on_trap(KernelContext& context) {
  u64 site = context.rip - 1;
  const patch::TrapEntry* entry = find(site);
  if (!entry) return false;
  u64 next = site + patch::descriptor_length(entry->descriptor);
  if (patch::descriptor_kind(entry->descriptor) == patch::Kind::kSyscall) {
    context.rcx = next;
    context.r11 = context.flags;
    context.rip = (u64)runtime_entry_syscall;
  } else {
    context.rip = next;
    execute(context, entry->descriptor);
  }
  return true;
}

}  // namespace pastcone::runtime
