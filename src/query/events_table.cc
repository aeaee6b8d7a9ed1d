#include <string.h>

#include <map>

#include "pastcone/query/selection.h"
#include "pastcone/query/tables.h"
#include "pastcone/trace/event_reader.h"

namespace pastcone::query {
namespace {

using format::Op;
using format::Shape;

enum Column : int {
  kEvent,
  kProcess,
  kThread,
  kNumber,
  kKind,
  kCall,
  kShape,
  kResult,
  kError,
  kChannel,
  kLength,
  kFile,
  kPath,
  kPosition,
  kCreated,
  kSignal,
  kClock,
  kTime,
  kPayload,
  kLocation,
};

constexpr bool kSeek = true, kFew = true, kHidden = true;
constexpr ColumnInfo kColumns[] = {{"event", "TEXT", kSeek},
                                   {"process", "TEXT", kSeek, kFew},
                                   {"thread", "TEXT", kSeek, kFew},
                                   {"number", "INTEGER", kSeek},
                                   {"kind", "TEXT", !kSeek, kFew},
                                   {"call", "INTEGER", !kSeek, kFew},
                                   {"shape", "TEXT", !kSeek, kFew},
                                   {"result", "INTEGER"},
                                   {"error", "TEXT", !kSeek, kFew},
                                   {"channel", "INTEGER", !kSeek, kFew},
                                   {"length", "INTEGER"},
                                   {"file", "INTEGER", !kSeek, kFew},
                                   {"path", "TEXT", !kSeek, kFew},
                                   {"position", "INTEGER"},
                                   {"created", "TEXT"},
                                   {"signal", "INTEGER", !kSeek, kFew},
                                   {"clock", "INTEGER", !kSeek, kFew},
                                   {"time_ns", "INTEGER"},
                                   {"payload_bytes", "INTEGER"},
                                   {"location", "TEXT", !kSeek, kFew, kHidden}};

constexpr Selection::Columns kSelecting{kEvent, kProcess, kThread, kNumber};

bool has_result(const Item& item) {
  return item.op == Op::kCall || item.op == Op::kThreadExit || item.op == Op::kExitGroup;
}

void put_error(const Item& item, Cell& cell) {
  if (item.op != Op::kCall || item.result >= 0 || item.result < -4095) return;
  if (const char* name = strerrorname_np(static_cast<int>(-item.result))) cell.constant(name);
}

void put_channel(const Item& item, Cell& cell) {
  if (item.op != Op::kCall) return;
  if (item.shape == Shape::kSend || item.shape == Shape::kReceive || item.shape == Shape::kMessage)
    cell.natural(item.channel);
  if (item.shape == Shape::kOpen && item.channel != 0) cell.natural(item.channel - 1);
}

/// In ns, whatever the call gives. Ticks are no time.
void put_time(const Item& item, Cell& cell) {
  int64_t unit = 1, ns = 0;
  switch (item.op) {
    case Op::kStart:
    case Op::kClock:
    case Op::kRealtime:
    case Op::kMonotonic:
      break;
    case Op::kTimeOfDay:
      unit = 1'000;
      break;
    case Op::kTime:
      unit = 1'000'000'000;
      break;
    default:
      return;
  }
  if (!__builtin_mul_overflow(item.time, unit, &ns)) cell.integer(ns);
}

void put_clock(const Item& item, Cell& cell) {
  if (item.op == Op::kClock || item.op == Op::kRealtime || item.op == Op::kMonotonic)
    cell.natural(item.clock);
}

/// One thread, read from its beginning.
struct Reading {
  Reading(const Recording& recording, ThreadId id)
      : thread(id),
        thread_name(to_string(id)),
        process_name(to_string(id.process())),
        reader(recording, id) {}

  Status next() {
    event = TRY(reader.next());
    return {};
  }
  uint64_t number() const { return event == nullptr ? UINT64_MAX : event->item.event; }

  ThreadId thread;
  std::string thread_name, process_name;
  EventReader reader;
  const Event* event = nullptr;  ///< none: at the end
};

class EventRows : public Rows {
 public:
  explicit EventRows(Source& source)
      : source_(source), recording_(source.recording()), selection_({}, kSelecting) {}

  Status start(std::span<const Condition> conditions) override {
    selection_ = Selection(conditions, kSelecting);
    auto one = selection_.thread();
    next_ = one ? recording_.threads().find(*one) : recording_.threads().begin();
    return enter_thread();
  }

  Status next() override {
    if (reading_->number() >= selection_.to()) return enter_thread();
    TRY_STATUS(reading_->next());
    return selected(*reading_) ? Status() : enter_thread();
  }

  bool done() const override { return reading_ == nullptr; }
  void cell(int column, Cell& cell) override;

 private:
  bool selected(const Reading& reading) const {
    return reading.event != nullptr && reading.number() <= selection_.to();
  }

  /// To the first event of the next thread that has one.
  Status enter_thread() {
    reading_ = nullptr;
    bool one = selection_.thread().has_value();
    while (next_ != recording_.threads().end()) {
      ThreadId thread = next_->first;
      next_ = one ? recording_.threads().end() : std::next(next_);
      if (!selection_.contains(thread)) continue;
      Reading& reading = TRY(reading_of(thread));
      while (reading.number() < selection_.from()) TRY_STATUS(reading.next());
      if (!selected(reading)) continue;
      reading_ = &reading;
      break;
    }
    return {};
  }

  /// A join comes for one event after the other, mostly forwards: it finds the reading where it left it.
  Result<std::reference_wrapper<Reading>> reading_of(ThreadId thread) {
    constexpr size_t kMost = 64;
    auto found = readings_.find(thread);
    if (found != readings_.end() && found->second.number() <= selection_.from()) return found->second;
    if (found != readings_.end()) readings_.erase(found);
    if (!selection_.thread() || readings_.size() >= kMost) readings_.clear();
    Reading& reading = readings_.try_emplace(thread, recording_, thread).first->second;
    TRY_STATUS(reading.next());
    return reading;
  }

  Source& source_;
  const Recording& recording_;
  Selection selection_;
  std::map<ThreadId, ThreadStreams>::const_iterator next_;
  std::map<ThreadId, Reading> readings_;
  Reading* reading_ = nullptr;
};

void EventRows::cell(int column, Cell& cell) {
  const Item& item = reading_->event->item;
  bool call = item.op == Op::kCall;
  switch (column) {
    case kEvent:
      return cell.text(to_string(EventId(reading_->thread, item.event)));
    case kProcess:
      return cell.text(reading_->process_name);
    case kThread:
      return cell.text(reading_->thread_name);
    case kNumber:
      return cell.natural(item.event);
    case kKind:
      if (std::string_view name = kind_name(item); !name.empty()) return cell.constant(name);
      return cell.text(fmt::format("call {}", item.call));
    case kCall:
      if (call) cell.natural(item.call);
      return;
    case kShape:
      if (call) cell.constant(shape_name(item.shape));
      return;
    case kResult:
      if (has_result(item)) cell.integer(item.result);
      return;
    case kError:
      return put_error(item, cell);
    case kChannel:
      return put_channel(item, cell);
    case kLength:
      if (call && item.shape == Shape::kSend) cell.natural(item.length);
      return;
    case kFile:
      if (item.file != 0) cell.natural(item.file);
      return;
    case kPath:
      if (const FileEntry* file = item.file == 0 ? nullptr : recording_.files().find(item.file))
        cell.text(file->path);
      return;
    case kPosition:
      if (call && item.shape == Shape::kFile) cell.natural(item.position);
      return;
    case kCreated:
      if (call && item.shape == Shape::kCreate) cell.text(to_string(item.thread));
      return;
    case kSignal:
      if (item.signal != 0) cell.natural(item.signal);
      return;
    case kClock:
      return put_clock(item, cell);
    case kTime:
      return put_time(item, cell);
    case kPayload:
      return cell.natural(item.payload_length);
    case kLocation:
      if (std::string_view place = source_.place(EventId(reading_->thread, item.event)); !place.empty())
        cell.constant(place);
      return;
    default:
      return;
  }
}

class EventsTable : public Table {
 public:
  explicit EventsTable(Source& source) : source_(source) {}

  const TableInfo& info() const override { return kEventsTable; }
  double rows(std::span<const Condition> conditions) const override {
    return rows_left(source_.events_about(), static_cast<double>(source_.recording().threads().size()),
                     conditions, kSelecting);
  }
  Result<std::unique_ptr<Rows>> open() override { return std::make_unique<EventRows>(source_); }

 private:
  Source& source_;
};

}  // namespace

const TableInfo kEventsTable{"events", kColumns};

std::unique_ptr<Table> events_table(Source& source) { return std::make_unique<EventsTable>(source); }

}  // namespace pastcone::query
