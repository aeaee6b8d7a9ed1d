#include "loader.h"

#include <elf.h>

#include "maps.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

int protection(u32 flags) {
  return (flags & PF_R ? kProtRead : 0) | (flags & PF_W ? kProtWrite : 0) | (flags & PF_X ? kProtExec : 0);
}

}  // namespace

const char* refuse_reason(const void* first_bytes, long n) {
  auto& header = *(const Elf64_Ehdr*)first_bytes;
  if (n < (long)sizeof(Elf64_Ehdr) || memcmp(header.e_ident, ELFMAG, SELFMAG)) return "not an ELF file";
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "it is a 32-bit program; build it for x86-64";
  if (header.e_machine != EM_X86_64) return "it is for another processor; build it for x86-64";
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) return "it is not an executable";
  return nullptr;
}

long load_image(int fd, u32 file, u64 fixed_base, u64 preferred, Image& image) {
  Elf64_Ehdr header{};
  if (sys(__NR_pread64, fd, &header, sizeof header, 0) != sizeof header || refuse_reason(&header, sizeof header))
    return -ENOEXEC;
  Elf64_Phdr segments[64];
  if (header.e_phnum > 64 || header.e_phentsize != sizeof(Elf64_Phdr)) return -ENOEXEC;
  long size = header.e_phnum * (long)sizeof(Elf64_Phdr);
  if (sys(__NR_pread64, fd, segments, size, header.e_phoff) != size) return -ENOEXEC;

  u64 low = ~u64{0}, high = 0;
  for (u32 i = 0; i < header.e_phnum; ++i) {
    const auto& s = segments[i];
    if (s.p_type == PT_INTERP) {
      u64 n = min<u64>(s.p_filesz, sizeof image.interpreter - 1);
      if (sys(__NR_pread64, fd, image.interpreter, n, s.p_offset) != (long)n) return -ENOEXEC;
      image.interpreter[n] = 0;
    }
    if (s.p_type == PT_GNU_STACK) image.executable_stack = s.p_flags & PF_X;
    if (s.p_type != PT_LOAD) continue;
    low = min(low, page_down(s.p_vaddr));
    high = max(high, page_up(s.p_vaddr + s.p_memsz));
  }
  if (high <= low) return -ENOEXEC;

  image.relocatable = header.e_type == ET_DYN;
  image.base = 0;
  if (image.relocatable) {
    // Reserve the whole range first: its parts then lie at fixed places in it.
    u64 at = fixed_base ? fixed_base + low : preferred;
    long reserved = sys(__NR_mmap, at, high - low, 0, kMapPrivate | kMapAnonymous | (at ? kMapFixedNoReplace : 0), -1, 0);
    if (is_error(reserved)) return reserved;
    if (at && reserved != (long)at) return -EEXIST;
    image.base = (u64)reserved - low;
  }
  for (u32 i = 0; i < header.e_phnum; ++i) {
    const auto& s = segments[i];
    if (s.p_type != PT_LOAD) continue;
    u64 begin = image.base + page_down(s.p_vaddr);
    u64 shift = s.p_vaddr - page_down(s.p_vaddr);
    u64 file_end = image.base + s.p_vaddr + s.p_filesz, memory_end = image.base + s.p_vaddr + s.p_memsz;
    int prot = protection(s.p_flags);
    if (prot & kProtWrite) {
      if (!image.data_begin) image.data_begin = begin;
      image.data_end = page_up(memory_end);
    }
    if (s.p_filesz) {
      long at = map_file(begin, s.p_filesz + shift, prot, kMapPrivate | kMapFixed, fd, s.p_offset - shift, file,
                         image.patched);
      if (at != (long)begin) return is_error(at) ? at : -ENOMEM;
    }
    if (memory_end > file_end) {
      u64 zero_from = s.p_filesz ? page_up(file_end) : begin;
      // To the end of the page, as the kernel does: ld.so allocates from what is behind its data.
      if (s.p_filesz && (prot & kProtWrite)) memset((void*)file_end, 0, zero_from - file_end);
      if (page_up(memory_end) > zero_from) {
        long at = sys(__NR_mmap, zero_from, page_up(memory_end) - zero_from, prot,
                      kMapPrivate | kMapAnonymous | kMapFixed, -1, 0);
        if (is_error(at)) return at;
      }
    }
    if (header.e_phoff >= s.p_offset && header.e_phoff < s.p_offset + s.p_filesz)
      image.headers = image.base + s.p_vaddr + (header.e_phoff - s.p_offset);
  }
  image.entry = image.base + header.e_entry;
  image.header_count = header.e_phnum;
  image.end = image.base + high;
  return 0;
}

}  // namespace pastcone::runtime
