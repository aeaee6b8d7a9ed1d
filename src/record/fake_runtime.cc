// For tests: an executable that the recorder and the director take for pastcone-runtime. It knows where the
// stage is and does the least that a recorded or replayed process does; what exactly, its first argument
// (record) or the pid in its first event (replay) says.
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "pastcone/base/bytes.h"
#include "pastcone/record/chunk_stack.h"
#include "pastcone/stage/build_note.h"
#include "pastcone/stage/layout.h"
#include "pastcone/trace/format.h"

PASTCONE_BUILD_NOTE

namespace {

using namespace pastcone;
using format::Op;

stage::View view;
int first_fd;

char* map_chunk(uint32_t index) {
  void* at = mmap(nullptr, format::kChunkSize, PROT_READ | PROT_WRITE, MAP_SHARED, first_fd + stage::kFdTrace,
                  static_cast<off_t>(uint64_t{index} * format::kChunkSize));
  if (at == MAP_FAILED) _exit(99);
  return static_cast<char*>(at);
}

/// A process's whole recording: its start, one write to standard output, its end.
void record_process(uint32_t number, bool close) {
  uint32_t index = __atomic_fetch_add(&view.header().next_chunk, 1, __ATOMIC_SEQ_CST);
  char* chunk = map_chunk(index);
  ByteWriter out;
  out.u8(static_cast<uint8_t>(Op::kStart));
  for (uint64_t field : {uint64_t{1}, uint64_t{1}, uint64_t{0}, uint64_t{0}, uint64_t{0}}) out.varint(field);
  out.u8(format::kStartProcess);
  out.varint(1);
  out.u8(static_cast<uint8_t>(Op::kExitGroup));
  out.zigzag(0);
  out.u64(0);
  format::ChunkHeader header{};
  header.magic = format::kChunkMagic;
  header.version = format::kVersion;
  header.process = number;
  header.thread = 1;
  header.used = static_cast<uint32_t>(out.size());
  header.flags = close ? format::kChunkClosed | format::kChunkLast : 0;
  std::memcpy(chunk + sizeof header, out.view().data(), out.size());
  std::memcpy(chunk, &header, sizeof header);
  if (close) record::ChunkStack(view, view.header().closed_chunks).push(index);
}

int record_main(const std::string& what) {
  record_process(1, true);
  if (what == "fork") {  // an orphan that outlives the command
    view.header().next_process = 2;
    if (fork() == 0) {
      usleep(200'000);
      record_process(2, false);
      _exit(3);
    }
  }
  if (what == "kill") raise(SIGTERM);
  if (what == "handoff") {
    const char* chunk = map_chunk(view.process(1).handoff_chunk - 1);
    const auto& handoff = *reinterpret_cast<const stage::Handoff*>(chunk);
    dprintf(1, "%s %s\n", chunk + handoff.path, chunk + handoff.name);
  }
  return 7;
}

void wait_for_nothing(stage::ThreadSlot& slot) {
  slot.wait_kind = static_cast<uint32_t>(stage::WaitKind::kChannel);
  slot.wait_for = 12;
  slot.wait_position = 345;
  slot.event = 5;
  __atomic_store_n(&slot.state, static_cast<uint32_t>(stage::ThreadState::kWaiting), __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&view.header().give_up, __ATOMIC_SEQ_CST) == 0) {
    syscall(SYS_futex, &view.connection(0).futex, FUTEX_WAIT, 0, nullptr, nullptr, 0);
  }
  _exit(0);
}

int replay_main() {
  stage::ThreadSlot& slot = view.thread(view.process(1).first_thread);
  slot.tid = static_cast<uint32_t>(getpid());
  __atomic_store_n(&slot.state, static_cast<uint32_t>(stage::ThreadState::kRunning), __ATOMIC_SEQ_CST);
  uint8_t start[2];
  if (pread(first_fd + stage::kFdTrace, start, sizeof start, static_cast<off_t>(slot.events_offset)) != 2)
    return 98;
  switch (start[1]) {
    case 1:
      if (pwrite(first_fd + stage::kFdOutput, "hello\n", 6, 0) != 6) return 97;
      view.output(0).length = 6;
      __atomic_store_n(&view.output(0).fd_and_done, 0x101u, __ATOMIC_SEQ_CST);
      break;
    case 2:
      wait_for_nothing(slot);
      break;
    case 3:
      raise(SIGKILL);
      break;
    case 4:
      std::strcpy(view.process(1).report, "sends other bytes");
      view.process(1).diverged_event = 9;
      view.process(1).diverged_thread = 1;
      view.process(1).diverged = static_cast<uint32_t>(stage::ReportState::kWritten);
      __atomic_store_n(&slot.state, static_cast<uint32_t>(stage::ThreadState::kDiverged), __ATOMIC_SEQ_CST);
      return 0;
    case 5:
      pause();
      break;
    default:
      break;
  }
  __atomic_store_n(&slot.state, static_cast<uint32_t>(stage::ThreadState::kEnded), __ATOMIC_SEQ_CST);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* variable = std::getenv("PASTCONE_STAGE");
  if (variable == nullptr || std::strlen(variable) != 13) return 96;
  first_fd = std::atoi(variable);
  void* base =
      mmap(nullptr, stage::kStageSize, PROT_READ | PROT_WRITE, MAP_SHARED, first_fd + stage::kFdStage, 0);
  if (base == MAP_FAILED) return 95;
  view.base = static_cast<char*>(base);
  if (view.header().magic != stage::kMagic || std::atoi(variable + 6) != 1) return 94;
  if (view.header().mode == stage::Mode::kReplay) return replay_main();
  return record_main(argc > 1 ? argv[1] : "");
}
