// A replay that is run to see when the parts of a predicate become true and false. Everybody runs freely:
// what a unit does does not depend on how far the others are, so what is seen of it is the same every time.
//
// The memory that an expression has read is watched (debug registers, or its pages if they are too few), and
// the expression is evaluated again when it has been written. What the runtime writes on behalf of the
// program counts from the end of that event.
//
// Memory that processes share (serial mode) is watched in all of them, wherever they have it, and the part is
// judged in the memory of the process that it is about. As only one of them runs at a time, what they write
// is seen in the order of their turns. Where that would not be so they are held while they have the turn: at
// the end of calls that write to it or map it, and of a fork until the child has been looked at. Processes
// that are no group yet go on at the same time: what one of them does says nothing about the others.
//
// It is an engine of its own; no other one may have a replay meanwhile.
#pragma once

#include <sched.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/debug/engine.h"
#include "pastcone/debug/imagined_call.h"
#include "pastcone/debug/jumps.h"
#include "pastcone/debug/map_changes.h"
#include "pastcone/debug/parts.h"
#include "pastcone/debug/term_code.h"
#include "pastcone/debug/truth_log.h"
#include "pastcone/debug/whereabouts.h"
#include "pastcone/symbols/mappings.h"

namespace pastcone::debug {

class Scan {
 public:
  /// What is referred to must live on.
  Scan(const World& world, const std::vector<Part>& parts, const State& origin, TermCodes& codes,
       Telling telling, std::function<bool()> interrupted,
       std::function<void(const replay::Live&)> on_wait = {});
  ~Scan();
  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  enum class Halt {
    kEnough,
    kOver,         ///< nobody does anything more
    kInterrupted,  ///< can be gone on with
  };
  /// Goes on until `enough`, which is asked now and then.
  Result<Halt> run(const std::function<bool()>& enough);
  /// Ends the replay. Logs stay, until it is run again, from its beginning.
  void end();

  const TruthLog& log(size_t part) const { return states_[part].log; }
  /// How often a term of it became true, as far as that was looked at.
  size_t times(size_t part, size_t term) const { return states_[part].terms[term].times; }
  /// Whether that was all the time: not where another term has decided already.
  bool counts_all() const { return counts_all_; }
  /// Whether all that its unit has done up to there is in its log.
  bool passed(size_t part, const Moment& moment) const;
  /// The same of all threads of a unit.
  bool passed(size_t part, const causal::Cut& cut) const;
  bool ended(size_t part) const;
  /// A part that the replay was ended for: others may write what it reads, and its unit is not all of them.
  std::optional<size_t> found_shared() const { return found_shared_; }
  /// It has failed because of Telling::kAllowed.
  bool told_too_little() const { return lost_; }

 private:
  /// A call of the function that a term is about.
  struct Frame {
    uint64_t stack, back;  ///< where its return address is, and that
    bool active = false;   ///< behind its prologue
    uint64_t place = 0;
    user_regs_struct registers = {};
    size_t block = InnerBlocks::kNone;  ///< that it is in, of those that have what the term names
    std::set<Word> unset = {};          ///< variables that have not been written yet
  };
  /// What was found out while the process stood, which is true as long as the memory is the same.
  struct Memo {
    Verdict verdict;
    std::vector<uint8_t> bytes;
    uint64_t frames = 0, lives = 0, version = 0;
  };
  struct Term {
    const SimplePredicate* text;
    std::shared_ptr<const TermCode> code = {};  ///< none: the program does not have what it names
    bool known = false;                         ///< some program of the process did
    std::string error = {};
    bool holds = false;
    size_t times = 0;
    std::set<Word> words = {};
    std::map<ThreadId, std::vector<Frame>> frames = {};
    uint64_t frame_changes = 0;
    std::optional<Memo> memo = {};
  };
  /// Some bytes of memory that is shared, for all who have it.
  struct Piece {
    std::pair<uint64_t, uint64_t> object;
    uint64_t offset;
    uint32_t size;
    auto operator<=>(const Piece&) const = default;
  };
  struct PartState {
    const Part* part;
    std::vector<Term> terms;
    TruthLog log;
    bool instant = false;  ///< it holds only while a thread stands somewhere
    std::optional<Moment> written =
        {};  ///< of threads that run at once: when one of them last wrote what it reads
    bool unordered = false;  ///< others have written before its thread began, and perhaps not
    // If it is about memory that is shared:
    std::set<ProcessId> members = {};  ///< who may write to it
    std::set<Word> looked_at = {};     ///< what it reads, and which of that others may write
    std::set<Piece> pieces = {};
  };
  /// A moment of a process at which something may have changed.
  struct Sight {
    ThreadId thread;
    Moment moment;
    RouteRef route;
    uint64_t place = 0;  ///< it has come to a place that may be meant
    user_regs_struct registers = {};
    bool all = true;              ///< what holds anywhere is looked at
    std::set<Word> written = {};  ///< because of these
    uint64_t file = 0;            ///< or of a call that wrote to this one, which may be mapped
    bool anew = false;            ///< or of nothing
  };
  struct Place {
    uint64_t events = 0, points = 0;
    bool operator==(const Place&) const = default;
  };
  struct Leaving {
    uint64_t address;
    Place from;
    std::set<Word> written = {};  ///< meanwhile
    bool judged = false;          ///< at the end of its event
  };
  /// What holds when an event is over, in which the runtime has written.
  struct Outlook {
    ThreadId thread;
    uint64_t events;  ///< done before
    std::vector<std::pair<Term*, Verdict>> found;
  };
  /// Where a thread is held, to be looked at.
  struct Hold : Gate {
    enum class Kind : uint8_t {
      kBegins,   ///< with a program
      kChanges,  ///< what it has mapped, or shared memory by a call; or has been changed by the child of its vfork
      kForks,    ///< until the child has been looked at
      kWrote,    ///< the runtime, on its behalf; from this step on
      kEnds,     ///< a further thread that a part is about
    };
    Kind kind = Kind::kBegins;
    ProcessId child = {};
    uint64_t file = 0;  ///< kChanges: this one, by a call
  };
  struct Armed {
    bool guarded = false;  ///< by its page
    unsigned in_vain = 0;  ///< how often it was hit without being wanted
  };
  /// Of one process.
  struct Post {
    ProcessId process;
    std::vector<PartState*> parts;
    std::vector<Hold> gates;  ///< still ahead; those of a thread in order
    /// Of further threads that a part is about: their own variables are there then.
    std::vector<Gate> births;
    std::map<ThreadId, uint64_t> first_places;  ///< where their program goes on, once they have the turn
    std::set<ThreadId> born;
    uint64_t lives = 0;  ///< how often that has changed
    bool open = false;
    std::map<Word, Armed> armed;
    std::set<Word> wanted;
    bool guarding = false;                ///< they are too many for the debug registers
    std::map<uint64_t, int> breaks;       ///< ours
    std::map<ThreadId, Leaving> leaving;  ///< the runtime
    std::optional<Outlook> outlook;
    std::map<uint64_t, JumpKind> jumps;   ///< where threads leave functions otherwise than by returning
    std::map<ThreadId, uint64_t> thrown;  ///< where who has come to such a place will be next
    uint64_t entry = 0;                   ///< where what names nothing yet is tried again
    bool try_again = false, points_due = false;
    bool loading = false;           ///< its program has not begun by itself
    std::vector<Sight> unanswered;  ///< gdb has to be asked, when it stands
    std::map<ThreadId, uint64_t> thread_pointers;
    uint64_t program_entry = 0;
    CodeMap code;
    std::vector<symbols::Mapping> mappings;  ///< those that are shared, as they were
    uint64_t mapped_at = 0;                  ///< when it had come so far
    std::optional<bool> alone = {};          ///< nobody else has what it shares
    std::set<uint64_t> private_pages = {};   ///< that nobody else has
    uint64_t private_after = 0;              ///< so many events of all
    uint32_t journal = 0;                    ///< its number, from 1; 0: it has none
    uint32_t journal_version = 0;
    std::vector<Word> journal_words = {};
    // scan_telling.cc:
    unsigned hits = 0, stops = 0;  ///< lately; of these, for which it was stopped
    bool tells = false;            ///< it puts down its writes itself
    bool never_tells = false;
    std::vector<UniqueFd> tellers;
    std::optional<bool> steps_itself = {};
    std::map<uint64_t, uint8_t>
        known;  ///< what is watched in it, as of the last entry of any journal, byte by byte
    std::optional<MapChanges> map_changes = {};
    std::optional<MappedCode> mapped = {};        ///< as it was
    std::optional<uint64_t> mapped_version = {};  ///< after so many changes; none: in the middle of one
  };
  /// A word that was hit so often without being wanted costs more than setting it again.
  static constexpr unsigned kInVain = 64;
  using Point = std::pair<Move::Kind, uint64_t>;
  /// Where a thread is, behind its last step.
  struct Stand {
    Place place;
    uint64_t hits = 0;
    RouteRef at;
    std::map<Point, uint64_t> counts;
  };
  /// Where a thread was when a point was set.
  struct Arming {
    ThreadId thread;
    Place place;
    RouteRef at;
  };
  /// A moment that something may have changed at.
  struct Now {
    Post& post;
    ThreadId thread;
    Moment moment;
    RouteRef route;
  };
  /// For a condition that is not just evaluated.
  struct Asking {
    ThreadId thread;             ///< in whose place functions are called
    ThreadId standing;           ///< who certainly stands
    const user_regs_struct* as;  ///< gdb sees these registers; none: those that the thread has
    gdb::ReadRegister reg;       ///< the same, if they matter
  };
  using Reads = std::vector<std::pair<uint64_t, uint32_t>>;

  // scan.cc: running
  Status begin();
  Result<bool> begin_again();
  Result<Halt> go_on();
  void clear();
  bool look_up();
  void expect_births(Post& post);
  std::vector<Hold> ends_of(const Post& post) const;
  std::vector<Hold> vforks_of(ProcessId process) const;
  bool stands_at(const Gate& gate, bool or_later = false) const;
  bool is_at(const Hold& gate) const;
  size_t find_reached(const Post& post) const;
  bool gate_reached() const;
  void aim(ThreadId thread);
  static bool executes(const Hold& gate);
  Status open_gate(Post& post, const Hold& gate);
  Status open_gates();
  Status open_births(Post& post);
  bool let_go();
  Status note_arrival(const Arrival& arrival);
  Incarnation& now() const { return engine_->now(); }
  Post* post_of(ProcessId process);
  const Post* post_of(ProcessId process) const;

  // scan_points.cc: programs, points
  Status open(Post& post, const Now& when, bool begins = false);
  Status compile_terms(Post& post, ThreadId thread, bool begins);
  Status compile(Post& post, ThreadId thread, bool begins);
  void forget_asked(Post& post);
  static bool is_meant(const Term& term, ThreadId thread);
  Status find_frames(Post& post, ThreadId thread);
  Status set_breaks(Post& post, ThreadId thread);
  Status set_jump_breaks(Post& post, ThreadId thread);
  static bool is_in_calls(const Post& post);
  void forget_points(Post& post);
  bool knows_private(Post& post, uint64_t page) const;
  Status check_private(Post& post, const Word& word);
  Status set_words(Post& post, ThreadId thread);
  void choose_words(Post& post);
  void add_break(Post& post, ThreadId thread, uint64_t address);
  void remove_break(Post& post, uint64_t address);
  Status add_word(Post& post, ThreadId thread, const Word& word, bool guarded, std::vector<Word>& spare);
  std::set<Word> choose_guarded(const Post& post) const;
  void remove_word(Post& post, const Word& word, const Armed& how);
  void note_arming(ThreadId thread, Point point);

  // scan_shared.cc: memory that processes share
  Result<std::vector<Hold>> holds_of(ProcessId process) const;
  bool is_member(const Post& post) const;
  bool is_about(ProcessId process) const;
  void look_at_mappings(Post& post);
  Status refuse_shared(const PartState& state);
  bool find_pieces(PartState& state);
  std::set<Word> words_in(Post& post, const PartState& state);
  bool may_write(const PartState& state, const Sight& sight);
  bool is_closed(const PartState& state, const Sight& sight);
  std::vector<Post*> concerned_by(const Post& post);
  bool judge_everywhere(Post& post, const Sight& sight);
  void want_words(Post& post);
  Status look_again(Post& post, const Hold& gate);
  Status settle(ThreadId thread);
  ThreadId thread_of(ProcessId process) const;
  void hold_at_end(Post& post, ThreadId thread);
  void forget_hold(Post& post, ThreadId thread);

  // scan_hits.cc: what hits mean
  bool take(const replay::TraceStop& stop, ThreadId thread, bool inside);
  bool take_hit(const replay::TraceStop& stop, ThreadId thread, bool inside);
  bool is_due();
  void change_words(Post& post, ThreadId thread);
  bool take_leaving(Post& post, ThreadId thread, const Leaving& leaving, bool same);
  bool take_break(const Now& now);
  void note_inside(Post& post, ThreadId thread, pid_t tid);
  void enter(const Now& now, Term& term, const user_regs_struct& registers);
  void come_back(const Now& now, Term& term, uint64_t address, const user_regs_struct& registers);
  void leave_frames(const Now& now, Term& term, uint64_t stack);
  void note_jump(const Now& now, JumpKind kind, const user_regs_struct& registers);
  void land(const Now& now, const user_regs_struct& registers);
  void pass_gate(Term& term, ThreadId thread, uint64_t address);
  static void forget_values(Frame& frame, const std::vector<OwnVariable>& own);
  void note_written(Post& post, const std::set<Word>& words);

  // scan_judge.cc: what holds
  bool judge_all(Post& post, const Sight& sight);
  bool judge_places(Post& post, const Sight& sight);
  bool judge_rest(Post& post, const Sight& sight);
  void note_for(Post& post, PartState& state, const Moment& written, bool holds);
  void note_found(Post& post, const Sight& sight, std::vector<std::pair<Term*, Verdict>> found);
  bool foresee(Post& post, ThreadId thread, const Word& written);
  void take_outlooks(ThreadId running = {});
  void note_outlook(Post& post);
  bool is_enough();
  static bool sets_value(const Term& term, const Word& written);
  bool is_concerned(const PartState& state, const Sight& sight);
  Status check_order(PartState& state, const Sight& sight);
  Verdict verdict(Post& post, const Sight& sight, Term& term);
  Verdict verdict_at(Post& post, const Sight& sight, const Term& term);
  Verdict verdict_in(Post& post, const Sight& sight, const Term& term);
  Verdict verdict_anywhere(Post& post, const Sight& sight, const Term& term);
  void commit(Term& term, Verdict verdict);
  Stand& stand(ThreadId thread) { return stand(thread, place(thread)); }
  Stand& stand(ThreadId thread, const Place& where);
  Moment moment(ThreadId thread, uint64_t detail) const;
  Now after_hit(Post& post, ThreadId thread, const Move& move) {
    return after_hit(post, thread, move, place(thread), step_of(thread));
  }
  Now after_hit(Post& post, ThreadId thread, const Move& move, const Place& where, const causal::Node& step);
  causal::Node step_of(ThreadId thread) const;
  Place place(ThreadId thread) const;
  gdb::ReadMemory reader(ProcessId process);

  // scan_journal.cc: what is written, as the runtime tells it
  stage::Journal& journal(const Post& post) const;
  bool may_have_journal(const Post& post) const;
  static bool reads_own(const Post& post);
  void begin_journal(Post& post);
  void end_journal(Post& post);
  bool has_journal_entries(const Post& post) const;
  bool is_behind(const Post& post) const;
  Post* first_member_to_take();
  void take_entry(Post& post);
  void take_journals();
  Sight sight_of(Post& writer, const stage::JournalEntry& entry);
  bool judge_entry(Post& writer, const stage::JournalEntry& entry);
  bool judge_as_known(Post& post, const Sight& sight);
  static bool read_known(const Post& post, uint64_t address, void* to, size_t size);

  // scan_telling.cc: what programs write, as they tell it
  bool consider_telling(Post& post, bool ahead);
  bool may_tell(Post& post);
  bool has_points_between(ProcessId process) const;
  Status begin_telling();
  bool ask_to_tell(Post& post);
  void bind(const Post& post, const std::vector<pid_t>& threads, bool bound);
  void keep_turns(const Post& post);
  Status end_telling(Post& post);
  bool may_be_writing(const Post& post, ThreadId thread);
  void let_tellers_go();
  static bool knows(const Post& post);
  void learn(Post& post);
  void learn(Post& writer, const stage::JournalEntry& entry);
  static void learn_shared(Post& post, const Post& writer, const Word& word, const uint8_t* bytes);

  // scan_asked.cc: conditions that call functions, or that gdb is asked about
  FindOut asker(Post& post, const Term& term, Asking asking);
  std::optional<Told> imagine(Post& post, const Asking& asking, const gdb::Formula& formula);
  Told tell(Post& post, const Term& term, const Asking& asking, const Condition& condition);
  std::optional<uint64_t> map_version(Post& post);
  MappedCode& mapped_code(Post& post);
  static Reads that_may_change(MappedCode& mapped, const Reads& reads);
  std::optional<uint64_t> thread_pointer(Post& post, ThreadId thread);
  std::vector<uint8_t> bytes_of(const Post& post, const std::set<Word>& words);

  const World& world_;
  const State origin_;
  TermCodes& codes_;
  std::function<bool()> interrupted_;
  std::function<void(const replay::Live&)> on_wait_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Seats> seats_;
  std::unique_ptr<Whereabouts> whereabouts_;
  std::deque<PartState> states_;
  std::map<ProcessId, Post> posts_;
  std::map<ThreadId, Stand> stands_;
  std::map<std::pair<ProcessId, Point>, Arming> armings_;
  const std::function<bool()>* enough_ = nullptr;
  bool begun_ = false, over_ = false, running_ = false, may_ask_ = false;
  replay::Horizons horizons_;  ///< to be set
  bool shares_ = false;        ///< some part is about memory that is shared
  bool counts_all_ = true;
  std::optional<size_t> found_shared_;
  std::pair<Moment, causal::Cut> last_cut_;     ///< is_closed
  const stage::JournalEntry* entry_ = nullptr;  ///< that is being judged
  bool missed_ = false;                         ///< something was read that is not known of then
  std::vector<Post*> telling_due_;
  bool telling_ = false, may_tell_ = true;  ///< some do; they can
  cpu_set_t everywhere_ = {};               ///< where the processes may run
  const Telling telling_allowed_;
  bool lost_ = false;  ///< a journal did not say enough
  uint32_t journals_given_ = 0;
  std::optional<Error> error_;
};

}  // namespace pastcone::debug
