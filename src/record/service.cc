#include "pastcone/record/service.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace pastcone::record {
namespace {

using namespace std::chrono_literals;

constexpr uint32_t kAhead = 32;         // chunks with disk space that nobody has asked for yet; at least
constexpr uint32_t kFewest = 4;         // with less a recording is not worth beginning
constexpr uint32_t kMaxAhead = 1024;    // 64 MiB
constexpr uint32_t kMaxBacklog = 4096;  // 256 MiB not packed yet: let the programs wait a little
// While there is something to do we look often, and nobody has to make a call to wake us, but for files,
// which programs wait for. After a quiet time we sleep until somebody does.
constexpr auto kTick = 5ms;
constexpr int kQuietTicks = 10;
constexpr auto kSafetyNet = 50ms;  // should nobody wake us

}  // namespace

Service::Service(const SharedStage& stage, LiveFile& live, Packer& packer, std::optional<uint64_t> max_size)
    : stage_(stage), live_(live), packer_(packer), max_size_(max_size) {}

Status Service::prepare(const Path& recording, PatchCache patches, bool patch) {
  files_.emplace(TRY(FileKeeper::create(stage_, recording, std::move(patches), patch, [this] { tend(); })));
  return {};
}

Status Service::first_chunks() {
  int error = 0;
  uint32_t wanted = max_size_ ? std::max(chunks_ahead(0), kFewest) : kAhead;
  for (uint32_t count = wanted; count >= kFewest; count /= 2) {
    error = live_.grow(count);
    if (error == 0) {
      store(stage_.header().chunks_ready, live_.ready());
      return {};
    }
  }
  return fail("cannot reserve room for the recording: {}; make some, or give another -o",
              errno_message(error));
}

void Service::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "service");
    run();
  });
}

void Service::stop() {
  if (!thread_.joinable()) return;
  ending_ = true;
  stage_.notify();
  thread_.join();
  files_->finish();
}

void Service::run() {
  for (int quiet = 0; !ending_;) {
    uint32_t seen = load(stage_.header().activity);
    bool busy = tend();
    busy = files_->serve() || busy;
    quiet = busy ? 0 : std::min(quiet + 1, kQuietTicks);
    bool asleep = quiet == kQuietTicks || max_size_;
    if (!ending_) stage_.wait_activity(seen, asleep ? kSafetyNet : kTick, asleep);
  }
}

bool Service::take_closed() {
  std::vector<uint32_t> closed = ChunkStack(stage_.view(), stage_.header().closed_chunks).pop_all();
  packer_.add(closed);
  return !closed.empty();
}

bool Service::tend() {
  bool any = take_closed();
  supply_chunks();
  watch_size();
  return any;
}

/// Twice as many as were taken lately. With a limit on the size, what is ready must not reach far beyond it.
uint32_t Service::chunks_ahead(uint32_t next) {
  ahead_ = std::clamp((next - last_next_) * 2, std::max(kAhead, ahead_ / 2), kMaxAhead);
  last_next_ = next;
  if (!max_size_) return ahead_;
  uint64_t size = expected_size();
  uint64_t room = *max_size_ > size ? *max_size_ - size : 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>((room / 2 + format::kChunkSize - 1) / format::kChunkSize, kAhead));
}

void Service::supply_chunks() {
  stage::Header& header = stage_.header();
  if (load(header.stopped) != 0) return;
  if (packer_.failed()) return stop_recording(format::StopReason::kNoSpace);
  uint32_t next = load(header.next_chunk), ahead = chunks_ahead(next);
  if (ahead == 0 || live_.ready() >= next + ahead || packer_.backlog() > kMaxBacklog) return;
  uint32_t step = max_size_ ? 0 : ahead;
  int error = live_.grow(std::min(next + ahead + step, stage::kMaxChunks));
  if (error != 0 && live_.ready() > next)
    return;  // some are left; until they are gone there may be room again
  if (error != 0) error = live_.grow(next + 1);
  store(header.chunks_ready, live_.ready());
  bump_and_wake(header.chunk_futex);
  if (error != 0) stop_recording(format::StopReason::kNoSpace);
}

uint64_t Service::live_bytes() const {
  uint64_t sum = 0;
  uint32_t count = std::min(load(stage_.header().next_chunk), live_.ready());
  for (uint32_t index = 0; index < count; ++index) {
    const format::ChunkHeader& header = live_.header(index);
    if (load(header.magic) == format::kChunkMagic) sum += std::min(load(header.used), format::kChunkRoom);
  }
  return sum;
}

uint64_t Service::expected_size() const {
  double ratio = packer_.compression();
  auto packed = static_cast<uint64_t>(static_cast<double>(live_bytes()) * ratio);
  return packer_.packed_bytes() + (files_ ? files_->kept_bytes() : 0) + packed;
}

void Service::watch_size() {
  if (!max_size_ || load(stage_.header().stopped) != 0) return;
  uint64_t expected = expected_size();
  if (!packer_.packed_any()) take_closed();  // one may have been since: it will tell how well it all compresses
  bool guess = !packer_.packed_any() && packer_.backlog() > 0;  // how well it compresses
  if (guess && expected > *max_size_ / 4) return packer_.flush();
  if (expected >= *max_size_) stop_recording(format::StopReason::kMaxSize);
}

void Service::stop_recording(format::StopReason reason) {
  stage::Header& header = stage_.header();
  uint32_t running = 0;
  __atomic_compare_exchange_n(&header.stopped, &running, static_cast<uint32_t>(reason), false,
                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  bump_and_wake(header.chunk_futex);
}

void Service::wait_until_quiet() {
  uint64_t before = ~uint64_t{0};
  for (int i = 0; i < 20; ++i) {
    uint64_t now = live_bytes();
    if (now == before) return;
    before = now;
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace pastcone::record
