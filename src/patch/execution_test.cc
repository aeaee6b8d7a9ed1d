// Patches a small library, loads it by hand as the runtime would, and runs it with a stand-in for that.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/patch.h"

namespace pastcone::patch {
namespace {

constexpr uint64_t kTicks = 0x0123456789abcdef;
constexpr uint64_t kAux = 0x5a5;
constexpr uint64_t kRandom = 0xfedcba9876543210;
constexpr uint64_t kCarry = 1;

/// What the runtime would do, with constants for results.
void emulate(SavedRegisters& registers, Descriptor descriptor) {
  uint64_t* general = registers.general;
  switch (descriptor_kind(descriptor)) {
    case Kind::kSyscall:
      break;
    case Kind::kRdtscp:
      general[1] = kAux;
      [[fallthrough]];
    case Kind::kRdtsc:
      general[0] = kTicks & 0xffffffff;
      general[2] = kTicks >> 32;
      break;
    case Kind::kRdrand:
    case Kind::kRdseed:
      set_destination(registers, descriptor, kRandom);
      registers.flags = (registers.flags & ~uint64_t{0x8d5}) | kCarry;  // clears OF, SF, ZF, AF, PF
      break;
  }
}

}  // namespace

extern "C" {
uint64_t test_syscall_count = 0;
uint64_t test_instruction_count = 0;
void test_syscall_entry();
void test_instruction_entry();
void test_emulate(SavedRegisters* registers, Descriptor descriptor) {
  ++test_instruction_count;
  emulate(*registers, descriptor);
}
}

asm(R"(
        .text
test_syscall_entry:
        lea -128(%rsp), %rsp
        pushfq
        push %rcx
        incq test_syscall_count(%rip)
        syscall
        pop %rcx
        popfq
        lea 128(%rsp), %rsp
        jmp *%rcx
test_instruction_entry:
        mov %rsp, %rbx
        mov %rcx, %r12
        mov %edi, %esi
        mov %rsp, %rdi
        and $-16, %rsp
        cld
        call test_emulate
        mov %rbx, %rsp
        jmp *%r12
)");

namespace {

/// Puts jumps to the two entries above where the runtime's would be. Stays for the life of the process.
void install_entries() {
  auto* page = static_cast<uint8_t*>(mmap(reinterpret_cast<void*>(kSyscallEntry), kPageSize,
                                          PROT_READ | PROT_WRITE | PROT_EXEC,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  if (page == MAP_FAILED) {
    ASSERT_EQ(errno, EEXIST);
    return;
  }
  auto write_entry = [](uint8_t* at, void (*entry)()) {
    const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
    std::memcpy(at, jump, sizeof jump);
    std::memcpy(at + sizeof jump, &entry, sizeof entry);
  };
  write_entry(page, test_syscall_entry);
  write_entry(page + (kInstructionEntry - kSyscallEntry), test_instruction_entry);
}

/// The traps of the library that is loaded now, by address.
std::map<uint64_t, Descriptor> traps;
uint64_t trap_count = 0;

void on_trap(int, siginfo_t*, void* raw_context) {
  auto& registers = static_cast<ucontext_t*>(raw_context)->uc_mcontext.gregs;
  uint64_t address = static_cast<uint64_t>(registers[REG_RIP]) - 1;
  Descriptor descriptor = traps.at(address);
  ++trap_count;
  if (descriptor_kind(descriptor) == Kind::kSyscall) {
    registers[REG_RAX] = syscall(registers[REG_RAX]);
  } else {
    constexpr int kOrder[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    SavedRegisters saved{};
    for (int i = 0; i < 16; ++i) saved.general[i] = static_cast<uint64_t>(registers[kOrder[i]]);
    saved.flags = static_cast<uint64_t>(registers[REG_EFL]);
    emulate(saved, descriptor);
    for (int i = 0; i < 16; ++i) registers[kOrder[i]] = static_cast<greg_t>(saved.general[i]);
    registers[REG_EFL] = static_cast<greg_t>(saved.flags);
  }
  registers[REG_RIP] = static_cast<greg_t>(address + descriptor_length(descriptor));
}

using Registers = std::array<uint64_t, 19>;

struct Variant {
  const char* name;
  const char* subject;
  bool is_fixed;
  bool traps;
};

class Execution : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "patched_subject." + std::to_string(getpid());
    auto report = patch_file(GetParam().subject, path_, {.traps = GetParam().traps});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->needed);
    report_ = *report;
    install_entries();
    load();
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, nullptr);
    test_syscall_count = test_instruction_count = trap_count = 0;
  }

  void TearDown() override {
    signal(SIGTRAP, SIG_DFL);
    for (auto [address, size] : placed_) munmap(address, size);
    if (reserved_ != nullptr) munmap(reserved_, kReserved);
    unlink(path_.c_str());
  }

  Symbol symbol(std::string_view name) const {
    auto found = std::ranges::find(image_->symbols(), name, &Symbol::name);
    EXPECT_NE(found, image_->symbols().end()) << name;
    return found == image_->symbols().end() ? Symbol{} : *found;
  }

  /// The first site of a function.
  const Site* site_in(std::string_view name) const {
    Symbol function = symbol(name);
    auto found = std::ranges::find_if(
        report_.sites, [&](const Site& site) { return site.address - function.address < function.size; });
    return found == report_.sites.end() ? nullptr : &*found;
  }

  template <typename... Arguments>
  uint64_t call(std::string_view name, Arguments... arguments) const {
    return reinterpret_cast<uint64_t (*)(Arguments...)>(base_ + symbol(name).address)(arguments...);
  }

  /// Runs a probe; checks that flags, red zone and all registers but those in `changed` are what they were.
  Registers probe(std::string_view name, std::initializer_list<int> changed) {
    Registers input{}, output{};
    for (uint64_t i = 0; i < 16; ++i) input[i] = 0xa1a2a3a4a5a60000 + i;
    input[0] = SYS_getpid;
    input[16] = kFlags;
    call(name, input.data(), output.data());
    for (int i = 0; i < 16; ++i) {
      bool may_change = i == 4 || std::ranges::find(changed, i) != changed.end();
      EXPECT_TRUE(may_change || output[i] == input[i]) << name << ", register " << i;
    }
    EXPECT_EQ(output[17], 0x1111u) << name;
    EXPECT_EQ(output[18], 0x2222u) << name;
    return output;
  }

  static constexpr uint64_t kReserved = kTrampolineDistance + (16 << 20);
  static constexpr uint64_t kFlags = 0xed7;  // CF, PF, AF, ZF, SF, IF, DF, OF

  std::string path_;
  PatchReport report_;

 private:
  void load() {
    contents_ = *read_file(path_);
    auto image = ElfImage::parse(as_bytes(contents_));
    ASSERT_TRUE(image) << image.error().message;
    image_ = *image;
    ASSERT_EQ(image_->is_fixed(), GetParam().is_fixed);
    if (!GetParam().is_fixed) {
      reserved_ = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      ASSERT_NE(reserved_, MAP_FAILED);
      base_ = reinterpret_cast<uint64_t>(reserved_) + kTrampolineDistance;
    }
    PatchTrailer trailer;
    std::memcpy(&trailer, contents_.data() + contents_.size() - sizeof trailer, sizeof trailer);
    ASSERT_EQ(trailer.magic, kPatchMagic);
    ASSERT_EQ(trailer.segment_count, 1u);
    for (const Segment& segment : image_->segments()) {
      place(base_ + segment.vaddr, segment.offset, segment.file_size,
            segment.executable ? PROT_READ | PROT_EXEC : PROT_READ);
    }
    const PatchedSegment& patched = trailer.segments[0];
    place(base_ + patched.trampoline_vaddr, patched.trampoline_offset, patched.trampoline_size,
          PROT_READ | PROT_EXEC);
    traps.clear();
    for (uint64_t i = 0; i < patched.trap_count; ++i) {
      TrapEntry entry;
      std::memcpy(&entry, contents_.data() + patched.trap_offset + i * sizeof entry, sizeof entry);
      traps[base_ + patched.vaddr + entry.offset] = entry.descriptor;
    }
  }

  void place(uint64_t address, uint64_t offset, uint64_t size, int protection) {
    UniqueFd fd = *open_file(path_, O_RDONLY);
    uint64_t skip = address % kPageSize;
    int fixed = GetParam().is_fixed ? MAP_FIXED_NOREPLACE : MAP_FIXED;
    void* placed = mmap(reinterpret_cast<void*>(address - skip), size + skip, protection, MAP_PRIVATE | fixed,
                        fd.get(), static_cast<off_t>(offset - skip));
    ASSERT_NE(placed, MAP_FAILED) << errno_message(errno);
    placed_.emplace_back(placed, size + skip);
  }

  std::string contents_;
  std::optional<ElfImage> image_;
  void* reserved_ = nullptr;
  std::vector<std::pair<void*, size_t>> placed_;
  uint64_t base_ = 0;
};

TEST_P(Execution, SystemCallsReachTheEntry) {
  auto pid = static_cast<uint64_t>(getpid());
  EXPECT_EQ(call("getpid_short"), pid);
  EXPECT_EQ(call("call_checked", uint64_t{SYS_getpid}), pid);
  EXPECT_EQ(call("call_checked", uint64_t{100000}), ~uint64_t{0});
  EXPECT_EQ(call("getpid_plus_number"), pid + 1000000);
  EXPECT_EQ(call("getpid_entered_behind", uint64_t{0}), pid);
  EXPECT_EQ(call("getpid_unless_zero", uint64_t{1}), pid);
  EXPECT_EQ(call("getpid_unless_zero", uint64_t{0}), 0u);
  EXPECT_EQ(call("getpid_then_jump"), pid + 1);
  EXPECT_EQ(test_syscall_count, 8u);
  EXPECT_EQ(call("getpid_entered_behind", uint64_t{77}), 77u);
  EXPECT_EQ(test_syscall_count, 8u);
}

TEST_P(Execution, HiddenWaysIntoAFunctionAreSeen) {
  auto pid = static_cast<uint64_t>(getpid());
  EXPECT_EQ(call("getpid_before_case", uint64_t{0}), pid);
  EXPECT_NE(call("getpid_before_case", uint64_t{1}), pid);
  EXPECT_EQ(call("getpid_before_address"), pid);
  EXPECT_EQ(call("getpid_before_landing_pad"), pid);
  EXPECT_EQ(test_syscall_count, 3u);
  for (const char* name : {"getpid_before_case", "getpid_before_address", "getpid_before_landing_pad"}) {
    const Site* site = site_in(name);
    ASSERT_NE(site, nullptr) << name;
    EXPECT_LT(site->start, site->address) << name;
    EXPECT_EQ(site->end, site->address + 2) << name;
  }
}

TEST_P(Execution, SystemCallKeepsRegisters) {
  Registers output = probe("probe_syscall", {0, 1, 11});
  EXPECT_EQ(output[0], static_cast<uint64_t>(getpid()));
  EXPECT_EQ(output[16], kFlags);
  EXPECT_EQ(test_syscall_count, 1u);
}

TEST_P(Execution, TimeStampIsWhatTheEntrySays) {
  EXPECT_EQ(probe("probe_nothing", {})[16], kFlags);
  for (const char* name : {"probe_rdtsc", "probe_rdtscp"}) {
    bool with_aux = std::string(name) == "probe_rdtscp";
    Registers output = with_aux ? probe(name, {0, 1, 2}) : probe(name, {0, 2});
    EXPECT_EQ(output[0], kTicks & 0xffffffff) << name;
    EXPECT_EQ(output[2], kTicks >> 32) << name;
    EXPECT_TRUE(!with_aux || output[1] == kAux);
    EXPECT_EQ(output[16], kFlags) << name;
  }
  EXPECT_EQ(test_instruction_count, 2u);
}

TEST_P(Execution, RandomNumbersOfAllSizes) {
  constexpr uint64_t kFlagsAfter = 0x603;  // of kFlags: CF, IF, DF
  EXPECT_EQ(probe("probe_rdrand16", {2})[2], 0xa1a2a3a4a5a63210u);
  EXPECT_EQ(probe("probe_rdrand32", {3})[3], 0x76543210u);
  EXPECT_EQ(probe("probe_rdrand64", {13})[13], kRandom);
  EXPECT_EQ(probe("probe_rdseed32", {8})[8], 0x76543210u);
  Registers output = probe("probe_rdseed64", {7});
  EXPECT_EQ(output[7], kRandom);
  EXPECT_EQ(output[16], kFlagsAfter);
  EXPECT_EQ(test_instruction_count, 5u);
}

TEST_P(Execution, WhatHasNoRoomTraps) {
  EXPECT_EQ(call("rdtsc_surrounded", uint64_t{1}), kTicks);
  EXPECT_EQ(trap_count, 1u);
  EXPECT_EQ(probe("probe_rdseed_trapped", {5})[5], 0xa1a2a3a4a5a63210u);
  EXPECT_EQ(trap_count, 2u);
  EXPECT_EQ(call("getpid_surrounded", uint64_t{1}), static_cast<uint64_t>(getpid()));
  EXPECT_EQ(trap_count, GetParam().traps ? 3u : 2u);
  EXPECT_EQ(test_syscall_count + test_instruction_count, 0u);
}

TEST_P(Execution, ReportSaysWhy) {
  bool traps_wanted = GetParam().traps;
  EXPECT_EQ(report_.patched, 17u);
  EXPECT_EQ(report_.trapped, traps_wanted ? 5u : 2u);
  EXPECT_EQ(report_.left, traps_wanted ? 0u : 3u);
  std::map<std::string, int> reasons;
  for (const Site& site : report_.sites) ++reasons[site.reason];
  EXPECT_EQ(reasons["returns from a signal"], 1);
  EXPECT_EQ(reasons["makes a process or thread"], 1);
  EXPECT_EQ(reasons["no room: a jump target is near"], 3);
}

constexpr Variant kVariants[] = {
    {"Library", PATCH_SUBJECT, false, false},
    {"LibraryWithTraps", PATCH_SUBJECT, false, true},
    {"FixedProgram", PATCH_SUBJECT_FIXED, true, false},
    {"FixedProgramWithTraps", PATCH_SUBJECT_FIXED, true, true},
};
INSTANTIATE_TEST_SUITE_P(Of, Execution, testing::ValuesIn(kVariants),
                         [](const auto& variant) { return variant.param.name; });

}  // namespace
}  // namespace pastcone::patch
