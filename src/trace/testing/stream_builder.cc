#include "pastcone/trace/testing/stream_builder.h"

#include <algorithm>
#include <iterator>

namespace pastcone::trace_testing {

using format::Op;
using format::Shape;

constexpr uint8_t kCheck = 0xc5;
constexpr uint64_t kHash = 0x0123456789abcdef;

void StreamBuilder::begin(Op op) { item_.u8(static_cast<uint8_t>(op)); }

void StreamBuilder::begin_call(uint32_t call, Shape shape) {
  for (size_t i = 0; i < format::kFrequentCount; ++i) {
    if (format::kFrequent[i].number != call || format::kFrequent[i].shape != shape) continue;
    item_.u8(static_cast<uint8_t>(static_cast<size_t>(Op::kFirstCall) + i));
    return;
  }
  begin(Op::kCall);
  item_.varint(call);
  item_.u8(static_cast<uint8_t>(shape));
}

void StreamBuilder::payload(std::string_view bytes) {
  item_.varint(bytes.size());
  while (!bytes.empty()) {
    if (data_parts_.empty() || data_parts_.back().bytes.size() == room_) data_parts_.push_back({{}, events_});
    Bytes& part = data_parts_.back().bytes;
    size_t count = std::min<size_t>(bytes.size(), room_ - part.size());
    part.insert(part.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
    bytes.remove_prefix(count);
  }
}

void StreamBuilder::delta(int64_t& last, int64_t now) {
  item_.zigzag(now - last);
  last = now;
}

StreamBuilder& StreamBuilder::end(bool event) {
  Bytes bytes = item_.take();
  if (events_parts_.empty() || events_parts_.back().bytes.size() + bytes.size() > room_) {
    events_parts_.push_back({{}, events_});
  }
  Bytes& part = events_parts_.back().bytes;
  part.insert(part.end(), bytes.begin(), bytes.end());
  if (event) ++events_;
  return *this;
}

StreamBuilder& StreamBuilder::start(uint32_t pid, uint32_t tid, EventId parent, uint8_t flags,
                                    int64_t time_ns) {
  begin(Op::kStart);
  item_.varint(pid);
  item_.varint(tid);
  item_.varint(parent.process().number());
  item_.varint(parent.thread().number());
  item_.varint(parent.index());
  item_.u8(flags);
  item_.varint(static_cast<uint64_t>(time_ns));
  return end();
}

StreamBuilder& StreamBuilder::exec(const ProgramImage& image) {
  begin(Op::kExec);
  Bytes bytes = image.to_payload();
  payload(as_text(bytes));
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::exec(const std::vector<std::string>& arguments) {
  ProgramImage image;
  image.path = image.name = arguments.at(0);
  image.cwd = "/tmp";
  image.arguments = arguments;
  image.environment = {"PATH=/bin", "HOME=/root"};
  image.auxiliary = {{6, 4096}, {0, 0}};
  return exec(image);
}

StreamBuilder& StreamBuilder::result(uint32_t call, int64_t value) {
  begin_call(call, Shape::kResult);
  item_.zigzag(value);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::out(uint32_t call, int64_t value, std::string_view bytes) {
  begin_call(call, Shape::kOut);
  item_.zigzag(value);
  payload(bytes);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::send(uint32_t call, uint64_t channel, uint64_t length) {
  begin_call(call, Shape::kSend);
  item_.varint(channel);
  item_.varint(length);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::receive(uint32_t call, uint64_t channel, int64_t value) {
  begin_call(call, Shape::kReceive);
  item_.varint(channel);
  item_.zigzag(value);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::read_file(uint32_t call, uint64_t file, uint64_t position, int64_t value) {
  begin_call(call, Shape::kFile);
  item_.varint(file);
  item_.varint(position);
  item_.zigzag(value);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::create(uint32_t call, int64_t value, ThreadId created) {
  begin_call(call, Shape::kCreate);
  item_.zigzag(value);
  item_.varint(created.process().number());
  item_.varint(created.number());
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::address(uint32_t call, uint64_t value, uint64_t file, bool patched) {
  begin_call(call, Shape::kAddress);
  item_.varint(value);
  item_.varint(file * 2 + (patched ? 1 : 0));
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::message(uint32_t call, uint64_t channel, int64_t value,
                                      std::string_view bytes) {
  begin_call(call, Shape::kMessage);
  item_.varint(channel);
  item_.zigzag(value);
  payload(bytes);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::open(uint32_t call, std::optional<uint64_t> channel, int64_t value,
                                   std::string_view bytes) {
  begin_call(call, Shape::kOpen);
  item_.varint(channel ? *channel + 1 : 0);
  item_.zigzag(value);
  payload(bytes);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::correct(int64_t value) {
  begin(Op::kCorrect);
  item_.zigzag(value);
  return end(false);
}

StreamBuilder& StreamBuilder::realtime(int64_t ns) {
  begin(Op::kRealtime);
  delta(clocks_[0], ns);
  return end();
}

StreamBuilder& StreamBuilder::monotonic(int64_t ns) {
  begin(Op::kMonotonic);
  delta(clocks_[1], ns);
  return end();
}

StreamBuilder& StreamBuilder::clock(uint64_t id, int64_t ns) {
  begin(Op::kClock);
  item_.varint(id);
  delta(clocks_[id], ns);
  return end();
}

StreamBuilder& StreamBuilder::time_of_day(int64_t us) {
  begin(Op::kTimeOfDay);
  delta(time_of_day_, us);
  return end();
}

StreamBuilder& StreamBuilder::time(int64_t seconds) {
  begin(Op::kTime);
  delta(time_, seconds);
  return end();
}

StreamBuilder& StreamBuilder::tsc(int64_t ticks, uint64_t aux) {
  begin(Op::kTsc);
  delta(tsc_, ticks);
  item_.varint(aux);
  return end();
}

StreamBuilder& StreamBuilder::random(uint64_t value, bool carry) {
  begin(Op::kRandom);
  item_.varint(value);
  item_.u8(carry ? 1 : 0);
  return end();
}

StreamBuilder& StreamBuilder::signal(Op op, uint32_t signal, std::string_view siginfo) {
  begin(op);
  item_.varint(signal);
  payload(siginfo);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::async(const format::AsyncPoint& point) {
  begin(Op::kAsync);
  payload(std::string_view(reinterpret_cast<const char*>(&point), sizeof point));
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::turn(Op op, uint64_t group, uint64_t number) {
  begin(op);
  item_.varint(group);
  item_.varint(number);
  return end(false);
}

StreamBuilder& StreamBuilder::file(uint64_t id, std::string_view path) {
  begin(Op::kFile);
  item_.varint(id);
  payload(path);
  return end(false);
}

StreamBuilder& StreamBuilder::output(uint8_t fd, uint64_t order, uint64_t position) {
  begin(Op::kOutput);
  item_.u8(fd);
  item_.varint(order);
  item_.varint(position);
  return end(false);
}

StreamBuilder& StreamBuilder::offset(uint64_t position) {
  begin(Op::kOffset);
  item_.varint(position);
  return end(false);
}

StreamBuilder& StreamBuilder::thread_exit(int64_t code) {
  begin(Op::kThreadExit);
  item_.zigzag(code);
  item_.u8(kCheck);
  return end();
}

StreamBuilder& StreamBuilder::exit_group(int64_t status) {
  begin(Op::kExitGroup);
  item_.zigzag(status);
  item_.u64(kHash);
  return end();
}

StreamBuilder& StreamBuilder::fatal(uint32_t signal) {
  begin(Op::kFatal);
  item_.varint(signal);
  item_.u64(kHash);
  return end();
}

StreamBuilder& StreamBuilder::stop(format::StopReason reason, std::string_view text) {
  begin(Op::kStop);
  item_.varint(static_cast<uint64_t>(reason));
  payload(text);
  return end();
}

StreamBuilder& StreamBuilder::raw(ByteView bytes) {
  item_.bytes(bytes);
  return end();
}

std::vector<BuiltChunk> StreamBuilder::chunks(bool ended) const {
  std::vector<BuiltChunk> built;
  for (auto stream : {format::Stream::kEvents, format::Stream::kData}) {
    const auto& parts = stream == format::Stream::kEvents ? events_parts_ : data_parts_;
    for (size_t i = 0; i < parts.size(); ++i) {
      bool last = i + 1 == parts.size();
      format::ChunkHeader header{};
      header.magic = format::kChunkMagic;
      header.version = format::kVersion;
      header.stream = static_cast<uint8_t>(stream);
      header.flags = !last ? format::kChunkClosed : ended ? format::kChunkClosed | format::kChunkLast : 0;
      header.process = thread_.process().number();
      header.thread = thread_.number();
      header.sequence = static_cast<uint32_t>(i);
      header.used = static_cast<uint32_t>(parts[i].bytes.size());
      header.first_event = parts[i].first_event;
      built.push_back({header, parts[i].bytes});
    }
  }
  return built;
}

StreamBuilder every_item(ThreadId thread, uint32_t room) {
  constexpr int64_t kNow = 1'700'000'000'123'456'789;
  StreamBuilder stream(thread, room);
  stream.start(4711, 4711, EventId(), format::kStartProcess | format::kStartRoot, kNow)
      .file(1, "/usr/bin/tool")
      .exec({"/usr/bin/tool", "--flag", "argument with spaces"})
      .result(3, 0)
      .result(9999, -38)
      .out(0, 5, "hello")
      .out(61, -10, "")
      .turn(Op::kTurn, 1, 7)
      .offset(100)
      .send(1, 12, 45)
      .correct(-11)
      .output(1, 3, 77)
      .turn(Op::kOrder, 4, 17)
      .send(44, 12, 4096)
      .turn(Op::kTurnAfter, 1, 9)
      .receive(0, 13, 45)
      .receive(47, 13, -104)
      .file(3, "/etc/hosts")
      .read_file(0, 3, 4096, 200)
      .create(56, 4712, ThreadId(thread.process(), 2))
      .create(57, 4713, ThreadId(ProcessId(2), 1))
      .address(9, 0x7ffff7a00000, 3, true)
      .address(12, 0x555555600000, 0)
      .address(9, static_cast<uint64_t>(-12), 0)
      .message(47, 13, 45, "address")
      .open(288, 14, 5, "peer")
      .open(293, std::nullopt, -24, "")
      .realtime(kNow + 10)
      .realtime(kNow + 5)
      .monotonic(123'456'789'012)
      .clock(7, 42)
      .clock(1, 123'456'789'100)
      .clock(0xfffffffe, 99)
      .time_of_day(kNow / 1000)
      .time(kNow / 1'000'000'000)
      .tsc(1'000'000'000'000, 3)
      .random(UINT64_MAX, true)
      .async({})
      .signal(Op::kSignal, 15, std::string(128, 's'))
      .signal(Op::kFault, 11, std::string(128, 'f'))
      .exec({"/bin/sh", "-c", "true"})
      .stop(format::StopReason::kUnsupportedCall, "io_uring_setup")
      .thread_exit(3)
      .fatal(6)
      .exit_group(2);
  return stream;
}

}  // namespace pastcone::trace_testing
