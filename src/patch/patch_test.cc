// Patches libraries of this machine and checks that trampolines do what the displaced instructions did.
#include "pastcone/patch/patch.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "pastcone/patch/elf_image.h"

namespace pastcone::patch {
namespace {

/// One instruction with its operands, as Zydis sees it; independent of decoder.h.
struct Full {
  ZydisDecodedInstruction info;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  uint64_t address;

  uint64_t end() const { return address + info.length; }
  uint64_t absolute(int operand) const {
    uint64_t result = 0;
    ZydisCalcAbsoluteAddress(&info, &operands[operand], address, &result);
    return result;
  }
  bool is_direct_jump() const { return (info.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0; }
  bool ends_flow() const {
    return info.meta.category == ZYDIS_CATEGORY_UNCOND_BR || info.meta.category == ZYDIS_CATEGORY_RET ||
           info.mnemonic == ZYDIS_MNEMONIC_HLT || info.mnemonic == ZYDIS_MNEMONIC_UD2;
  }
};

Full decode_full(ByteView bytes, uint64_t address) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  Full full{};
  full.address = address;
  EXPECT_TRUE(
      ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes.data(), bytes.size(), &full.info, full.operands)));
  if (full.info.length == 0) full.info.length = 1;
  return full;
}

bool same_operand(const Full& a, const Full& b, int i) {
  const ZydisDecodedOperand& x = a.operands[i];
  const ZydisDecodedOperand& y = b.operands[i];
  if (x.type != y.type || x.size != y.size) return false;
  switch (x.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
      return x.reg.value == y.reg.value;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      return x.imm.is_relative ? a.absolute(i) == b.absolute(i) : x.imm.value.u == y.imm.value.u;
    case ZYDIS_OPERAND_TYPE_MEMORY:
      if (x.mem.base != y.mem.base || x.mem.index != y.mem.index || x.mem.scale != y.mem.scale ||
          x.mem.segment != y.mem.segment) {
        return false;
      }
      return x.mem.base == ZYDIS_REGISTER_RIP ? a.absolute(i) == b.absolute(i)
                                              : x.mem.disp.value == y.mem.disp.value;
    default:
      return false;
  }
}

bool same_meaning(const Full& a, const Full& b) {
  if (a.info.mnemonic != b.info.mnemonic || a.info.operand_count_visible != b.info.operand_count_visible)
    return false;
  for (int i = 0; i < a.info.operand_count_visible; ++i) {
    // A short jump and its long form have operands of different size, but one target.
    if (a.is_direct_jump() ? a.absolute(i) != b.absolute(i) : !same_operand(a, b, i)) return false;
  }
  return true;
}

bool is_site(const Full& full) {
  switch (full.info.mnemonic) {
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_RDTSC:
    case ZYDIS_MNEMONIC_RDTSCP:
    case ZYDIS_MNEMONIC_RDRAND:
    case ZYDIS_MNEMONIC_RDSEED:
      return true;
    default:
      return false;
  }
}

/// A file before and after patching.
class Patched {
 public:
  explicit Patched(const std::string& path, PatchOptions options = {}) {
    original_ = *read_file(path);
    auto patched = patch_bytes(as_bytes(original_), options);
    EXPECT_TRUE(patched) << patched.error().message;
    if (!patched) return;
    report = std::move(patched->report);
    contents_ = std::move(patched->contents);
    if (!contents_.empty()) {
      std::memcpy(&trailer, contents_.data() + contents_.size() - sizeof trailer, sizeof trailer);
    }
  }

  void check_layout() const;
  void check_site(const Site& site) const;
  size_t count(Kind kind) const {
    return static_cast<size_t>(
        std::ranges::count_if(report.sites, [&](const Site& s) { return s.kind == kind && s.patched; }));
  }

  PatchReport report;
  PatchTrailer trailer{};

 private:
  ByteView trampoline_at(uint64_t address) const;
  uint64_t skip_entry(const Site& site, uint64_t address) const;

  std::string original_;
  Bytes contents_;
};

ByteView Patched::trampoline_at(uint64_t address) const {
  for (uint32_t i = 0; i < trailer.segment_count; ++i) {
    const PatchedSegment& segment = trailer.segments[i];
    uint64_t offset = address - segment.trampoline_vaddr;
    if (offset < segment.trampoline_size) {
      return ByteView(contents_).subspan(segment.trampoline_offset + offset,
                                         segment.trampoline_size - offset);
    }
  }
  ADD_FAILURE() << "no trampoline at " << std::hex << address;
  return {};
}

/// The way to the runtime and back, which stands for the site's instruction; returns where it ends.
uint64_t Patched::skip_entry(const Site& site, uint64_t address) const {
  uint64_t back = 0;
  for (int i = 0; i < 64; ++i) {
    Full full = decode_full(trampoline_at(address), address);
    if (full.info.mnemonic == ZYDIS_MNEMONIC_LEA && full.operands[0].reg.value == ZYDIS_REGISTER_RCX) {
      back = full.absolute(1);
    }
    address = full.end();
    if (full.info.mnemonic == ZYDIS_MNEMONIC_JMP) break;
  }
  if (site.kind == Kind::kSyscall) {
    EXPECT_EQ(back, address + 8);
    uint32_t mark;
    int32_t distance;
    std::memcpy(&mark, trampoline_at(address).data(), sizeof mark);
    std::memcpy(&distance, trampoline_at(address + 4).data(), sizeof distance);
    EXPECT_EQ(mark, kReturnMark);
    EXPECT_EQ(back + static_cast<uint64_t>(int64_t{distance}), site.address + 2);
    return back;
  }
  EXPECT_EQ(back, address);
  for (int i = 0; i < 64; ++i) {
    Full full = decode_full(trampoline_at(address), address);
    address = full.end();
    if (full.info.mnemonic == ZYDIS_MNEMONIC_POPFQ) break;
  }
  return decode_full(trampoline_at(address), address).end();
}

void Patched::check_site(const Site& site) const {
  SCOPED_TRACE(fmt::format("site {:#x}", site.address));
  uint64_t to_offset = site.offset - site.address;
  Full jump = decode_full(ByteView(contents_).subspan(site.start + to_offset), site.start);
  ASSERT_EQ(jump.info.mnemonic, ZYDIS_MNEMONIC_JMP);
  ASSERT_EQ(jump.info.length, 5);
  for (uint64_t at = jump.end(); at < site.end; ++at) ASSERT_EQ(contents_[at + to_offset], 0x90);

  uint64_t in_trampoline = jump.absolute(0);
  bool flows = true;
  bool seen = false;
  for (uint64_t address = site.start; address < site.end;) {
    Full old = decode_full(as_bytes(original_).subspan(address + to_offset), address);
    address = old.end();
    ASSERT_LE(address, site.end);
    if (!flows) {
      EXPECT_TRUE(old.info.mnemonic == ZYDIS_MNEMONIC_NOP || old.info.mnemonic == ZYDIS_MNEMONIC_INT3);
    } else if (is_site(old)) {
      EXPECT_EQ(old.address, site.address);
      seen = true;
      in_trampoline = skip_entry(site, in_trampoline);
    } else {
      Full moved = decode_full(trampoline_at(in_trampoline), in_trampoline);
      EXPECT_TRUE(same_meaning(old, moved)) << fmt::format("{:#x} and {:#x}", old.address, in_trampoline);
      in_trampoline = moved.end();
      flows = !old.ends_flow();
    }
  }
  EXPECT_TRUE(seen);
  if (!flows) return;
  Full back = decode_full(trampoline_at(in_trampoline), in_trampoline);
  EXPECT_EQ(back.info.mnemonic, ZYDIS_MNEMONIC_JMP);
  EXPECT_EQ(back.absolute(0), site.end);
}

/// Nothing but what the sites name has changed, and the trailer fits.
void Patched::check_layout() const {
  ASSERT_EQ(trailer.magic, kPatchMagic);
  ASSERT_EQ(trailer.version, kPatchVersion);
  ASSERT_EQ(trailer.original_size, original_.size());
  Bytes restored(contents_.begin(), contents_.begin() + static_cast<ptrdiff_t>(original_.size()));
  uint64_t last_end = 0;
  for (const Site& site : report.sites) {
    if (!site.patched && !site.trapped) continue;
    EXPECT_GE(site.start, last_end) << "groups overlap";
    last_end = site.end;
    uint64_t to_offset = site.offset - site.address;
    std::memcpy(restored.data() + site.start + to_offset, original_.data() + site.start + to_offset,
                site.end - site.start);
  }
  EXPECT_TRUE(as_text(restored) == original_);
  for (uint32_t i = 0; i < trailer.segment_count; ++i) {
    const PatchedSegment& segment = trailer.segments[i];
    EXPECT_EQ(segment.trampoline_offset % kPageSize, 0u);
    EXPECT_EQ(segment.trampoline_size % kPageSize, 0u);
    EXPECT_LE(segment.trap_offset + segment.trap_count * sizeof(TrapEntry),
              contents_.size() - sizeof trailer);
    EXPECT_LE(segment.origin_offset + segment.origin_count * sizeof(TrampolineOrigin),
              contents_.size() - sizeof trailer);
  }
  for (const Site& site : report.sites) {
    if (site.patched) check_site(site);
  }
}

std::string library(const char* name) { return std::string("/lib/x86_64-linux-gnu/") + name; }
bool exists(const std::string& path) { return std::filesystem::exists(path); }

TEST(Patch, Libc) {
  Patched libc(library("libc.so.6"));
  libc.check_layout();
  EXPECT_GE(libc.count(Kind::kSyscall), 484u);
  EXPECT_EQ(libc.trailer.segment_count, 1u);
  EXPECT_EQ(libc.trailer.segments[0].trampoline_vaddr, libc.trailer.segments[0].vaddr - kTrampolineDistance);
}

TEST(Patch, LibcWithTrapsLeavesNothing) {
  Patched libc(library("libc.so.6"), {.traps = true});
  libc.check_layout();
  EXPECT_EQ(libc.report.left, 0u);
  EXPECT_GE(libc.report.trapped, 1u);  // at least the signal restorer
  EXPECT_EQ(libc.trailer.segments[0].trap_count, libc.report.trapped);
  EXPECT_EQ(libc.trailer.flags, kFlagAllTrapped);
}

TEST(Patch, EveryFunctionOfTheLibraryIsHooked) {
  std::string contents = read_file("/lib/x86_64-linux-gnu/libc.so.6").value();
  auto patched = patch_bytes(as_bytes(contents), {.hooks = true}).value();
  EXPECT_EQ(patched.report.not_hooked, std::vector<std::string>());
  EXPECT_EQ(patched.report.left_out, std::vector<std::string>());
  EXPECT_GT(patched.report.hooked.size(), 40u);
  PatchTrailer trailer;
  std::memcpy(&trailer, patched.contents.data() + patched.contents.size() - sizeof trailer, sizeof trailer);
  uint64_t listed = 0;
  for (uint32_t i = 0; i < trailer.segment_count; ++i) listed += trailer.segments[i].hook_count;
  EXPECT_GE(listed, patched.report.hooked.size());  // and those that are only called
}

TEST(Patch, OnlyTheLibraryIsHooked) {
  std::string contents = read_file("/proc/self/exe").value();
  auto patched = patch_bytes(as_bytes(contents), {.hooks = true}).value();
  EXPECT_TRUE(patched.report.hooked.empty());
}

TEST(Patch, DynamicLoader) {
  Patched loader("/lib64/ld-linux-x86-64.so.2");
  loader.check_layout();
  EXPECT_GE(loader.count(Kind::kSyscall), 20u);
}

TEST(Patch, LibstdcxxRandomDevice) {
  if (!exists(library("libstdc++.so.6"))) GTEST_SKIP();
  Patched libstdcxx(library("libstdc++.so.6"));
  libstdcxx.check_layout();
  EXPECT_GE(libstdcxx.count(Kind::kRdrand), 1u);
  EXPECT_GE(libstdcxx.count(Kind::kRdseed), 1u);
}

TEST(Patch, Libcrypto) {
  if (!exists(library("libcrypto.so.3"))) GTEST_SKIP();
  Patched libcrypto(library("libcrypto.so.3"));
  libcrypto.check_layout();
  EXPECT_GE(libcrypto.count(Kind::kRdtsc), 1u);
  EXPECT_GE(libcrypto.count(Kind::kRdrand), 1u);
  EXPECT_GE(libcrypto.count(Kind::kRdseed), 1u);
}

/// Every function that is to be hooked can be: also those that only jump to another.
void expect_hooked(const std::string& path, std::initializer_list<Hook> hooks) {
  auto patched = patch_bytes(as_bytes(*read_file(path)), {.hooks = true});
  ASSERT_TRUE(patched) << patched.error().message;
  for (const std::string& function : patched->report.not_hooked) ADD_FAILURE() << function;
  for (const std::string& function : patched->report.left_out) ADD_FAILURE() << function;
  for (Hook hook : hooks) {
    EXPECT_EQ(std::ranges::count(patched->report.hooked, hook), 1) << static_cast<uint32_t>(hook);
  }
}

TEST(Patch, HooksOfLibc) {
  expect_hooked(library("libc.so.6"),
                {Hook::pthread_mutex_lock, Hook::printf, Hook::vfprintf, Hook::fgets, Hook::fclose});
}

TEST(Patch, HooksOfLibgomp) {
  if (!exists(library("libgomp.so.1"))) GTEST_SKIP();
  expect_hooked(library("libgomp.so.1"),
                {Hook::GOMP_critical_start, Hook::omp_set_lock, Hook::GOMP_loop_dynamic_next,
                 Hook::GOMP_loop_ull_guided_start, Hook::GOMP_single_start, Hook::GOMP_task});
}

TEST(Patch, DataOfLibcIsFound) {
  auto patched = patch_bytes(as_bytes(*read_file(library("libc.so.6"))), {.hooks = true});
  ASSERT_TRUE(patched) << patched.error().message;
  ByteView contents(patched->contents);
  PatchTrailer trailer;
  std::memcpy(&trailer, contents.data() + contents.size() - sizeof trailer, sizeof trailer);
  const PatchedSegment& segment = trailer.segments[0];
  void* found = nullptr;
  for (uint64_t i = 0; i < segment.hook_count; ++i) {
    HookEntry entry;
    std::memcpy(&entry, contents.data() + segment.hook_offset + i * sizeof entry, sizeof entry);
    if (entry.hook != static_cast<uint32_t>(Hook::_IO_2_1_stdout_)) continue;
    Dl_info info{};
    ASSERT_NE(dladdr(stdout, &info), 0);  // stdout itself lies in libc
    found = static_cast<char*>(info.dli_fbase) + segment.trampoline_vaddr + entry.trampoline;
  }
  EXPECT_EQ(found, stdout);
}

TEST(Patch, FileIsWrittenWhole) {
  std::string output = testing::TempDir() + "patch_test." + std::to_string(getpid());
  auto report = patch_file(PATCH_SUBJECT, output);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->needed);
  struct stat info {};
  ASSERT_EQ(stat(output.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  EXPECT_EQ(*read_file(output), as_text(patch_bytes(as_bytes(*read_file(PATCH_SUBJECT)))->contents));
  unlink(output.c_str());
}

TEST(Patch, NothingToDoWritesNothing) {
  // glibc keeps this library for old programs; it is empty.
  std::string output = testing::TempDir() + "patch_test_none." + std::to_string(getpid());
  auto report = patch_file(library("libdl.so.2"), output);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->needed);
  EXPECT_TRUE(report->sites.empty());
  EXPECT_FALSE(exists(output));
}

TEST(Patch, ErrorNamesFile) {
  auto report = patch_file("/etc/passwd", "/nonexistent/output");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "cannot patch /etc/passwd: not an ELF file");
}

}  // namespace
}  // namespace pastcone::patch
