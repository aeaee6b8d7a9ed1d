#include "pastcone/debug/question.h"

#include <algorithm>
#include <csignal>

#include "pastcone/debug/function_arguments.h"
#include "pastcone/gdb/translate.h"
#include "pastcone/replay/emulate.h"
#include "pastcone/replay/operands.h"

namespace pastcone::debug {
namespace {

using replay::Operands;

constexpr uint64_t kMostSteps = 3'000'000, kOften = 4096;
constexpr uint64_t kLargestStack = 64 << 20, kRedZone = 128, kDirectionFlag = 0x400;
/// Nothing but what the processor says of an instruction reaches a function that is called.
constexpr uint64_t kAllButFaults =
    ~(uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1) | uint64_t{1} << (SIGFPE - 1) |
      uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGTRAP - 1));
// Below a thread's part of the runtime is its stack (src/runtime/thread.h), whose far end is not used.
constexpr uint64_t kScratchBelow = 320 << 10, kScratchSize = 64 << 10;

bool jumps_by_register(std::span<const uint8_t> code) {
  size_t at = 0;
  for (unsigned prefix : {0xf2u, 0x41u})
    if (at < code.size() && code[at] == prefix) ++at;
  return at + 1 < code.size() && code[at] == 0xff && (code[at + 1] & 0xf8) == 0xe0;
}

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
  run_.tracer().set_seen(tid, seen_);
  (void)run_.tracer().set_signal_mask(tid, signals_);
  run_.set_way(thread_, way_);
}

Result<std::string> Question::with_strings(const std::string& expression) {
  std::string out;
  for (const gdb::Token& token : gdb::tokens_of(expression)) {
    out += token.space;
    auto text = token.kind == gdb::Token::Kind::kString ? gdb::string_value(token.text) : std::nullopt;
    if (!text) {
      out += token.text;
      continue;
    }
    out += fmt::format("((char*){:#x})", TRY(put(*text)));
  }
  return out;
}

/// A string into the memory of the process.
Result<uint64_t> Question::put(const std::string& text) {
  if (scratch_used_ + text.size() >= kScratchSize) return fail("a string is too long");
  uint64_t address = scratch_ + scratch_used_;
  TRY_STATUS(write(address, {reinterpret_cast<const uint8_t*>(text.c_str()), text.size() + 1}));
  scratch_used_ += text.size() + 1;
  return address;
}

Status Question::place(const gdb::FunctionCall& call, gdb::Registers& registers) {
  user_regs_struct& general = registers.general;
  TRY_STATUS(place_arguments(call, general, reinterpret_cast<uint8_t*>(registers.floating.xmm_space),
                             [this](const std::string& text) { return put(text); }));
  // It returns to where no code is.
  general.rsp = ((general.rsp - kRedZone) & ~uint64_t{15}) - sizeof(uint64_t);
  uint64_t back = general.rsp;
  TRY_STATUS(write(general.rsp, {reinterpret_cast<const uint8_t*>(&back), sizeof back}));
  breaks_ = {back};
  general.rip = call.function;
  general.eflags &= ~uint64_t{kDirectionFlag};
  return {};
}

Result<gdb::Number> Question::call(const gdb::FunctionCall& call, const std::function<bool()>& interrupted) {
  if (!failure_.empty()) return fail("{}", failure_);
  if (!start_) start_ = TRY(registers());
  gdb::Registers all = *start_;
  TRY_STATUS(place(call, all));
  TRY_STATUS(set_registers(all));
  if (!follow(interrupted)) return fail("{}", failure_);
  user_regs_struct after = TRY(run_.real_registers(thread_));
  if (!call.result.is_floating()) return gdb::integer_number(static_cast<int64_t>(after.rax), call.result);
  user_fpregs_struct floating = TRY(run_.tracer().float_registers(run_.tid(thread_)));
  return gdb::floating_number(reinterpret_cast<const uint8_t*>(floating.xmm_space), call.result);
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
  signals_ = TRY(run_.tracer().signal_mask(tid));
  TRY_STATUS(run_.tracer().set_signal_mask(tid, kAllButFaults));
  seen_ = run_.tracer().has_seen(tid);
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
  bool literal = address - scratch_ < kScratchSize;
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
  return stack_ != 0 && address >= lowest_ && address <= stack_;
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
  now_ = *start;
  stack_ = lowest_ = start->rsp;
  called_ = true;
  bool there = false;
  while (!there && step()) {
    there = breaks_.contains(now_.rip);
    if (++steps_ % kOften == 0 && interrupted()) {
      fail_with("interrupted");
      break;
    }
    if (steps_ >= kMostSteps) {
      fail_with(fmt::format("a function that is called takes more than {} instructions", kMostSteps));
      break;
    }
  }
  if (there && !show_registers()) there = false;
  stack_ = 0;
  return there;
}

/// The thread gets those that it has come to without the processor.
bool Question::show_registers() {
  if (!std::exchange(ahead_, false)) return true;
  return run_.tracer().set_registers(run_.tid(thread_), now_) ||
         fail_with("the process has ended in a function that was called");
}

/// One instruction, by the processor only if need be.
bool Question::execute(std::span<const uint8_t> code) {
  replay::EmulationBounds bounds;
  bounds.process = run_.pid(thread_.process());
  bounds.alone = bounds.called = true;
  if (replay::emulate(code, now_, bounds)) {
    ahead_ = true;
    return true;
  }
  if (!show_registers()) return false;
  switch (run_.tracer().try_step(run_.tid(thread_))) {
    case replay::Tracer::Tried::kDone:
      break;
    case replay::Tracer::Tried::kFaulted:
      return crash("a function that is called crashes");
    case replay::Tracer::Tried::kEnded:
      return fail_with("the process has ended in a function that was called");
  }
  auto after = run_.real_registers(thread_);
  if (!after) return fail_with("the process has ended in a function that was called");
  now_ = *after;
  return true;
}

/// The bytes at the next instruction, as far as there are any.
std::span<const uint8_t> Question::next_code() {
  constexpr size_t kPage = 4096, kLongest = 15;
  uint64_t begin = now_.rip & ~uint64_t{kPage - 1};
  auto [page, is_new] = code_.try_emplace(begin);
  pid_t process = run_.pid(thread_.process());
  if (is_new) {
    page->second.resize(kPage + kLongest);
    while (!page->second.empty() &&
           !run_.tracer().read(process, begin, page->second.data(), page->second.size()))
      page->second.resize(page->second.size() > kPage ? kPage : 0);
  }
  const std::vector<uint8_t>& bytes = page->second;
  size_t at = now_.rip - begin;
  if (at >= bytes.size()) return {};
  return std::span(bytes).subspan(at, std::min(kLongest, bytes.size() - at));
}

/// The loader goes on to the function that it was called for by a jump, before which it takes its own two words from the stack.
void Question::note_binding() {
  if (!search_) {
    if (!loader_.is_here()) return;
    Search search{now_.rsp, {}, false};
    if (run_.tracer().read(run_.pid(thread_.process()), now_.rsp, search.what.data(), kBindingSize)) search_ = search;
    return;
  }
  if (search_->jumps) bindings_[search_->what] = now_.rip;
  bool goes_on = !search_->jumps && now_.rsp == search_->stack + kBindingSize && jumps_by_register(next_code());
  if (goes_on)
    search_->jumps = true;
  else if (now_.rsp > search_->stack)
    search_.reset();
}

bool Question::step() {
  if (in_runtime(now_.rip))
    return fail_with(
        "a function that is called would do something that is recorded (a system call, a lock, memory from "
        "malloc): only pure functions can be called");
  // Other memory may lie not far below the stack of a thread.
  if (now_.rsp <= stack_ && stack_ - now_.rsp <= kLargestStack)
    lowest_ = std::min<uint64_t>(lowest_, now_.rsp - kRedZone);
  note_binding();
  pid_t process = run_.pid(thread_.process());
  std::span<const uint8_t> code = next_code();
  if (code.empty()) return crash("a function that is called crashes");
  Operands operands = replay::operands_of(code, now_);
  if (operands.leaves)
    return fail_with(
        "a function that is called makes a system call or a trap: only pure functions can be called");
  loader_.note(code);
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
    bool literal = one.address - scratch_ < kScratchSize;
    if (!literal && !search_)
      reads_.emplace_back(one.address, static_cast<uint32_t>(bytes.size()));
    if (operands.divides) by_zero = std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
    outside.push_back({one.address, std::move(bytes)});
  }
  if (by_zero) return crash("a function that is called divides by zero");
  if (!execute(code)) return false;
  for (Before& before : outside) {
    std::vector<uint8_t> after(before.bytes.size());
    run_.tracer().read(process, before.address, after.data(), after.size());
    if (after != before.bytes) memory_.emplace_back(before.address, std::move(before.bytes));
  }
  return true;
}

}  // namespace pastcone::debug
