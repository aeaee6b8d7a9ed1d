#include "pastcone/replay/breakpoints.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "pastcone/patch/decoder.h"
#include "pastcone/patch/thread_abi.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/tracer.h"

namespace pastcone::replay {
namespace {

using patch::Flow;
using patch::Instruction;
using stage::Breakpoint;
using stage::BreakpointState;

constexpr uint64_t kJumpSize = 5;
constexpr size_t kMiddle = sizeof(Breakpoint::code) / 2;
constexpr int kStarts = 16;          // from how many places the code in front is decoded
constexpr uint8_t kNumbers[16] = {0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};  // as instructions count
constexpr uint8_t kRax = 0, kRcx = 1;

bool fits(int64_t distance) { return distance == static_cast<int32_t>(distance); }

/// The instructions, `before` bytes in front of `rip`, that make room for a jump; none if there are no such.
std::vector<Instruction> find_group(const Breakpoint& request, size_t before) {
  std::vector<Instruction> group;
  ByteView code(request.code, sizeof request.code);
  size_t at = kMiddle - before;
  bool falls_through = true;
  while (at - (kMiddle - before) < kJumpSize) {
    auto instruction = patch::decode(code.subspan(at, request.code_end - at), request.rip + (at - kMiddle));
    if (!instruction || (!falls_through && !instruction->is_padding)) return {};
    bool movable = instruction->is_movable && !instruction->is_site && instruction->flow != Flow::kOther &&
                   instruction->flow != Flow::kEnd;
    if (falls_through && !movable) return {};
    if (falls_through) group.push_back(*instruction);
    falls_through = falls_through && instruction->falls_through();
    at += instruction->length;
  }
  return group;
}

/// How long the instruction directly in front of `rip` is, if it is a comparison and nothing else can be there: from wherever one
/// begins to decode. 0: it is not.
size_t comparison_before(const Breakpoint& request) {
  ByteView code(request.code, sizeof request.code);
  size_t length = 0;
  for (int start = 0; start < kStarts; ++start) {
    std::optional<Instruction> last;
    size_t at = request.code_begin + static_cast<size_t>(start);
    while (at < kMiddle) {
      last = patch::decode(code.subspan(at, request.code_end - at), request.rip + (at - kMiddle));
      at += last ? last->length : 1;
    }
    bool compares = at == kMiddle && last && last->is_compare && (length == 0 || length == last->length);
    if (!compares) return 0;
    length = last->length;
  }
  return length;
}

/// Whether some jump nearby leads behind the first instruction of what is to be displaced. Where instructions begin in front
/// of it is not known, so they are looked for from several places; wrong starts come right after a few.
bool has_target_inside(const Breakpoint& request, uint64_t first, uint64_t last) {
  ByteView code(request.code, sizeof request.code);
  for (int start = 0; start < kStarts; ++start) {
    for (size_t at = request.code_begin + static_cast<size_t>(start); at < request.code_end;) {
      auto instruction =
          patch::decode(code.subspan(at, request.code_end - at), request.rip + (at - kMiddle));
      if (instruction && instruction->target >= first && instruction->target <= last) return true;
      at += instruction ? instruction->length : 1;
    }
  }
  return false;
}

/// Writes the stub. It leaves the flags alone, and the stack: what lies there unused may be among the words of a point.
class StubWriter {
 public:
  StubWriter(const Breakpoint& request, size_t before) : request_(request), before_(before) {}
  bool write(const std::vector<Instruction>& group);
  const std::vector<uint8_t>& code() const { return code_; }
  size_t hit() const { return hit_; }
  size_t resume() const { return resume_; }
  const stage::StubMap& map() const { return map_; }

 private:
  struct Condition {
    std::optional<uint8_t> number;  // a register, else
    uint64_t address;               // a word
    uint64_t value;
  };

  std::vector<Condition> conditions() const;
  uint64_t here() const { return request_.stub + code_.size(); }
  void put(std::initializer_list<uint8_t> bytes) { code_.insert(code_.end(), bytes); }
  template <typename T>
  void put_value(T value) {
    for (size_t i = 0; i < sizeof value; ++i) code_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void put_relative(uint64_t target) {
    auto distance = static_cast<int64_t>(target - (here() + 4));
    reachable_ = reachable_ && fits(distance);
    put_value(static_cast<int32_t>(distance));
  }
  void put_jump(uint64_t target) {
    put({0xe9});
    put_relative(target);
  }
  void save(uint8_t number, int32_t where) {  // mov %r,%gs:where
    put({0x65, 0x48, 0x89, static_cast<uint8_t>(0x04 | number << 3), 0x25});
    put_value(where);
  }
  void restore(uint8_t number, int32_t where) {  // mov %gs:where,%r
    put({0x65, 0x48, 0x8b, static_cast<uint8_t>(0x04 | number << 3), 0x25});
    put_value(where);
  }
  void load_constant(uint8_t number, uint64_t value) {  // movabs
    put({0x48, static_cast<uint8_t>(0xb8 | number)});
    put_value(value);
  }
  void load(const Condition& condition);
  void put_moved(const Instruction& instruction);
  void note_moved(uint64_t address);

  const Breakpoint& request_;
  const size_t before_;
  std::vector<uint8_t> code_;
  bool reachable_ = true;
  size_t hit_ = 0, resume_ = 0;
  stage::StubMap map_ = {};
};

std::vector<StubWriter::Condition> StubWriter::conditions() const {
  std::vector<Condition> result;
  for (size_t i = 0; i < 16; ++i) {
    if ((request_.compared >> i & 1) == 0) continue;
    Condition condition{kNumbers[i], 0, request_.registers[i]};
    // The first is compared most often, and easiest if it is not rcx.
    result.insert(kNumbers[i] == kRcx ? result.end() : result.begin(), condition);
  }
  for (size_t i = 0; i < request_.word_count && i < std::size(request_.words); ++i) {
    result.push_back({std::nullopt, request_.words[i].address, request_.words[i].value});
  }
  return result;
}

/// The thing to compare, into rcx.
void StubWriter::load(const Condition& condition) {
  if (!condition.number) {
    load_constant(kRcx, condition.address);
    put({0x48, 0x8b, 0x09});  // mov (%rcx),%rcx
  } else if (*condition.number == kRcx) {
    restore(kRcx, THREAD_SAVED_RCX);
  } else if (*condition.number == kRax) {
    restore(kRcx, THREAD_SAVED_RAX);
  } else {  // mov %r,%rcx
    uint8_t number = *condition.number;
    put({static_cast<uint8_t>(0x48 | (number >> 3) << 2), 0x89, static_cast<uint8_t>(0xc1 | (number & 7) << 3)});
  }
}

void StubWriter::put_moved(const Instruction& instruction) {
  if (instruction.flow == Flow::kJump) return put_jump(instruction.target);
  if (instruction.flow == Flow::kBranch) {
    put({0x0f, static_cast<uint8_t>(0x80 | instruction.condition)});
    return put_relative(instruction.target);
  }
  uint64_t new_end = here() + instruction.length;
  size_t at = code_.size();
  const uint8_t* bytes = request_.code + kMiddle + (instruction.address - request_.rip);
  code_.insert(code_.end(), bytes, bytes + instruction.length);
  if (instruction.displacement_at == 0) return;
  auto distance = static_cast<int64_t>(instruction.reference - new_end);
  reachable_ = reachable_ && fits(distance);
  auto displacement = static_cast<int32_t>(distance);
  std::memcpy(code_.data() + at + instruction.displacement_at, &displacement, sizeof displacement);
}

/// What comes next stands for the code there.
void StubWriter::note_moved(uint64_t address) {
  map_.instructions[map_.count++] = {static_cast<uint32_t>(code_.size()), static_cast<uint32_t>(address - map_.at)};
}

bool StubWriter::write(const std::vector<Instruction>& group) {
  std::vector<Condition> all = conditions();
  if (all.empty() || group.size() >= stage::StubMap::kMost) return false;
  map_.mark = stage::StubMap::kMark;
  map_.at = group.front().address;
  reachable_ = fits(static_cast<int64_t>(request_.stub - (request_.rip - before_ + kJumpSize)));
  save(kRcx, THREAD_SAVED_RCX);
  size_t next = 0;
  if (all[0].number && *all[0].number != kRcx) {
    uint8_t number = *all[0].number;
    load_constant(kRcx, -all[0].value);
    put({static_cast<uint8_t>(0x48 | number >> 3), 0x8d, 0x4c, static_cast<uint8_t>(0x08 | (number & 7)), 0});  // lea (%r,%rcx),%rcx
    next = 1;
    put({0xe3, 0});  // jrcxz on
  } else {
    put({0xeb, 0});  // jmp on
  }
  size_t skip = code_.size();
  uint64_t miss = here();
  restore(kRcx, THREAD_SAVED_RCX);
  uint64_t displaced = here();
  map_.moved = static_cast<uint32_t>(code_.size());
  for (const Instruction& instruction : group) {
    note_moved(instruction.address);
    if (instruction.address == request_.from) resume_ = code_.size();
    put_moved(instruction);
  }
  map_.left = static_cast<uint32_t>(code_.size());
  note_moved(group.back().end());
  if (group.back().falls_through()) put_jump(group.back().end());
  map_.end = static_cast<uint32_t>(code_.size());
  if (code_.size() - skip > 127) return false;
  code_[skip - 1] = static_cast<uint8_t>(code_.size() - skip);
  save(kRax, THREAD_SAVED_RAX);
  map_.rax_saved = static_cast<uint32_t>(code_.size());
  uint64_t over = here();  // a first jump over this, the way back for all misses below
  put({0xeb, 14});
  restore(kRax, THREAD_SAVED_RAX);
  put_jump(miss);
  for (; next < all.size(); ++next) {
    load(all[next]);
    load_constant(kRax, -all[next].value);
    put({0x48, 0x8d, 0x0c, 0x01});  // lea (%rcx,%rax),%rcx
    put({0xe3, 5});                 // jrcxz over the jump
    put_jump(over + 2);
  }
  restore(kRax, THREAD_SAVED_RAX);
  restore(kRcx, THREAD_SAVED_RCX);
  hit_ = code_.size();
  put({0xcc});
  put_jump(displaced);
  return reachable_ && code_.size() <= sizeof request_.bytes;
}

bool answer(Breakpoint& breakpoint, size_t before) {
  std::vector<Instruction> group = find_group(breakpoint, before);
  if (group.empty()) return false;
  uint64_t first = breakpoint.rip - before, second = group.front().end(), last = first + kJumpSize - 1;
  if (second <= last && has_target_inside(breakpoint, first + 1, group.back().end() - 1)) return false;
  StubWriter writer(breakpoint, before);
  if (!writer.write(group)) return false;
  std::memcpy(breakpoint.bytes, writer.code().data(), writer.code().size());
  breakpoint.map = writer.map();
  breakpoint.stub_size = static_cast<uint32_t>(writer.code().size());
  breakpoint.hit = static_cast<uint32_t>(writer.hit());
  breakpoint.resume = static_cast<uint32_t>(writer.resume());
  breakpoint.before = static_cast<uint32_t>(before);
  breakpoint.displaced = static_cast<uint32_t>(group.back().end() - first);
  return true;
}

/// Where there is no room at a conditional jump, there may be at the comparison that it depends on.
bool answer(Breakpoint& breakpoint) {
  if (answer(breakpoint, 0)) return true;
  size_t before = comparison_before(breakpoint);
  return before > 0 && answer(breakpoint, before);
}

}  // namespace

void serve_breakpoint(Breakpoint& breakpoint, Tracer* tracer) {
  if (record::load(breakpoint.state) != static_cast<uint32_t>(BreakpointState::kWanted)) return;
  auto thread = static_cast<pid_t>(breakpoint.lock);
  bool sound = breakpoint.code_begin <= kMiddle && breakpoint.code_end >= kMiddle && breakpoint.code_end <= sizeof breakpoint.code;
  if (tracer != nullptr && sound) {  // without its breakpoints, which the process itself sees
    uint64_t begin = breakpoint.rip - (kMiddle - breakpoint.code_begin);
    (void)tracer->read_for(thread, begin, breakpoint.code + breakpoint.code_begin, breakpoint.code_end - breakpoint.code_begin);
  }
  bool answered = sound && answer(breakpoint);
  uint64_t at = breakpoint.rip - breakpoint.before;
  if (!answered || (tracer != nullptr && tracer->has_break(thread, at, at + std::max<uint64_t>(breakpoint.displaced, kJumpSize))))
    breakpoint.displaced = 0;
  else if (tracer != nullptr)
    tracer->note_jump(thread, at, breakpoint.stub);
  record::bump_and_wake(breakpoint.state);  // kReady
}

}  // namespace pastcone::replay
