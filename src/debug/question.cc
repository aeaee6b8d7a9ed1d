#include "pastcone/debug/question.h"

#include <algorithm>

#include "pastcone/gdb/translate.h"
#include "pastcone/replay/operands.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::debug {
namespace {

using replay::Operands;
using replay::TraceStop;

constexpr uint64_t kMostSteps = 3'000'000, kOften = 4096;
constexpr uint64_t kLargestStack = 64 << 20, kRedZone = 128;
// Below a thread's part of the runtime is its stack (src/runtime/thread.h), whose far end is not used.
constexpr uint64_t kScratchBelow = 320 << 10, kScratchSize = 64 << 10;

}  // namespace

Question::Question(Incarnation& run, ThreadId thread, const user_regs_struct* as)
    : run_(run), thread_(thread), way_(run.way(thread)) {
  if (as != nullptr) shown_ = *as;
  if (auto now = run.real_registers(thread)) scratch_ = now->gs_base - kScratchBelow;
  if (auto now = run.registers(thread)) bottom_ = (as != nullptr ? as->rsp : now->rsp) - kRedZone;
}

Question::~Question() {
  pid_t process = run_.pid(thread_.process()), tid = run_.tid(thread_);
  if (process == 0 || tid == 0) return;
  std::ranges::reverse(memory_);
  for (const auto& [address, bytes] : memory_)
    run_.tracer().write(process, address, bytes.data(), bytes.size());
  if (!registers_) return;
  (void)run_.tracer().set_extended_state(tid, extended_);
  (void)run_.tracer().set_registers(tid, *registers_);
  run_.set_way(thread_, way_);
}

Result<std::string> Question::with_strings(const std::string& expression) {
  std::string out;
  uint64_t end = scratch_ + kScratchSize;
  for (const gdb::Token& token : gdb::tokens_of(expression)) {
    out += token.space;
    auto text = token.kind == gdb::Token::Kind::kString ? gdb::string_value(token.text) : std::nullopt;
    if (!text) {
      out += token.text;
      continue;
    }
    if (scratch_ + text->size() >= end) return fail("a string is too long");
    TRY_STATUS(write(scratch_, {reinterpret_cast<const uint8_t*>(text->c_str()), text->size() + 1}));
    out += fmt::format("((char*){:#x})", scratch_);
    scratch_ += text->size() + 1;
  }
  return out;
}

Result<gdb::Registers> Question::registers() {
  gdb::Registers all;
  all.general = shown_ ? *shown_ : TRY(run_.registers(thread_));
  all.floating = TRY(run_.tracer().float_registers(run_.tid(thread_)));
  return all;
}

Status Question::save() {
  if (registers_) return {};
  pid_t tid = run_.tid(thread_);
  user_regs_struct now = TRY(run_.real_registers(thread_));
  extended_ = TRY(run_.tracer().extended_state(tid));
  registers_ = now;
  // Functions that are shown as if they had not called others have those others' frames below them.
  uint64_t shown = shown_ ? shown_->rsp : 0, live = now.rsp - kRedZone;
  if (shown <= live || shown - live > kLargestStack || in_runtime(now.rip)) return {};
  std::vector<uint8_t> bytes(shown - live);
  if (!run_.tracer().read(run_.pid(thread_.process()), live, bytes.data(), bytes.size()))
    return fail("the stack of {} cannot be read", thread_);
  memory_.emplace_back(live, std::move(bytes));
  return {};
}

Status Question::set_registers(const gdb::Registers& registers) {
  if (!failure_.empty()) return {};  // gdb tidies up; so do we
  TRY_STATUS(save());
  shown_.reset();
  user_regs_struct general = registers.general;
  general.orig_rax = UINT64_MAX;  // it goes there, whatever call it is in
  pid_t tid = run_.tid(thread_);
  TRY_STATUS(run_.tracer().set_registers(tid, general));
  return run_.tracer().set_float_registers(tid, registers.floating);
}

void Question::note_read(uint64_t address, size_t size) {
  bool literal = scratch_ - address < kScratchSize;
  bool below_stack = bottom_ - address - 1 < kScratchSize;  // gdb looks at what it has put there
  if (!literal && !below_stack && !is_own_stack(address))
    reads_.emplace_back(address, static_cast<uint32_t>(size));
}

Status Question::write(uint64_t address, ByteView bytes) {
  pid_t process = run_.pid(thread_.process());
  std::vector<uint8_t> before(bytes.size());
  if (!run_.tracer().read(process, address, before.data(), before.size()) ||
      !run_.tracer().write(process, address, bytes.data(), bytes.size()))
    return fail("there is no memory at {:#x}", address);
  memory_.emplace_back(address, std::move(before));
  return {};
}

bool Question::is_own_stack(uint64_t address) const {
  return stack_ != 0 && stack_ - address <= kLargestStack;
}

bool Question::fail_with(std::string reason) {
  if (failure_.empty()) failure_ = std::move(reason);
  return false;
}

bool Question::crash(std::string reason) {
  crashed_ = true;
  return fail_with(std::move(reason));
}

bool Question::follow(const std::function<bool()>& interrupted) {
  auto start = run_.real_registers(thread_);
  if (!start) return fail_with(start.error().message);
  stack_ = start->rsp;
  called_ = true;
  auto filter = std::move(run_.filter);
  run_.filter = [&](const TraceStop& stop, ThreadId by, bool inside) {  // others go on meanwhile
    return by.process() != thread_.process() && filter && filter(stop, by, inside);
  };
  bool there = false;
  while (!there && step()) {
    auto now = run_.real_registers(thread_);
    there = now && breaks_.contains(now->rip);
    if (!now) fail_with("the process has ended in a function that was called");
    if (!now) break;
    if (++steps_ % kOften == 0 && interrupted()) {
      fail_with("interrupted");
      break;
    }
    if (steps_ >= kMostSteps) {
      fail_with(fmt::format("a function that is called takes more than {} instructions", kMostSteps));
      break;
    }
  }
  run_.filter = std::move(filter);
  stack_ = 0;
  return there;
}

bool Question::in_loader(uint64_t address) {
  if (loader_.empty()) {
    loader_.emplace_back(0, 0);
    auto maps = read_file(fmt::format("/proc/{}/maps", run_.pid(thread_.process())));
    for (const symbols::Mapping& one : symbols::parse_mappings(maps ? *maps : ""))
      if (one.executable && one.file.filename().native().starts_with("ld-"))
        loader_.emplace_back(one.start, one.end);
  }
  return std::ranges::any_of(loader_,
                             [&](const auto& one) { return address >= one.first && address < one.second; });
}

bool Question::step() {
  constexpr size_t kPage = 4096, kLongest = 15;
  auto now = run_.real_registers(thread_);
  if (!now) return fail_with(now.error().message);
  if (in_runtime(now->rip))
    return fail_with(
        "a function that is called would do something that is recorded (a system call, a lock, memory from "
        "malloc): only pure functions can be called");
  pid_t process = run_.pid(thread_.process());
  uint8_t code[kLongest];
  size_t size = kLongest;
  if (!run_.tracer().read(process, now->rip, code, size)) {
    size = std::min<size_t>(kLongest, kPage - now->rip % kPage);
    if (!run_.tracer().read(process, now->rip, code, size)) return crash("a function that is called crashes");
  }
  Operands operands = replay::operands_of({code, size}, *now);
  if (operands.leaves)
    return fail_with(
        "a function that is called makes a system call or a trap: only pure functions can be called");
  if (!operands.known) return fail_with("a function that is called has an instruction that is not known");
  bool by_zero = operands.divisor == 0u;
  struct Before {
    uint64_t address;
    std::vector<uint8_t> bytes;
  };
  std::vector<Before> outside;
  for (const Operands::Memory& one : operands.memory) {
    if (is_own_stack(one.address)) continue;
    std::vector<uint8_t> bytes(one.size);
    // It may be larger here than it is.
    while (!bytes.empty() && !run_.tracer().read(process, one.address, bytes.data(), bytes.size()))
      bytes.resize(bytes.size() / 2);
    if (bytes.empty()) {
      reads_.emplace_back(one.address, 1);
      return crash("a function that is called crashes");
    }
    if (!in_loader(now->rip)) reads_.emplace_back(one.address, static_cast<uint32_t>(bytes.size()));
    if (operands.divides) by_zero = std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
    outside.push_back({one.address, std::move(bytes)});
  }
  if (by_zero) return crash("a function that is called divides by zero");
  if (!run_.step_once(thread_)) return fail_with("the process has ended in a function that was called");
  for (Before& before : outside) {
    std::vector<uint8_t> after(before.bytes.size());
    run_.tracer().read(process, before.address, after.data(), after.size());
    if (after != before.bytes) memory_.emplace_back(before.address, std::move(before.bytes));
  }
  return true;
}

}  // namespace pastcone::debug
