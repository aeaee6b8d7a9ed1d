// The stage: the one piece of shared memory in which the tool (recorder or director) and the runtimes in the
// recorded or replayed processes meet. Nothing else passes between them but chunks of the file `live`.
//
// Whoever may be killed at any instant writes here, so nothing is protected by a lock that a dead process could keep:
// lists are lock-free, and the few locks hold their owner's tid so that others can see that it is gone.
// Freestanding: the runtime includes it. All offsets are constants; the memory is zero at first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pastcone/stage/breakpoint.h"

namespace pastcone::stage {

inline constexpr uint32_t kMagic = 0x47545350;  // "PSTG"

/// Replay: threads that wait for an object of their process to have a version, by the object's address.
struct ObjectWaiter {
  uint64_t address;  ///< 0: free
  uint64_t version;
  uint32_t futex, pad;
};
enum class Mode : uint32_t { kRecord = 1, kReplay = 2 };

inline constexpr uint32_t kMaxProcesses = 32768;
inline constexpr uint32_t kMaxThreads = 131072;      // replay only
inline constexpr uint32_t kMaxConnections = 1 << 20;
inline constexpr uint32_t kMaxChunks = 1 << 20;      // 64 GiB of live chunks
inline constexpr uint32_t kMaxFiles = 32768;
inline constexpr uint32_t kMaxGroups = 32768;
inline constexpr uint32_t kAddressSlots = 1 << 17;
inline constexpr uint32_t kPacketSlots = 1 << 16;
inline constexpr uint32_t kFifoWindows = 512;
inline constexpr uint32_t kObjectFutexes = 256, kBucketWaiters = 32;
inline constexpr uint32_t kCores = 1024;             // replay only: those that are looked at
inline constexpr uint32_t kMaxTurnGaps = 1 << 16;    // replay only
inline constexpr uint32_t kSharedMemories = 512;
inline constexpr uint32_t kSharedObjects = 4096;

// Flags in Header::flags, set by the tool before the first process starts.
inline constexpr uint32_t kFlagNoDispatch = 1;  ///< Syscall User Dispatch is not used: all sites are patched or trapped
inline constexpr uint32_t kFlagNoPatch = 2;     ///< patch nothing: everything through Syscall User Dispatch
inline constexpr uint32_t kFlagListCalls = 4;   ///< for developers: every call goes into /tmp/pastcone-calls.*, as text
inline constexpr uint32_t kFlagParallel = 16;   ///< threads run in parallel; their locks and calls are ordered
inline constexpr uint32_t kFlagNoOutput = 8;    ///< replay: nobody wants to see what the program prints
inline constexpr uint32_t kFlagHorizons = 64;   ///< replay: threads have horizons, ThreadSlot::horizon
inline constexpr uint32_t kFlagAsPrograms = 128;  ///< replay: for debuggers, processes are to look like their programs: Takeover
inline constexpr uint32_t kFlagIndex = 32;      ///< replay: every access to an object goes into Header::index_directory
inline constexpr uint32_t kFlagWhere = 256;     ///< replay: where in the program each event is goes there too (where.h)

/// Replay with kFlagAsPrograms: a process executes its program as the kernel would, so that it is under /proc/PID/exe. Before its
/// first instruction the director puts the runtime in its place.
struct Takeover {
  uint32_t lock;     ///< owner's tid
  uint32_t state;    ///< futex: TakeoverState
  uint32_t process, thread;  ///< as the kernel has them now
  uint32_t file;     ///< the program
  char path[432];    ///< the answer: what to execute; empty: the runtime
};
enum class TakeoverState : uint32_t { kFree = 0, kWanted = 1, kReady = 2, kFailed = 3 };

struct ObjectBucket {
  uint32_t lock;  ///< owner's tid
  uint32_t pad;
  ObjectWaiter waiters[kBucketWaiters];
};

/// Memory that processes share, in parallel mode: up to which page it has the contents that it had when it was first mapped.
/// Record: from page `first` - 1 on they are in the log; replay: they are in place. As an ObjectState of the runtime.
struct SharedMemory {
  uint64_t pages;
  uint32_t first, waiters;
};

/// Parallel mode: the state of an object that lies in memory which processes share, and has no room for it. As a TableState of the
/// runtime.
struct SharedObject {
  uint64_t version;
  uint32_t last, waiters;
  uint64_t key;  ///< what its place is called by all; 0: free
  uint32_t held, holder;
};

/// Replay with kFlagIndex: one access to an object, its name, or a fact. In a file for each thread, called PROCESS.THREAD; ends where a
/// stamp is 0.
struct IndexEntry {
  uint64_t stamp;    ///< orders all entries about one object, over all threads, but for reads between the same writes
  uint64_t key;      ///< the object's address, or what is the same in all processes that share it
  uint32_t kind;     ///< ObjectKind
  uint32_t flags;    ///< kIndex…
  union {
    struct {
      uint64_t number;  ///< accesses before this one; 0: a new object
      uint64_t caller;  ///< return address; of a fact: see FactKind
      uint64_t event;   ///< events of the thread so far
      uint64_t writes;  ///< of the accesses before, how many wrote
    };
    char name[32];
  };
  uint64_t step, point;              ///< where the thread is then: see ThreadSlot::horizon
  uint64_t until_step, until_point;  ///< where it gave the object back; point 0: it did not, or there is an entry of its own
};
static_assert(sizeof(IndexEntry) == 88);
/// kIndexRelease: no access, but the end of the last one. kIndexGives: of a semaphore, a post.
inline constexpr uint32_t kIndexWrite = 1, kIndexShared = 2, kIndexName = 4, kIndexFact = 8, kIndexRelease = 16, kIndexGives = 32;
inline constexpr uint64_t kIndexWindow = 8192 * sizeof(IndexEntry);  ///< such a file grows by this
static_assert(kIndexWindow % 4096 == 0);

/// kLibrary: a stream, a critical section of OpenMP, what is inside libc. kHeap: inside the allocator; no history of these.
enum class ObjectKind : uint32_t { kNone = 0, kMutex = 1, kRwLock = 2, kSemaphore = 3, kSpinLock = 4, kNamed = 5, kOnce = 6, kBarrier = 7,
                                  kLibrary = 8, kHeap = 9, kCount };

/// What a call did that the log does not say, since replay needs not know: what `key` is, `number`, and `caller`. An end is named by
/// the channel that it sends on, what is received by its channel.
enum class FactKind : uint32_t {
  kDropped = 1,  ///< this process has one descriptor of the end less
  kShutDown,     ///< the end sends no more; number 1: nothing is received from the channel any more
  kEndOfFile,    ///< a receive on this channel found its end; number EPIPE, ECONNRESET: a call failed, for nobody is at its other side
  kReady,        ///< poll or select said that there is something on this channel, or at this listener (with kListener), or that the process
                 ///< with this pid has ended (with kProcess); number: the descriptor, caller: not 0 if it said that others have hung up
  kWatched,      ///< as kReady, by epoll_ctl; number: the data that goes with it, caller: the epoll descriptor
  kPolled,       ///< epoll_wait gave this data, from the descriptor `caller`; key: not 0 if others have hung up
  kListens,      ///< the listener begins
  kAccepted,     ///< a connection, at this listener
  kKilled,       ///< a signal, `number`, to the process `key` as kill says it
  kJoined,       ///< the end of a thread of this process, `key`, was waited for
  kMet,          ///< the call was access `number` to what System V or eventfd share, `key`
  kPagesThere,   ///< shared memory `key` has its contents up to page `number`
  kPagesAwaited, ///< it had to have them
  kSignalled,    ///< the condition `key`
  kTurnAfter,    ///< in parallel mode: turn `number` of the group `key`, behind an event
  kWoken,        ///< from waiting for it, with the mutex whose access this is
  kWatcher,      ///< an epoll instance begins, the descriptor `caller`
  kUnwatched,    ///< as kWatched: it is watched no more, for reading; caller kEveryWatcher: the process has closed it
  kFifo,         ///< the channel is a FIFO's, or of a pipe of packets: who sent what is known by its bytes alone
};
inline constexpr uint64_t kListener = uint64_t{1} << 63, kProcess = uint64_t{1} << 62;
inline constexpr uint64_t kEveryWatcher = UINT64_MAX;

/// Replay: what a debugger watches in a process, and what has been written there: by the runtime on its behalf, and, if the
/// kernel tells the process of them, by the program itself. So there is no stop for each. Entries are made by who has the turn,
/// before it gives that up, and taken by the tool.
struct JournalEntry {
  uint32_t version;     ///< of the words
  uint32_t thread;      ///< its number in the process
  uint64_t order;       ///< who made one and handed over the turn has a lower one than who has it then
  uint64_t event;       ///< the last one that is done
  uint32_t written;     ///< bit i: word i
  uint32_t whole;       ///< what follows is what the words are then; 0: that is not known
  uint32_t by_program;  ///< it was one instruction of the program, behind that event
  uint64_t contents[4];
};
struct Journal {
  static constexpr uint32_t kWords = 4, kEntries = 1024;
  uint32_t version;  ///< of the words; 0: there are none
  uint32_t count;
  struct {
    uint64_t address, size;  ///< at most 8 bytes
  } words[kWords];
  uint32_t lost;         ///< something was written that no entry tells of
  uint32_t room;         ///< futex: there is some again
  uint64_t made, taken;  ///< entries, ever
  JournalEntry entries[kEntries];
};
inline constexpr uint32_t kJournals = 8;

struct Header {
  uint32_t magic, version;
  Mode mode;
  uint32_t flags;
  uint32_t tool_pid;        ///< the recorder or director
  uint32_t stopped;         ///< recording has stopped: a format::StopReason
  uint32_t activity;        ///< futex: counts what the tool should look at
  uint32_t recorder_sleeps; ///< the tool waits on `activity`

  uint32_t next_process;    ///< last number given; p1 is 1
  uint32_t next_connection;
  uint32_t next_group;
  uint32_t next_window;     ///< FIFOs so far
  uint32_t fifo_lock;       ///< owner's tid; while finding out which connection a FIFO is
  uint32_t chunks_ready;    ///< chunks [0, chunks_ready) of `live` have disk space
  uint32_t next_chunk;      ///< the first that was never given out
  uint32_t chunk_futex;     ///< woken when chunks_ready grows
  uint64_t free_chunks;     ///< lock-free stack: tag << 32 | (index + 1)
  uint64_t closed_chunks;   ///< the same

  uint32_t output_lock;     ///< owner's tid; orders writes to the program's standard output and error
  uint32_t share_lock;      ///< owner's tid; while finding out which group a shared file belongs to
  uint64_t output_order;    ///< how many such writes there were, and
  uint64_t output_position; ///< how many bytes

  // replay
  uint32_t live_threads;    ///< threads that exist and have not ended
  uint32_t waiting_threads; ///< of these, how many wait for another
  uint32_t progress;        ///< counts all changes that could let a waiting thread go on
  uint32_t diverged;        ///< how many processes have diverged
  uint32_t give_up;         ///< set by the director: every waiting thread ends
  uint32_t file_requests;   ///< record: counts files asked for
  uint32_t turn_gaps;       ///< how many TurnGap there are
  uint32_t held;            ///< all stand at their horizons, for debuggers to look at
  uint32_t object_futexes[kObjectFutexes];  ///< replay: for who waits for an object; 0 for those that processes share
  uint32_t feed_futex;      ///< woken when ThreadSlot::data_ready of some thread has grown
  uint64_t output_done;     ///< replay: number of output records written
  uint64_t store_blocks;    ///< entries of the store's table
  uint64_t store_size;
  uint64_t free_blocks;     ///< of the store: lock-free stack as above
  uint64_t next_block;      ///< the first that was never used
  uint64_t index_stamp;     ///< replay: IndexEntry so far
  uint32_t index_lock;
  char index_directory[256];
  SharedMemory shared_memory[kSharedMemories];
  char patch_directory[256];  ///< patched copies of files, named by FileSlot::patched in hex
  Breakpoint breakpoint;
  Takeover takeover;
  uint32_t last_on_core[kCores];  ///< replay: the thread that was seen there last, as in an ObjectState
  ObjectBucket object_buckets[kObjectFutexes];
  uint64_t journal_order;         ///< of the next entry of any journal
  Journal journals[kJournals];
};

/// A descriptor of the program, as debuggers see it: src/runtime/fds.h.
struct Descriptor {
  uint8_t kind, end, cloexec, flags;
  uint32_t object;  ///< of those below: the connection
};
inline constexpr uint8_t kDescriptorConnection = 3, kDescriptorFifo = 6, kDescriptorSequence = 7, kDescriptorDatagram = 8;

/// A recorded process; index = process number.
struct ProcessSlot {
  uint32_t pid;
  uint32_t state;          ///< ProcessState
  uint32_t threads;        ///< last thread number given
  uint32_t handoff_chunk;  ///< + 1; what the next program image of this process must know
  uint32_t handoff_size;
  uint32_t group;          ///< sharing group, or 0
  uint32_t first_thread;   ///< replay: index of its thread 1 in the thread table
  uint32_t thread_count;   ///< replay
  uint32_t diverged;       ///< futex: ReportState
  uint32_t vfork_done;     ///< futex: the child of a vfork has executed or ended
  uint64_t diverged_event;
  uint32_t diverged_thread;
  uint32_t cause;          ///< replay: Cause
  uint32_t remark;         ///< record: Remark
  uint32_t journal;        ///< replay: 1 + which is its own; 0: none
  char report[320];        ///< record: what to say about it; replay: the first divergence, as text
  uint64_t registers[17];  ///< replay: the program's then, as DWARF numbers them: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15
                           ///< rip; rip lies inside the instruction that it executed. All 0: not known
  uint64_t descriptors, descriptor_count;  ///< replay with horizons: where in its memory its Descriptors are
};

/// Of ProcessSlot::report. In replay the process waits until the director has looked at it.
enum class ReportState : uint32_t { kNone = 0, kWriting = 1, kWritten = 2, kSeen = 3 };

/// What kind of difference a divergence is.
enum class Cause : uint32_t {
  kFlow = 0,      ///< the program went another way: another call, a fault, another end
  kData = 1,      ///< it made the same call with other arguments or other bytes
  kMemory = 2,    ///< memory lies elsewhere, or is missing
  kMachine = 3,   ///< something could not be done here: a file, a thread, the disk
  kWait = 4,      ///< what it waits for does not come
  kInterrupt = 5, ///< the place at which it was interrupted is not found
  kEnd = 6,       ///< it ended by itself
  kOrder = 7,     ///< locks are taken in another order
};

enum class Remark : uint32_t { kNone = 0, kSaid = 1, kLeft = 2 };  ///< kLeft: it went on without being recorded

enum class ProcessState : uint32_t { kNone = 0, kForking = 1, kRunning = 2, kExecuting = 3, kEnded = 4, kOutside = 5 };

/// Replay: one thread's streams in the feed file, and what it is doing.
struct ThreadSlot {
  uint64_t events_offset, events_size;
  uint64_t data_offset, data_size;
  uint64_t data_ready; ///< so much of it is there by now
  uint64_t locks_offset, locks_size, operations;
  uint64_t operations_done;
  uint32_t process, thread;
  uint32_t state;      ///< ThreadState
  uint32_t wait_kind;  ///< WaitKind
  uint64_t wait_for, wait_position;
  uint64_t event;      ///< the event it is at: the first that has not happened yet
  uint64_t step;       ///< that it has come to last, if it has a horizon
  uint64_t horizon;    ///< how far it may go, in steps: 2e is on leaving event e, 2e + 1 on entering the next;
  uint64_t horizon_point;  ///< beyond that step, up to where it has passed so many points of locks
  uint64_t points;     ///< that it has passed: each time it takes something or gives it back
  uint32_t horizon_futex;
  uint32_t keeps_turn;  ///< it does not hand the turn over on leaving an event before it may go on
  uint32_t tid;        ///< of the replayed thread
  uint16_t complete;   ///< 1: the recording of this thread ends with its end; 0: it was cut off
  uint16_t core;       ///< 1 + the one it was seen on last; 0: it has waited since
};

enum class ThreadState : uint32_t { kNone = 0, kRunning = 1, kWaiting = 2, kEnded = 3, kAtEnd = 4, kDiverged = 5 };
enum class WaitKind : uint32_t { kNone = 0, kChannel = 1, kTurn = 2, kFile = 3, kOrder = 4, kPacket = 5, kJoin = 6, kFutex = 7,
                                kHorizon = 8, kVfork = 9 };

/// One direction of a connection.
struct Direction {
  uint64_t sent;         ///< bytes (record: given to the kernel; replay: in the store)
  uint64_t received;
  uint64_t outside_from; ///< from this position on the bytes come from a process that is not recorded; ~0: never
  uint32_t send_lock, receive_lock;  ///< owner's tid
  uint64_t store_size;   ///< replay: how many bytes are ever received,
  uint64_t first_block;  ///< and which entry of the store's table is the first of them
  uint64_t lead;         ///< replay: a sender that is further ahead lets the receiver catch up; kKeepAll: never
};

/// Replay: the store, a file that is mapped by everybody. It begins with a table of these, one for each piece of each
/// direction, then a link for each block (for the stack of free ones), then the blocks. A block whose bytes have all been
/// received is used again: the store grows only as far as senders are ahead of receivers.
struct StorePiece {
  uint32_t block;     ///< + 1; 0: nothing sent yet
  uint32_t received;  ///< bytes
};
inline constexpr uint64_t kStoreBlock = 1 << 16;
inline constexpr uint64_t kKeepAll = ~uint64_t{0};  ///< Direction::lead: some bytes are looked at twice, perhaps by others

/// A pipe, socket pair or connection between two ends. Direction i carries what end i sends.
struct Connection {
  uint32_t kind;      ///< ConnectionKind
  uint32_t claimed;   ///< both ends belong to recorded processes
  uint32_t holders[2];///< descriptors-in-processes that refer to each end; more than one: its order is recorded
  Direction direction[2];
  uint32_t futex;     ///< replay: bumped when bytes arrive
  uint32_t waiters;   ///< who sleep on it
  uint32_t window;    ///< record: a FIFO's
  uint32_t shared[2]; ///< each end: has ever been held more than once, so positions are written down
  uint32_t peer[2];   ///< record: the socket (connection × 2 + end) that each end of a datagram socket is connected to
  uint64_t name;      ///< record: its key in the address table, while it has a name
};

/// A FIFO has one direction, whoever opens it. A datagram socket is a connection of its own: anybody sends on direction 0, it
/// is end 1; only a pair of them is one connection with two ends.
enum class ConnectionKind : uint32_t { kNone = 0, kPipe = 1, kStream = 2, kDatagram = 3, kSequence = 4, kFifo = 5 };

/// Record: a message that was sent and not yet received.
struct PacketSlot {
  uint64_t key;       ///< of its channel, contents and length; 0: free, 1: being filled
  uint64_t position;  ///< of its first byte in the channel
};

/// Record: the last bytes that recorded processes wrote into a FIFO, by position modulo the size. What a reader gets is
/// looked up here: others may write into it, and read from it, too.
inline constexpr uint32_t kWindowBytes = 256 * 1024;  // what was just read, what came into its place, and a piece
struct FifoWindow {
  uint32_t lock;      ///< owner's tid
  uint32_t owner;     ///< connection
  uint64_t from, until;  ///< positions of the bytes that are here
  char bytes[kWindowBytes];
};

/// A connection that was opened and may be accepted: key → connection.
struct AddressSlot {
  uint64_t key;         ///< 0: free
  uint32_t connection;
  uint32_t pad;
};

/// A file that is read or mapped by reference; index + 1 = file id.
struct FileSlot {
  uint64_t device, inode, size, mtime_ns, ctime_ns;
  uint32_t state;       ///< FileState
  uint32_t pid;         ///< record: /proc/pid/fd/fd is the file
  int32_t fd;
  uint32_t wanted;      ///< kWant…
  uint32_t given;       ///< kFile…
  uint32_t futex;
  uint64_t patched;     ///< name of its patched copy, or 0
  char path[432];       ///< record: as far as known; replay: what to open
};
enum class FileState : uint32_t { kFree = 0, kFilling = 1, kRequested = 2, kReady = 3 };
inline constexpr uint32_t kFileStateBits = 2, kFileStateMask = 3;  ///< above: while filling, the tid of who does it
inline constexpr uint32_t kWantCode = 1;       ///< it is mapped executable: a patched copy, please
inline constexpr uint32_t kWantData = 2;       ///< it is mapped; without: it is only read, and no copy is wanted
inline constexpr uint32_t kFileKept = 1;       ///< a copy is in the recording
inline constexpr uint32_t kFileReference = 2;  ///< the file itself will do: it belongs to the system, or is large
inline constexpr uint32_t kFilePatched = 4;
inline constexpr uint32_t kFileSteady = 8;     ///< until kFileChanged is set, its contents are the ones that replay will have
inline constexpr uint32_t kFileChanged = 16;   ///< or may be soon: set before
/// From this size on a file that nobody writes to is not copied or stored, but read again in replay, if it is still the same.
inline constexpr uint64_t kLargeFile = 4 << 20;

/// A turn: the processes of a sharing group, or the threads of one process, run one at a time.
struct Group {
  uint32_t owner;    ///< tid of the thread that has the turn, 0: free
  uint32_t waiters;
  uint64_t number;   ///< counts changes of owner
  uint32_t last;     ///< who had it last: process << … hashed to the tid
  uint32_t merged;   ///< + 1: this group has become part of that one
  uint32_t futex;
  uint32_t members;  ///< record: processes in it
  uint32_t pi_waiters;  ///< record: threads that wait for locks with priority inheritance
  uint64_t starved;  ///< record: a futex that a thread waits at again and again, because others are quicker
};

/// Replay: turns that no log has, because their owner was killed before it could write them down: after `before` comes `next`.
/// Ordered by group, then by turn.
struct TurnGap {
  uint64_t group, before, next;
};

/// Replay: one write to standard output or error, in recorded order. The bytes lie in the output file.
struct OutputSlot {
  uint64_t position;
  uint32_t length;
  uint32_t fd_and_done;  ///< fd | 0x100 once its bytes are there
};
inline constexpr uint32_t kOutputSlots = 1 << 24;

// --- where everything lies ------------------------------------------------------------------------------------------
constexpr uint64_t page_up(uint64_t n) { return (n + 4095) & ~uint64_t{4095}; }
inline constexpr uint64_t kProcessesAt = page_up(sizeof(Header));
inline constexpr uint64_t kThreadsAt = kProcessesAt + page_up(uint64_t{kMaxProcesses} * sizeof(ProcessSlot));
inline constexpr uint64_t kConnectionsAt = kThreadsAt + page_up(uint64_t{kMaxThreads} * sizeof(ThreadSlot));
inline constexpr uint64_t kAddressesAt = kConnectionsAt + page_up(uint64_t{kMaxConnections} * sizeof(Connection));
inline constexpr uint64_t kFilesAt = kAddressesAt + page_up(uint64_t{kAddressSlots} * sizeof(AddressSlot));
inline constexpr uint64_t kGroupsAt = kFilesAt + page_up(uint64_t{kMaxFiles} * sizeof(FileSlot));
inline constexpr uint64_t kChunkLinksAt = kGroupsAt + page_up(uint64_t{kMaxGroups} * sizeof(Group));
inline constexpr uint64_t kOutputAt = kChunkLinksAt + page_up(uint64_t{kMaxChunks} * sizeof(uint32_t));
constexpr uint64_t store_links_at(uint64_t blocks) { return page_up(blocks * sizeof(StorePiece)); }
constexpr uint64_t store_blocks_at(uint64_t blocks) { return store_links_at(blocks) + page_up(blocks * sizeof(uint32_t)); }
inline constexpr uint64_t kPacketsAt = kOutputAt + page_up(uint64_t{kOutputSlots} * sizeof(OutputSlot));
inline constexpr uint64_t kWindowsAt = kPacketsAt + page_up(uint64_t{kPacketSlots} * sizeof(PacketSlot));
inline constexpr uint64_t kTurnGapsAt = kWindowsAt + page_up(uint64_t{kFifoWindows} * sizeof(FifoWindow));
inline constexpr uint64_t kSharedObjectsAt = kTurnGapsAt + page_up(uint64_t{kMaxTurnGaps} * sizeof(TurnGap));
inline constexpr uint64_t kStageSize = kSharedObjectsAt + page_up(uint64_t{kSharedObjects} * sizeof(SharedObject));

// --- descriptors ------------------------------------------------------------------------------------------------------
// A runtime finds the stage through one environment variable, which the program never sees: its value is
// "<first fd>:<process number>" in fixed width. From that fd on: the stage, the trace (record: `live`; replay:
// the feed), the runtime's own executable; in replay also the store and the output file.
inline constexpr char kVariable[] = "PASTCONE_STAGE=";
enum Fd : int { kFdStage = 0, kFdTrace = 1, kFdRuntime = 2, kFdStore = 3, kFdOutput = 4, kFdCount = 5 };

// --- hand-over to a new program image --------------------------------------------------------------------------------
/// Lies at the start of the chunk ProcessSlot::handoff_chunk - 1 when a recorded process executes a program; written by the
/// recorder for p1 and by the runtime for every later exec. Strings follow, then what only runtimes read.
struct Handoff {
  uint32_t magic;       ///< kHandoffMagic: not a trace chunk
  uint32_t size;        ///< of all of it
  uint32_t from_tool;   ///< 1: the first image of the recording: nothing but the strings follows
  uint32_t path;        ///< offset from the start of this struct: path of the ELF file to run (absolute or relative to cwd)
  uint32_t name;        ///< offset: the name it was executed by, AT_EXECFN
  uint32_t rest;        ///< offset of the runtime's own part
};
inline constexpr uint32_t kHandoffMagic = 0x46484350;  // "PCHF"

/// A view of a mapped stage.
struct View {
  char* base;
  Header& header() const { return *reinterpret_cast<Header*>(base); }
  ProcessSlot& process(uint32_t n) const { return reinterpret_cast<ProcessSlot*>(base + kProcessesAt)[n]; }
  ThreadSlot& thread(uint32_t n) const { return reinterpret_cast<ThreadSlot*>(base + kThreadsAt)[n]; }
  Connection& connection(uint32_t n) const { return reinterpret_cast<Connection*>(base + kConnectionsAt)[n]; }
  AddressSlot& address(uint32_t n) const { return reinterpret_cast<AddressSlot*>(base + kAddressesAt)[n]; }
  FileSlot& file(uint32_t id) const { return reinterpret_cast<FileSlot*>(base + kFilesAt)[id - 1]; }
  Group& group(uint32_t n) const { return reinterpret_cast<Group*>(base + kGroupsAt)[n]; }
  uint32_t& chunk_link(uint32_t n) const { return reinterpret_cast<uint32_t*>(base + kChunkLinksAt)[n]; }
  OutputSlot& output(uint64_t n) const { return reinterpret_cast<OutputSlot*>(base + kOutputAt)[n]; }
  PacketSlot& packet(uint64_t n) const { return reinterpret_cast<PacketSlot*>(base + kPacketsAt)[n % kPacketSlots]; }
  FifoWindow& window(uint32_t n) const { return reinterpret_cast<FifoWindow*>(base + kWindowsAt)[n % kFifoWindows]; }
  SharedObject* shared_objects() const { return reinterpret_cast<SharedObject*>(base + kSharedObjectsAt); }
  TurnGap& turn_gap(uint32_t n) const { return reinterpret_cast<TurnGap*>(base + kTurnGapsAt)[n]; }

  /// Replay: the turn that comes before this one.
  uint64_t turn_before(uint64_t group, uint64_t number) const {
    uint32_t low = 0, high = header().turn_gaps;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      const TurnGap& gap = turn_gap(middle);
      if (gap.group == group && gap.next == number) return gap.before;
      if (gap.group < group || (gap.group == group && gap.next < number)) low = middle + 1;
      else high = middle;
    }
    return number - 1;
  }
};

}  // namespace pastcone::stage
