#include "where.h"

#include "call.h"
#include "growing_file.h"
#include "pastcone/patch/abi.h"
#include "text.h"

namespace pastcone::runtime {
namespace {

using stage::UnwindRow;
using stage::UnwindRule;
using stage::UnwindTable;

constexpr int kReadOnly = 0, kCloseOnExec = 02000000;

// --- code ---------------------------------------------------------------------------------------------------------------------

/// Code that is mapped. Threads that look need no lock: an entry is there before it is counted, and one that is used again has no
/// end meanwhile.
struct Code {
  u64 begin, end;  ///< end 0: something else lies there now
  u64 offset;
  u32 file;
  const UnwindTable* table;
};
Code codes[1024];
u32 code_count;
u32 code_changes;  ///< what was found before one of these does not count

const UnwindTable* open_table(u32 file) {
  for (u32 i = 0; i < code_count; ++i)
    if (codes[i].file == file) return codes[i].table;
  char path[320];
  Text(path, sizeof path) << g.stage.header().index_directory << "/unwind." << file;
  long fd = sys(__NR_open, path, kReadOnly | kCloseOnExec, 0);
  if (is_error(fd)) return nullptr;
  Stat s{};
  sys(__NR_fstat, fd, &s);
  auto* table = (const UnwindTable*)far_map((u64)s.size, kProtRead, kMapPrivate, (int)fd, 0);
  sys(__NR_close, fd);
  return table;
}

void add_code(const Code& code) {
  u32 at = 0;
  while (at < code_count && codes[at].end) ++at;
  if (at == sizeof codes / sizeof *codes) return;
  codes[at] = {code.begin, 0, code.offset, code.file, code.table};
  store(codes[at].end, code.end);
  if (at == code_count) store(code_count, at + 1);
  add(code_changes, 1u);
}

const Code* find_code(u64 pc) {
  for (u32 i = load(code_count); i-- > 0;)
    if (pc >= codes[i].begin && pc < load(codes[i].end)) return &codes[i];
  return nullptr;
}

/// The last row that begins at or before it; all zero: there is none.
UnwindRow find_row(const UnwindTable* table, u64 offset) {
  u32 low = 0, high = table ? table->count : 0;
  while (low < high) {
    u32 middle = (low + high) / 2;
    if (table->rows()[middle].begin <= offset) low = middle + 1;
    else high = middle;
  }
  return low ? table->rows()[low - 1] : UnwindRow{};
}

using Step = Whereabouts::Step;

/// What is known of a place in the code.
const Step& step_at(Whereabouts& w, u64 pc) {
  Step& step = w.steps[(pc ^ pc >> 10) % (sizeof w.steps / sizeof *w.steps)];
  u32 as_of = load(code_changes);
  if (step.pc == pc && step.as_of == as_of) return step;
  step = {pc, u64{stage::kNoFile} << stage::kPlaceFileAt | (pc & stage::kPlaceOffset), as_of, {}, 0};
  if (const Code* code = find_code(pc)) {
    u64 offset = pc - code->begin + code->offset;
    step.place = u64{code->file} << stage::kPlaceFileAt | (offset & stage::kPlaceOffset);
    step.row = find_row(code->table, offset);
    step.table_flags = code->table ? code->table->flags : 0;
  }
  return step;
}

// --- the stack ----------------------------------------------------------------------------------------------------------------

struct Position {
  u64 pc;  ///< inside the instruction
  u64 rsp, rbp;
};

constexpr u64 kLargestFrame = 64 << 20;

/// Two words, which are copied more quickly than one.
struct Pair {
  u64 low, high;
};

bool leave_signal(Position& at) {
  constexpr u64 kRbp = 120, kRsp = 160;  // in the kernel's frame; rip is behind rsp
  Pair pair;
  if (!read_memory(pair, at.rsp + kRbp)) return false;
  at.rbp = pair.low;
  if (!read_memory(pair, at.rsp + kRsp)) return false;
  at.rsp = pair.low;
  at.pc = pair.high;
  return true;
}

/// From a place to where its function was called; false: that is not known.
bool go_to_caller(const UnwindRow& row, Position& at) {
  u64 frame = 0;
  i64 saved_rbp = row.saved_rbp;
  Pair pair;
  switch (row.rule) {
    case UnwindRule::kStackPointer: frame = at.rsp + (u64)(i64)row.frame; break;
    case UnwindRule::kFramePointer: frame = at.rbp + (u64)(i64)row.frame; break;
    case UnwindRule::kBehindPointer:
      if (!read_memory(pair, at.rbp - 8)) return false;
      frame = pair.low;
      at.rbp = pair.high;
      saved_rbp = 0;
      break;
    case UnwindRule::kSignal: return leave_signal(at);
    case UnwindRule::kOutermost: return false;
    case UnwindRule::kNone:
      frame = at.rbp + 16;
      saved_rbp = -16;
      break;
  }
  if (frame <= at.rsp || frame - at.rsp > kLargestFrame || frame % 8 || !read_memory(pair, frame - 16)) return false;
  u64 caller = pair.high;
  at.rsp = frame;
  if (saved_rbp == -16) at.rbp = pair.low;
  else if (saved_rbp && read_memory(pair, frame + (u64)saved_rbp)) at.rbp = pair.low;
  at.pc = caller - 1;
  return caller;
}

/// Code that makes a call and is in no table is written by hand, and mostly has not touched the stack (clone, Go's system calls).
bool leave_leaf(Position& at) {
  Pair pair;
  if (!read_memory(pair, at.rsp) || !find_code(pair.low - 1)) return false;
  at = {pair.low - 1, at.rsp + 8, at.rbp};
  return true;
}

u32 walk(Whereabouts& w, Position at, u64* places) {
  u32 count = 0, sources = 0;
  do {
    const Step& step = step_at(w, at.pc);
    places[count++] = step.place;
    u32 enough = step.table_flags & stage::kTableStatic ? stage::kStaticPlaces : 1;
    if ((step.table_flags & stage::kTableEnough) && count >= enough) break;
    if ((step.row.flags & stage::kRowSource) && ++sources == stage::kMostSources) break;
    if (count == 1 && step.row.rule == UnwindRule::kNone && leave_leaf(at)) continue;
    if (!go_to_caller(step.row, at)) break;
  } while (count < stage::kMostPlaces);
  return count;
}

// --- the file -----------------------------------------------------------------------------------------------------------------

/// Room at the end of the thread's file, behind the words that are there.
bool open_window(Thread& t) {
  Whereabouts& w = t.where;
  char* window = map_window(t, ".where", stage::kWhereWindow, !w.end);
  if (!window) return false;
  close_where(t);
  w.next = (u64*)window;
  w.end = (u64*)(window + stage::kWhereWindow);
  while (w.next < w.end && *w.next) ++w.next;
  return w.next < w.end || open_window(t);
}

void write(Thread& t, u64 word) {
  Whereabouts& w = t.where;
  if (w.next < w.end || open_window(t)) *w.next++ = word;
}

u32 number_of(Thread& t, const u64* places, u32 count) {
  u64 hash = count;
  for (u32 i = 0; i < count; ++i) hash = (hash ^ places[i]) * 0x9e3779b97f4a7c15 ^ hash >> 29;
  Whereabouts& w = t.where;
  auto& chain = w.chains[(hash ^ hash >> 32) % (sizeof w.chains / sizeof *w.chains)];
  if (chain.number && chain.hash == hash) return chain.number;
  w.last_chain = w.last_chain == stage::kWhereChainMask ? 1 : w.last_chain + 1;
  chain = {hash, w.last_chain};
  write(t, stage::kWhereChain | u64{w.last_chain} << stage::kWhereNumberAt | count);
  for (u32 i = 0; i < count; ++i) write(t, places[i]);
  return w.last_chain;
}

void write_event(Thread& t, u64 event) {
  write(t, stage::kWhereEvent | u64{t.where.chain} << stage::kWhereChainAt | (event & stage::kWhereEventMask));
}

}  // namespace

void note_code(u64 address, u64 length, u64 offset, u32 file) {
  if (!is_located()) return;
  if (!code_count)
    add_code({patch::kRuntimeBase, page_up((u64)runtime_text_end), 0, stage::kRuntimeFile, open_table(stage::kRuntimeFile)});
  for (u32 i = 0; i < code_count; ++i)
    if (codes[i].begin < address + length && address < codes[i].end) store(codes[i].end, u64{0});
  add_code({address, address + length, offset, file, open_table(file)});
}

void note_place(Thread& t, const Frame& frame) {
  u64 places[stage::kMostPlaces];
  // A call is left behind its instruction.
  Position at{frame.full ? frame.rip : frame.rip - 1, frame.rsp, frame.rbp};
  t.where.chain = number_of(t, places, walk(t.where, at, places));
  write_event(t, t.log.event_count + 1);
}

void note_same_place(Thread& t, u64 event) {
  if (t.where.chain)
    while (event < t.log.event_count) write_event(t, ++event);
  t.where.chain = 0;
}

void open_where(Thread& t) {
  if (!is_located()) return;
  close_where(t);
  memset(&t.where.chains, 0, sizeof t.where.chains);
  t.where.last_chain = t.where.chain = 0;
}

void close_where(Thread& t) {
  Whereabouts& w = t.where;
  if (w.end) far_unmap((char*)w.end - stage::kWhereWindow, stage::kWhereWindow);
  w.next = w.end = nullptr;
}

}  // namespace pastcone::runtime
