#include "pastcone/record/program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "pastcone/patch/sanitizers.h"

namespace pastcone::record {
namespace {

constexpr size_t kHeadSize = 256;  // BINPRM_BUF_SIZE: all the kernel looks at
constexpr int kMaxDepth = 5;       // of scripts that name scripts, as in fs/exec.c

bool is_blank(char c) { return c == ' ' || c == '\t'; }

Result<std::string> read_head(const Path& path) {
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  std::string head(kHeadSize, '\0');
  ssize_t got = pread(fd.get(), head.data(), head.size(), 0);
  if (got < 0) return fail("cannot read {}: {}", path.native(), errno_message(errno));
  head.resize(static_cast<size_t>(got));
  return head;
}

/// What execvp would execute: the name with its directory in front, as the program sees it in AT_EXECFN.
Result<std::string> search_path(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  std::string forbidden;
  for (bool more = true; more;) {
    size_t colon = rest.find(':');
    more = colon != std::string_view::npos;
    std::string candidate(rest.substr(0, colon));
    if (!candidate.empty()) candidate += '/';  // an empty entry is the working directory
    candidate += command;
    if (more) rest.remove_prefix(colon + 1);
    struct stat info {};
    if (stat(candidate.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (forbidden.empty()) forbidden = candidate;
  }
  if (!forbidden.empty()) return forbidden;
  return fail("{}: command not found; give its path, or check PATH", command);
}

Status check_interpreter(const Path& path, const Elf64_Ehdr& header, int fd) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    auto at = static_cast<off_t>(header.e_phoff + uint64_t{i} * sizeof segment);
    if (pread(fd, &segment, sizeof segment, at) != sizeof segment) break;
    if (segment.p_type != PT_INTERP) continue;
    std::string loader(std::min<uint64_t>(segment.p_filesz, 4096), '\0');
    if (pread(fd, loader.data(), loader.size(), static_cast<off_t>(segment.p_offset)) < 0) break;
    loader.resize(std::strlen(loader.c_str()));
    if (access(loader.c_str(), R_OK) == 0) return {};
    return fail("cannot record {}: its loader {} is not there; install the C library it was built for",
                path.native(), loader);
  }
  return {};
}

/// For scripts the kernel takes no notice of these bits.
Status check_identity(const Path& path, int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return {};
  bool other_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid();
  bool other_group =
      (info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && info.st_gid != getegid();
  if (!other_user && !other_group) return {};
  return fail(
      "cannot record {}: it is set{}id, and would run with rights that a recorded program cannot have; "
      "record what it starts instead",
      path.native(), other_user ? "u" : "g");
}

Status check_sanitizer(const Path& path) {
  MappedFile file = TRY(MappedFile::open(path));
  ByteView bytes = file.bytes();
  const char* name = patch::sanitizer_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (name == nullptr) return {};
  return fail(
      "cannot record {}: it is built with {}, which needs addresses that the recording uses; build it without",
      path.native(), name);
}

}  // namespace

int refusal_status(const std::string& command) {
  auto path = search_path(command);
  return path && access(path->c_str(), F_OK) == 0 ? 126 : 127;
}

bool looks_like_text(std::string_view head) {
  std::string_view line = head.substr(0, head.find('\n'));
  return line.find('\0') == std::string_view::npos;
}

Result<ScriptLine> parse_script_line(std::string_view head) {
  if (!head.starts_with("#!")) return fail("it has no #! line");
  std::string_view line = head.substr(2);
  size_t end = line.find('\n');
  bool cut = end == std::string_view::npos && head.size() >= kHeadSize;
  line = line.substr(0, end);
  line = line.substr(0, line.find('\0'));
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  size_t blank = line.find_first_of(" \t");
  if (cut && blank == std::string_view::npos) return fail("its #! line is longer than the kernel reads");
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  if (line.empty()) return fail("its #! line names no interpreter");

  blank = line.find_first_of(" \t");
  ScriptLine script{std::string(line.substr(0, blank)), {}};
  if (blank != std::string_view::npos) {
    line.remove_prefix(blank);
    while (is_blank(line.front())) line.remove_prefix(1);
    script.argument = std::string(line);
  }
  return script;
}

Status check_permissions(const Path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return fail("cannot record {}: {}; check the path", path.native(), errno_message(errno));
  }
  if (S_ISDIR(info.st_mode))
    return fail("cannot record {}: it is a directory; give a program", path.native());
  if (!S_ISREG(info.st_mode)) return fail("cannot record {}: it is not a regular file", path.native());
  if (access(path.c_str(), X_OK) != 0) {
    return fail("cannot record {}: it is not executable; try chmod +x", path.native());
  }
  if (access(path.c_str(), R_OK) != 0) {
    return fail("cannot record {}: it may be executed but not read; try chmod +r", path.native());
  }
  if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return fail(
        "cannot record {}: it gets capabilities from its file, which a recorded program cannot have; "
        "record a copy without them (cp), or as root",
        path.native());
  }
  return {};
}

Status check_elf(const Path& path) {
  UniqueFd fd = TRY(open_file(path, O_RDONLY));
  TRY_STATUS(check_identity(path, fd.get()));
  Elf64_Ehdr header{};
  if (pread(fd.get(), &header, sizeof header, 0) < EI_NIDENT ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return fail("cannot record {}: it is not a program", path.native());
  }
  if (header.e_ident[EI_CLASS] == ELFCLASS32) {
    return fail("cannot record {}: it is a 32-bit program; build it for x86-64", path.native());
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    return fail("cannot record {}: it is not an x86-64 program; build it for x86-64", path.native());
  }
  if ((header.e_type != ET_EXEC && header.e_type != ET_DYN) || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return fail("cannot record {}: it is an ELF file, but not an executable one", path.native());
  }
  TRY_STATUS(check_interpreter(path, header, fd.get()));
  return check_sanitizer(path);
}

Result<Program> find_program(const std::vector<std::string>& command) {
  Program program;
  program.name = TRY(search_path(command.front()));
  program.arguments = command;
  std::string file = program.name;
  for (int depth = 0;; ++depth) {
    TRY_STATUS(check_permissions(file));
    std::string head = TRY(read_head(file));
    if (head.starts_with(ELFMAG)) break;
    if (depth >= kMaxDepth) return fail("cannot record {}: too many scripts that name scripts", program.name);

    ScriptLine script{"/bin/sh", {}};  // what execvp does with a text that has no #! line
    if (head.starts_with("#!")) {
      auto parsed = parse_script_line(head);
      if (!parsed) return fail("cannot record {}: {}", file, parsed.error().message);
      script = *std::move(parsed);
    } else if (head.empty() || depth > 0 || !looks_like_text(head)) {
      return fail("cannot record {}: it is neither a program nor a script", file);
    }
    auto& arguments = program.arguments;
    arguments.front() = file;
    if (!script.argument.empty()) arguments.insert(arguments.begin(), script.argument);
    arguments.insert(arguments.begin(), script.interpreter);
    if (access(script.interpreter.c_str(), F_OK) != 0) {
      return fail("cannot record {}: its interpreter {} is not there; install it, or correct the #! line",
                  file, script.interpreter);
    }
    file = script.interpreter;
  }
  TRY_STATUS(check_elf(file));
  std::error_code error;
  program.path = std::filesystem::absolute(file, error);
  if (error) return fail("cannot record {}: no working directory: {}", file, error.message());
  return program;
}

}  // namespace pastcone::record
