// A real process (symbols_subject.c) is stopped in a call, and looked at from outside.
#include "pastcone/symbols/symbols.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "pastcone/patch/patch.h"
#include "pastcone/symbols/origins.h"

namespace pastcone::symbols {
namespace {

TEST(Mappings, AreParsed) {
  auto mappings = parse_mappings(
      "555555554000-555555555000 r--p 00001000 fe:00 123   /tmp/a name (deleted)\n"
      "nonsense\n"
      "7ffff7fc0000-7ffff7fc2000 rwxs 00000000 00:00 0\n"
      "7ffff7fc2000-7ffff7fc4000 r-xp 00000000 00:00 0                          [vdso]");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].start, 0x555555554000u);
  EXPECT_EQ(mappings[0].offset, 0x1000u);
  EXPECT_EQ(mappings[0].file, "/tmp/a name (deleted)");
  EXPECT_FALSE(mappings[0].executable);
  EXPECT_TRUE(mappings[1].writable && mappings[1].executable && mappings[1].shared);
  EXPECT_TRUE(mappings[1].file.empty());
  EXPECT_TRUE(mappings[2].file.empty() && mappings[2].of_kernel);
}

TEST(LocationText, SaysWhatIsKnown) {
  Location location{"handle", "/src/server.c", 80, "/bin/server"};
  EXPECT_EQ(to_string(location), "at server.c:80 in handle");
  location.file.clear();
  EXPECT_EQ(to_string(location), "in handle of server");
  EXPECT_EQ(to_string(Location{}), "");
  EXPECT_TRUE((Location{"read", "", 0, "/lib/x86_64-linux-gnu/libc.so.6"}.in_c_library()));
  EXPECT_FALSE((Location{"read", "", 0, "/lib/libcrypto.so.3"}.in_c_library()));
}

class Subject {
 public:
  Subject() {
    pid_ = fork();
    if (pid_ == 0) {
      execl(SYMBOLS_SUBJECT, SYMBOLS_SUBJECT, nullptr);
      _exit(127);
    }
    // In poll, which is 7 for the kernel.
    for (int i = 0; i < 5000 && !read_file(path("syscall")).value_or("").starts_with("7 "); ++i) usleep(1000);
    ptrace(PTRACE_SEIZE, pid_, nullptr, nullptr);
    ptrace(PTRACE_INTERRUPT, pid_, nullptr, nullptr);
    waitpid(pid_, nullptr, 0);
    memory_ = open_file(path("mem"), O_RDONLY).value();
  }
  ~Subject() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  std::string path(const char* name) const { return fmt::format("/proc/{}/{}", pid_, name); }
  std::vector<Mapping> mappings() const { return parse_mappings(read_file(path("maps")).value()); }
  ReadMemory memory() const {
    return [this](uint64_t address, uint64_t& word) {
      return pread(memory_.get(), &word, sizeof word, static_cast<off_t>(address)) == sizeof word;
    };
  }
  Registers registers() const {
    user_regs_struct r{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &r);
    return {{r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
             r.r14, r.r15, r.rip}};
  }

 private:
  pid_t pid_;
  UniqueFd memory_;
};

std::vector<std::string> texts(const Symbols& symbols, const std::vector<uint64_t>& calls) {
  std::vector<std::string> result;
  for (uint64_t address : calls) result.push_back(to_string(symbols.locate(address)));
  return result;
}

bool holds(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::find(texts, text) != texts.end();
}

TEST(Symbols, UnwindsThroughLibcToTheSource) {
  Subject subject;
  Symbols symbols(subject.mappings());
  auto found = texts(symbols, symbols.unwind(subject.registers(), subject.memory()));
  EXPECT_TRUE(holds(found, "at symbols_subject.c:6 in inner")) << fmt::format("{}", fmt::join(found, "; "));
  EXPECT_TRUE(holds(found, "at symbols_subject.c:11 in outer"));
  EXPECT_TRUE(holds(found, "at symbols_subject.c:19 in main"));
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found[0].find("poll") != std::string::npos) << found[0];
}

TEST(Symbols, KnowsTheBlocksOfAFunction) {
  Subject subject;
  Symbols symbols(subject.mappings());
  std::vector<uint64_t> calls = symbols.unwind(subject.registers(), subject.memory());
  auto in_outer =
      std::ranges::find_if(calls, [&](uint64_t at) { return symbols.locate(at).function == "outer"; });
  ASSERT_NE(in_outer, calls.end());
  auto function = symbols.blocks(*in_outer);
  ASSERT_TRUE(function && function->blocks.size() == 2);
  const Block &whole = function->blocks[0], &inner = function->blocks[1];
  EXPECT_EQ(whole.names, (std::set<std::string>{"result"}));
  EXPECT_EQ(inner.names, (std::set<std::string>{"more"}));
  EXPECT_TRUE(whole.contains(*in_outer));
  ASSERT_FALSE(inner.code.empty());
  EXPECT_TRUE(whole.contains(inner.code.front().begin) && whole.contains(inner.code.front().end - 1));
  auto row =
      std::ranges::find_if(function->rows, [&](const SourceRow& one) { return inner.contains(one.address); });
  ASSERT_NE(row, function->rows.end());
  EXPECT_TRUE(row->file.ends_with("symbols_subject.c")) << row->file;
  EXPECT_FALSE(symbols.blocks(0x1234));
}

TEST(Symbols, MemoryThatIsNotThereEndsTheWalk) {
  Subject subject;
  Symbols symbols(subject.mappings());
  Registers registers = subject.registers();
  auto calls = symbols.unwind(registers, [](uint64_t, uint64_t&) { return false; });
  EXPECT_EQ(calls.size(), 1u);
  registers.values[Registers::kRip] = 0x1234;  // no code at all
  calls = symbols.unwind(registers, subject.memory());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_FALSE(symbols.locate(calls[0]).known());
}

/// As if libc were mapped from its patched copy, and the thread stood in a trampoline.
TEST(Symbols, ATrampolineStandsForTheCodeItReplaces) {
  Subject subject;
  std::vector<Mapping> mappings = subject.mappings();
  Registers registers = subject.registers();
  uint64_t rip = registers.values[Registers::kRip];
  auto text = std::ranges::find_if(mappings, [&](const Mapping& m) { return m.start <= rip && rip < m.end; });
  ASSERT_NE(text, mappings.end());
  Path libc = text->file, copy = Path(testing::TempDir()) / "patched_libc";
  auto report = patch::patch_file(libc, copy).value();
  uint64_t call = text->offset + (rip - 2 - text->start);
  auto site =
      std::ranges::find_if(report.sites, [&](const patch::Site& s) { return s.offset == call && s.patched; });
  ASSERT_NE(site, report.sites.end()) << "poll's syscall is not patched";

  // Where the jump leads to, as an offset in the copy.
  std::string bytes = read_file(copy).value();
  patch::PatchTrailer trailer;
  std::memcpy(&trailer, bytes.data() + bytes.size() - sizeof trailer, sizeof trailer);
  const patch::PatchedSegment& segment = trailer.segments[0];
  uint64_t start = site->offset - (site->address - site->start);
  int32_t distance;
  std::memcpy(&distance, bytes.data() + start + 1, sizeof distance);
  uint64_t trampoline = site->start + 5 + static_cast<uint64_t>(int64_t{distance});
  uint64_t offset = segment.trampoline_offset + (trampoline - segment.trampoline_vaddr);
  Origins origins = Origins::read(copy).value();
  EXPECT_TRUE(origins.is_trampoline(offset));
  EXPECT_FALSE(origins.is_trampoline(call));
  EXPECT_EQ(origins.original(offset), start);
  uint64_t inside = offset;  // the last byte of what stands for the call
  while (origins.original(inside) < call) ++inside;
  while (origins.original(inside + 1) == call) ++inside;
  EXPECT_EQ(origins.original(inside), call);

  uint64_t bias = text->start - text->offset - (segment.vaddr - segment.offset);
  Mapping area{.start = bias + segment.trampoline_vaddr,
               .end = bias + segment.trampoline_vaddr + segment.trampoline_size,
               .offset = segment.trampoline_offset,
               .executable = true,
               .file = copy};
  for (Mapping& mapping : mappings) {
    if (mapping.file == libc) mapping.file = copy;
  }
  mappings.push_back(area);
  registers.values[Registers::kRip] = area.start + (inside - area.offset);
  Symbols symbols(mappings, {{copy, libc}});
  auto calls = symbols.unwind(registers, subject.memory());
  auto found = texts(symbols, calls);
  EXPECT_TRUE(holds(found, "at symbols_subject.c:6 in inner")) << fmt::format("{}", fmt::join(found, "; "));
  EXPECT_TRUE(symbols.locate(calls[0]).in_c_library());
  unlink(copy.c_str());
}

TEST(Origins, OnlyPatchedFilesHaveThem) { EXPECT_FALSE(Origins::read(SYMBOLS_SUBJECT)); }

}  // namespace
}  // namespace pastcone::symbols
