#include "pastcone/record/patch_cache.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <string_view>

#include "pastcone/base/own_directories.h"
#include "pastcone/record/digest.h"
#include "pastcone/trace/checksum.h"

namespace pastcone::record {
namespace {

/// The identity of this executable, and so of the patcher in it: its GNU build id. 0 if it was linked without
/// one.
uint64_t build_id() {
  uint64_t id = 0;
  auto visit = [](dl_phdr_info* info, size_t, void* out) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      ByteReader notes(
          {reinterpret_cast<const uint8_t*>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz});
      while (notes.remaining() > sizeof(ElfW(Nhdr))) {
        uint32_t name_size = notes.u32(), size = notes.u32(), type = notes.u32();
        std::string_view name = as_text(notes.bytes((name_size + 3) & ~3u));
        ByteView contents = notes.bytes((size + 3) & ~3u);
        if (type == NT_GNU_BUILD_ID && name.starts_with("GNU"))
          *static_cast<uint64_t*>(out) = xxh64(contents);
      }
    }
    return 1;  // the executable comes first
  };
  dl_iterate_phdr(visit, &id);
  return id;
}

}  // namespace

Result<Path> PatchCache::default_directory() { return TRY(cache_directory()) / "patched"; }

Status PatchCache::prepare() const { return make_cache_directories(directory_); }

Path PatchCache::path_of(uint64_t name) const { return directory_ / to_hex(name); }

Result<uint64_t> PatchCache::get(const Path& file, uint64_t content_hash) const {
  ByteWriter key;
  key.u64(content_hash);
  key.u32(patch::kPatchVersion);
  static const uint64_t patcher = build_id();
  key.u64(patcher);
  key.u8((options_.traps ? 1 : 0) | (options_.hooks ? 2 : 0));
  uint64_t name = xxh64(key.view());
  Path copy = path_of(name), none = copy.native() + ".none";  // `none`: it was looked at, and needs no copy
  if (access(copy.c_str(), R_OK) == 0) return name;
  if (access(none.c_str(), F_OK) == 0) return uint64_t{0};
  patch::PatchReport report = TRY(patch::patch_file(file, copy, options_));
  if (!report.not_hooked.empty()) {
    unlink(copy.c_str());
    return fail("locks in {} cannot be ordered ({}); record without --threads=parallel", file.native(),
                report.not_hooked.front());
  }
  if (report.needed) return name;
  auto marked = open_file(none, O_WRONLY | O_CREAT, 0644);
  return uint64_t{0};  // should the mark fail, the next one looks again
}

}  // namespace pastcone::record
