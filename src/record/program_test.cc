#include "pastcone/record/program.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace pastcone::record {
namespace {

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    char name[] = "/tmp/program_test.XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ProgramTest() override { std::filesystem::remove_all(directory_); }

  Path make(const std::string& name, std::string_view contents, mode_t mode = 0755) {
    Path path = directory_ / name;
    EXPECT_TRUE(write_file_atomic(path, contents, mode));
    return path;
  }
  /// An ELF header and nothing else.
  static std::string elf(uint8_t bits, uint8_t machine) {
    std::string header(64, '\0');
    header.replace(0, 7,
                   std::string("\x7f"
                               "ELF",
                               4) +
                       static_cast<char>(bits) + "\x01\x01");
    header[16] = 2;  // ET_EXEC
    header[18] = static_cast<char>(machine);
    header[54] = 56;  // e_phentsize
    return header;
  }
  static std::string why(const std::vector<std::string>& command) {
    auto program = find_program(command);
    return program ? "" : program.error().message;
  }

  Path directory_;
};

TEST(ScriptLine, IsReadAsTheKernelDoes) {
  auto line = parse_script_line("#!/bin/sh\nrest");
  EXPECT_EQ(line->interpreter, "/bin/sh");
  EXPECT_EQ(line->argument, "");
  line = parse_script_line("#! \t/usr/bin/env  python3 -u \t\nprint()");
  EXPECT_EQ(line->interpreter, "/usr/bin/env");
  EXPECT_EQ(line->argument, "python3 -u");
  EXPECT_EQ(parse_script_line("#!/bin/sh")->interpreter, "/bin/sh");
  EXPECT_FALSE(parse_script_line("/bin/sh\n"));
  EXPECT_FALSE(parse_script_line("#!\n"));
  EXPECT_FALSE(parse_script_line("#!   \n"));
  EXPECT_FALSE(parse_script_line("#!/" + std::string(300, 'x')));
  // A long line is cut, but only its argument may be.
  auto cut = parse_script_line(("#!/bin/sh " + std::string(300, 'x')).substr(0, 256));
  EXPECT_EQ(cut->argument, std::string(246, 'x'));
}

TEST(ScriptLine, TextHasNoNulInItsFirstLine) {
  EXPECT_TRUE(looks_like_text("echo\n\0"));
  EXPECT_FALSE(looks_like_text(std::string_view("ec\0ho\n", 6)));
}

TEST_F(ProgramTest, FindsInPathWithTheNameTheProgramSees) {
  auto program = find_program({"true", "x"});
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->name.ends_with("/true"));
  EXPECT_TRUE(program->path.is_absolute());
  EXPECT_EQ(program->arguments, (std::vector<std::string>{"true", "x"}));
}

TEST_F(ProgramTest, AScriptBecomesItsInterpretersArgument) {
  std::string script = make("s", "#!/bin/sh -e\necho\n").native();
  auto program = find_program({script, "a", "b"});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->path, "/bin/sh");
  EXPECT_EQ(program->name, script);
  EXPECT_EQ(program->arguments, (std::vector<std::string>{"/bin/sh", "-e", script, "a", "b"}));
}

TEST_F(ProgramTest, AScriptMayNameAScript) {
  std::string inner = make("inner", "#!/bin/sh\n").native();
  std::string outer = make("outer", "#!" + inner + " x y\n").native();
  auto program = find_program({outer, "a"});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->arguments, (std::vector<std::string>{"/bin/sh", inner, "x y", outer, "a"}));
  EXPECT_EQ(program->name, outer);

  Path self = directory_ / "self";
  make("self", "#!" + self.native() + "\n");
  EXPECT_NE(why({self.native()}).find("too many scripts"), std::string::npos);
}

TEST_F(ProgramTest, ATextWithoutALineIsForTheShell) {
  std::string script = make("s", "echo hello\n").native();
  auto program = find_program({script});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->arguments, (std::vector<std::string>{"/bin/sh", script}));
}

TEST_F(ProgramTest, RefusesInWords) {
  EXPECT_NE(why({"no-such-command-anywhere"}).find("command not found"), std::string::npos);
  EXPECT_NE(why({(directory_ / "missing").native()}).find("No such file"), std::string::npos);
  EXPECT_NE(why({directory_.native()}).find("it is a directory"), std::string::npos);
  EXPECT_NE(why({make("plain", "#!/bin/sh\n", 0644).native()}).find("not executable"), std::string::npos);
  EXPECT_NE(why({make("lost", "#!/no/such/interpreter\n").native()}).find("is not there"), std::string::npos);
  EXPECT_NE(why({make("empty", "").native()}).find("neither"), std::string::npos);
  EXPECT_NE(why({make("binary", std::string("\x01\x00\x02", 3)).native()}).find("neither"),
            std::string::npos);
  EXPECT_NE(why({make("old", elf(1, 3)).native()}).find("32-bit"), std::string::npos);
  EXPECT_NE(why({make("arm", elf(2, 183)).native()}).find("not an x86-64"), std::string::npos);
  EXPECT_EQ(why({make("static", elf(2, 62)).native()}), "");
  EXPECT_EQ(refusal_status("no-such-command-anywhere"), 127);
  EXPECT_EQ(refusal_status((directory_ / "missing").native()), 127);
  EXPECT_EQ(refusal_status((directory_ / "plain").native()), 126);
}

TEST_F(ProgramTest, RefusesAnotherIdentity) {
  Path own = make("own", elf(2, 62), 06755);
  EXPECT_EQ(why({own.native()}), "");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  for (auto [mode, word] : {std::pair<mode_t, const char*>{04755, "setuid"}, {02755, "setgid"}}) {
    Path theirs = make(word, elf(2, 62));
    ASSERT_EQ(chown(theirs.c_str(), 1, 1), 0);
    ASSERT_EQ(chmod(theirs.c_str(), mode), 0);
    EXPECT_NE(why({theirs.native()}).find(word), std::string::npos);
  }
}

}  // namespace
}  // namespace pastcone::record
