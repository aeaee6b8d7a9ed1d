// Answers when the parts of a predicate hold, by a replay that is run for it (scan.h), only as far as the
// answers need.
//
//   Plan plan = TRY(debug::plan(world, predicate));
//   Probe probe(engine, plan.parts, engine.here(), codes, interrupted);
//   Search search(world.graph, plan.units(), probe);
//   auto reached = TRY(search.reach(plan.links, probe.origin()));
//   auto found = search.last_of(reached);    // minimal states, none: it never holds
//   State state = probe.state_of(found.front());
//   probe.finish(); engine.go_to(state);
//
// While it runs, the engine has no replay; it begins another one when it is next used. A Found of one probe
// means nothing to another one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "pastcone/debug/engine.h"
#include "pastcone/debug/parts.h"
#include "pastcone/debug/scan.h"
#include "pastcone/debug/search.h"

namespace pastcone::debug {

class Probe : public Prober {
 public:
  /// Nothing before `origin` is looked at. Parts, codes and engine must live on.
  Probe(Engine& engine, const std::vector<Part>& parts, State origin, TermCodes& codes,
        std::function<bool()> interrupted, Telling telling = Telling::kAllowed);
  ~Probe() override;

  /// As a place to search from.
  const Found& origin() const { return found_origin_; }
  bool begins_at(const State& state) const { return origin_ == state; }

  /// "interrupted" is an error too; what is known by then is kept, and it can be asked again.
  Result<std::vector<std::optional<Moment>>> next(const Front& front, std::span<const Ask> asks) override;
  bool interrupted() const { return was_interrupted_; }

  State state_of(const Found& found) const;
  /// Who has made a part so that holds there: the thread of its moment, or of the last write to memory that
  /// is shared.
  ThreadId made_by(size_t part, const Front& front, const Moment& moment) const;
  /// A part that turned out to be about memory that processes share: it has to be asked anew, as such
  /// (share()).
  std::optional<size_t> found_shared() const { return scan_ ? scan_->found_shared() : std::nullopt; }
  /// It failed because of Telling::kAllowed: all has to be asked anew, without.
  bool told_too_little() const { return scan_ && scan_->told_too_little(); }
  /// Goes on to the end of the run, so that the following are about all of it.
  Status look_at_all();
  /// Whether each simple predicate was looked at all the time.
  bool counts_all() const { return !scan_ || scan_->counts_all(); }
  /// How often it became true, as far as the replay has come: all of the part, or one simple predicate of it.
  size_t times(size_t part) const;
  size_t times(size_t part, size_t term) const;

  /// Ends the replay. What is known stays; who asks for more begins it again.
  void finish();

 private:
  Scan& scan();
  std::optional<Trail> trail_to(const Moment& moment) const;
  bool is_over(const Part& part, const Moment& moment) const;
  bool has_ended(const Part& part, const causal::Cut& cut) const;
  TruthLog::Answer answer(const Front& front, const Ask& ask);
  TruthLog::Answer answer_shared(const Front& front, const Ask& ask);
  bool is_settled(size_t part, const Moment& moment);

  const World& world_;
  Engine& engine_;
  const std::vector<Part>& parts_;
  State origin_;
  Found found_origin_;
  TermCodes& codes_;
  std::function<bool()> interrupted_;
  Telling telling_;
  std::unique_ptr<Scan> scan_;
  std::map<Moment, causal::Cut> settled_at_;
  bool was_interrupted_ = false;
};

}  // namespace pastcone::debug
