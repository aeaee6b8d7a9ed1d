#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "pastcone/record/digest.h"
#include "pastcone/record/file_keeper.h"
#include "pastcone/record/hash_cache.h"
#include "pastcone/trace/checksum.h"

namespace pastcone::record {
namespace {

struct stat file_of(uid_t owner, mode_t mode) {
  struct stat info {};
  info.st_uid = owner;
  info.st_mode = S_IFREG | mode;
  return info;
}

TEST(BelongsToSystem, RootsFilesInPackageDirectories) {
  EXPECT_TRUE(belongs_to_system("/usr/lib/x86_64-linux-gnu/libc.so.6", file_of(0, 0755)));
  EXPECT_TRUE(belongs_to_system("/lib64/ld-linux-x86-64.so.2", file_of(0, 0755)));
  EXPECT_TRUE(belongs_to_system("/bin/sh", file_of(0, 0755)));
  EXPECT_FALSE(belongs_to_system("/usr/lib/libc.so.6", file_of(1000, 0755)));
  EXPECT_FALSE(belongs_to_system("/usr/lib/libc.so.6", file_of(0, 0775)));
  EXPECT_FALSE(belongs_to_system("/usr/lib/libc.so.6", file_of(0, 0757)));
  EXPECT_FALSE(belongs_to_system("/usr/local/bin/tool", file_of(0, 0755)));
  EXPECT_FALSE(belongs_to_system("/home/me/tool", file_of(0, 0755)));
  EXPECT_FALSE(belongs_to_system("/usrlocal/tool", file_of(0, 0755)));
  EXPECT_FALSE(belongs_to_system("/usr/bin/tool (deleted)", file_of(0, 0755)));
}

class FilesKept : public testing::Test {
 protected:
  FilesKept() {
    char name[] = "/tmp/files_kept.XXXXXX";
    directory_ = mkdtemp(name);
    setenv("XDG_CACHE_HOME", (directory_ / "cache").c_str(), 1);
  }
  ~FilesKept() override {
    unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(directory_);
  }
  UniqueFd open(const char* name, int flags) { return open_file(directory_ / name, flags).value(); }

  Path directory_;
};

TEST_F(FilesKept, ACopyIsTheSameAndKnowsItsHash) {
  std::string text(3 << 20, 'x');
  ASSERT_TRUE(write_file_atomic(directory_ / "a", text));
  UniqueFd from = open("a", O_RDONLY), to = open("b", O_RDWR | O_CREAT);
  int breaths = 0;
  Digest digest = copy_file(from.get(), to.get(), "a", [&] { ++breaths; }).value();
  EXPECT_EQ(digest.hash, xxh64(as_bytes(text)));
  EXPECT_EQ(digest.size, text.size());
  EXPECT_EQ(read_file(directory_ / "b").value(), text);
  EXPECT_GE(breaths, 3);
  EXPECT_EQ(digest_file(to.get(), "b")->hash, digest.hash);
}

TEST_F(FilesKept, HolesStayHoles) {
  UniqueFd from = open("a", O_RDWR | O_CREAT), to = open("b", O_RDWR | O_CREAT);
  ASSERT_EQ(pwrite(from.get(), "x", 1, 32 << 20), 1);
  ASSERT_EQ(ftruncate(from.get(), 48 << 20), 0);
  Digest digest = copy_file(from.get(), to.get(), "a").value();
  std::string text = read_file(directory_ / "a").value();
  EXPECT_EQ(digest.hash, xxh64(as_bytes(text)));
  EXPECT_EQ(read_file(directory_ / "b").value(), text);
  struct stat info {};
  ASSERT_EQ(fstat(to.get(), &info), 0);
  EXPECT_LT(info.st_blocks * 512, 4 << 20);
}

TEST_F(FilesKept, HashesAreRememberedAcrossRecorders) {
  struct stat info = file_of(0, 0644);
  info.st_ino = 7;
  info.st_size = 9;
  HashCache(directory_).add(info, 42);
  EXPECT_EQ(HashCache(directory_).find(info), 42u);
  struct stat newer = info;
  newer.st_mtim.tv_nsec = 1;
  EXPECT_FALSE(HashCache(directory_).find(newer));
  // What changed a moment ago is not remembered: its times do not show the next change.
  clock_gettime(CLOCK_REALTIME, &newer.st_ctim);
  HashCache(directory_).add(newer, 43);
  EXPECT_FALSE(HashCache(directory_).find(newer));
  // A flipped bit is a miss, not a wrong hash.
  std::string text = read_file(directory_ / "hashes").value();
  text[8] = static_cast<char>(text[8] ^ 1);
  ASSERT_TRUE(write_file_atomic(directory_ / "hashes", text));
  EXPECT_FALSE(HashCache(directory_).find(info));
}

/// The runtime's side of a request.
stage::FileSlot& request(const SharedStage& stage, uint32_t id, int fd, uint32_t wanted) {
  stage::FileSlot& slot = stage.view().file(id);
  slot.pid = static_cast<uint32_t>(getpid());
  slot.fd = fd;
  slot.wanted = wanted;
  store(slot.state, static_cast<uint32_t>(stage::FileState::kRequested));
  store(stage.header().file_requests, load(stage.header().file_requests) + 1);
  stage.notify();
  return slot;
}

TEST_F(FilesKept, RequestsAnywhereInTheTableAreAnswered) {
  auto stage = SharedStage::create(stage::Mode::kRecord, 0, directory_ / "cache/patched").value();
  auto keeper =
      FileKeeper::create(stage, directory_, PatchCache(directory_ / "cache/patched", {}), true, {}).value();
  EXPECT_FALSE(keeper.serve());

  ASSERT_TRUE(write_file_atomic(directory_ / "mine", "contents"));
  UniqueFd mine = open("mine", O_RDONLY);
  unlink((directory_ / "mine").c_str());  // through the descriptor all the same
  UniqueFd system = open_file("/bin/true", O_RDONLY).value();
  stage::FileSlot& first = request(stage, 1, mine.get(), stage::kWantData);
  stage::FileSlot& last = request(stage, stage::kMaxFiles, system.get(), stage::kWantCode);
  stage::FileSlot& lost = request(stage, 20000, 999, 0);
  EXPECT_TRUE(keeper.serve());
  EXPECT_FALSE(keeper.serve());

  auto ready = static_cast<uint32_t>(stage::FileState::kReady);
  EXPECT_EQ(first.state, ready);
  EXPECT_EQ(first.given, stage::kFileKept);
  EXPECT_EQ(first.futex, 1u);
  EXPECT_EQ(read_file(directory_ / "files/1").value(), "contents");
  EXPECT_EQ(keeper.kept_bytes(), 8u);
  EXPECT_EQ(last.state, ready);
  EXPECT_EQ(last.given & ~stage::kFilePatched, stage::kFileReference | stage::kFileSteady);
  EXPECT_EQ(lost.state, ready);  // the program goes on, without
  EXPECT_EQ(lost.given, 0u);
  EXPECT_FALSE(keeper.trouble().empty());

  std::vector<std::string> damage;
  FileTable table = FileTable::read(directory_, damage).value();
  EXPECT_TRUE(damage.empty());
  ASSERT_EQ(table.entries().size(), 2u);
  EXPECT_EQ(table.find(1)->kept, "files/1");
  EXPECT_EQ(table.find(1)->hash, to_hex(xxh64(as_bytes("contents"))));
  EXPECT_FALSE(table.find(stage::kMaxFiles)->kept);
}

TEST_F(FilesKept, ALargeFileIsCopiedWhenSomebodyWantsToChangeIt) {
  std::string large(stage::kLargeFile, 'x');
  ASSERT_TRUE(write_file_atomic(directory_ / "large", large));
  auto stage = SharedStage::create(stage::Mode::kRecord, 0, directory_ / "cache/patched").value();
  auto keeper =
      FileKeeper::create(stage, directory_, PatchCache(directory_ / "cache/patched", {}), true, {}).value();
  UniqueFd read = open("large", O_RDONLY);
  stage::FileSlot& slot = request(stage, 7, read.get(), 0);
  EXPECT_TRUE(keeper.serve());
  EXPECT_EQ(slot.given, stage::kFileReference | stage::kFileSteady);
  EXPECT_EQ(keeper.kept_bytes(), 0u);

  std::thread writer([&] {
    UniqueFd write = open("large", O_WRONLY | O_TRUNC);
    EXPECT_TRUE(load(slot.given) & stage::kFileChanged);
  });
  while ((load(slot.given) & stage::kFileChanged) == 0) keeper.serve();
  writer.join();
  keeper.finish();
  EXPECT_EQ(read_file(directory_ / "files/7").value(), large);
  std::vector<std::string> damage;
  EXPECT_EQ(FileTable::read(directory_, damage)->find(7)->kept, "files/7");
  EXPECT_TRUE(keeper.trouble().empty());
}

TEST_F(FilesKept, ALargeFileIsReferredToAtTheEndIfItHasItsName) {
  std::string large(stage::kLargeFile, 'y');
  for (const char* name : {"stays", "goes", "written", "mapped"}) {
    ASSERT_TRUE(write_file_atomic(directory_ / name, large));
  }
  UniqueFd writer = open("written", O_RDWR);
  auto stage = SharedStage::create(stage::Mode::kRecord, 0, directory_ / "cache/patched").value();
  auto keeper =
      FileKeeper::create(stage, directory_, PatchCache(directory_ / "cache/patched", {}), true, {}).value();
  UniqueFd stays = open("stays", O_RDONLY), goes = open("goes", O_RDONLY),
           written = open("written", O_RDONLY), mapped = open("mapped", O_RDONLY);
  request(stage, 1, stays.get(), 0);
  request(stage, 2, goes.get(), 0);
  stage::FileSlot& busy = request(stage, 3, written.get(), 0);
  request(stage, 4, mapped.get(), 0);
  keeper.serve();
  EXPECT_EQ(busy.given, 0u);  // what is read of it has to be stored
  request(stage, 3, written.get(), stage::kWantData);
  request(stage, 4, mapped.get(), stage::kWantCode);
  keeper.serve();
  EXPECT_EQ(busy.given, stage::kFileKept);
  ASSERT_TRUE(write_file_atomic(directory_ / "new", "new"));
  ASSERT_EQ(rename((directory_ / "new").c_str(), (directory_ / "goes").c_str()), 0);
  keeper.finish();

  std::vector<std::string> damage;
  FileTable table = FileTable::read(directory_, damage).value();
  for (uint32_t id : {1u, 2u, 3u, 4u}) EXPECT_EQ(table.find(id)->hash, to_hex(xxh64(as_bytes(large)))) << id;
  EXPECT_FALSE(table.find(1)->kept);
  for (uint32_t id : {2u, 3u, 4u}) EXPECT_TRUE(table.find(id)->kept) << id;
  EXPECT_EQ(read_file(directory_ / "files/2").value(), large);
}

TEST_F(FilesKept, CodeGetsAPatchedCopyAlsoWhenAskedLater) {
  auto stage = SharedStage::create(stage::Mode::kRecord, 0, directory_ / "cache/patched").value();
  auto keeper =
      FileKeeper::create(stage, directory_, PatchCache(directory_ / "cache/patched", {}), true, {}).value();
  UniqueFd libc = open_file("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY).value();
  stage::FileSlot& slot = request(stage, 5, libc.get(), 0);
  keeper.serve();
  EXPECT_EQ(slot.patched, 0u);
  request(stage, 5, libc.get(), stage::kWantCode);
  keeper.serve();
  EXPECT_EQ(slot.given, stage::kFileReference | stage::kFileSteady | stage::kFilePatched);
  EXPECT_EQ(access((directory_ / "cache/patched" / to_hex(slot.patched)).c_str(), R_OK), 0);
  std::vector<std::string> damage;
  EXPECT_EQ(FileTable::read(directory_, damage)->find(5)->patched, to_hex(slot.patched));
}

}  // namespace
}  // namespace pastcone::record
