// The bytes of a recording, as the runtime writes them and the tool reads them. docs/trace-format.md is the
// normative text; this header is its constants. Freestanding: the runtime, which has no libc, includes it too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pastcone::format {

inline constexpr uint16_t kVersion = 7;

// --- streams and chunks -------------------------------------------------------------------------------------------
// Every thread writes two streams: its events, and the bulk bytes (payloads) that some events refer to, in order.
// A stream is cut into chunks. While a program runs, its chunks live in the file `live`; closed ones move into
// `trace.pack`. An item never spans two chunks of the event stream; a payload may span chunks of the data stream.

enum class Stream : uint8_t { kEvents = 0, kData = 1, kLocks = 2 };

inline constexpr uint32_t kChunkSize = 64 * 1024;
inline constexpr uint32_t kChunkMagic = 0x48434350;  // "PCCH"

inline constexpr uint8_t kChunkClosed = 1;  ///< full, or its thread has ended: no byte will be added
inline constexpr uint8_t kChunkLast = 2;    ///< the last chunk of its stream

struct ChunkHeader {
  uint32_t magic;        ///< kChunkMagic, or 0: never used
  uint16_t version;      ///< kVersion
  uint8_t stream;        ///< Stream
  uint8_t flags;         ///< kChunk…
  uint32_t process;      ///< p1 is 1
  uint32_t thread;       ///< p1.1 is 1
  uint32_t sequence;     ///< 0, 1, 2 … in this stream
  uint32_t used;         ///< bytes after this header that are valid; stored last, after the bytes themselves
  uint64_t first_event;  ///< events begun in this thread before this chunk (0 in the first one)
  uint64_t checksum;     ///< xxh64 of the used bytes; in the pack only
  uint64_t operations;   ///< of a lock stream: ordered operations of this thread so far
  uint64_t reserved[2];
};
static_assert(sizeof(ChunkHeader) == 64);
inline constexpr uint32_t kChunkRoom = kChunkSize - sizeof(ChunkHeader);

// --- trace.pack ----------------------------------------------------------------------------------------------------
// PackHeader, then records. A record is a RecordHeader and two zstd frames: its table, the ChunkHeaders, so that one can know
// what is where without unpacking it all; and the used bytes of these chunks, one after the other. Append-only: a torn tail is
// ignored, what is before it stands.

struct PackHeader {
  char magic[8];  ///< "PASTCONE"
  uint16_t version;
  uint16_t reserved16;
  uint32_t reserved32;
};
static_assert(sizeof(PackHeader) == 16);
inline constexpr char kPackMagic[8] = {'P', 'A', 'S', 'T', 'C', 'O', 'N', 'E'};

struct RecordHeader {
  uint32_t magic;       ///< kRecordMagic
  uint32_t chunks;      ///< how many chunks are in it, at most kMaxRecordChunks
  uint32_t table;       ///< bytes of the table's frame
  uint32_t packed;      ///< bytes of the other frame
  uint32_t raw;         ///< bytes that one unpacks to, at most kMaxRecordRaw
  uint32_t frame_checksum;  ///< of the other frame: the low half of its xxh64. Its content has the chunks' checksums
  uint64_t checksum;    ///< xxh64 of the table's frame, seeded with `raw`
};
static_assert(sizeof(RecordHeader) == 32);
inline constexpr uint32_t kRecordMagic = 0x43524350;  // "PCRC"
inline constexpr uint32_t kMaxRecordRaw = 4 * 1024 * 1024, kMaxRecordChunks = 1024;

// --- items of the event stream ----------------------------------------------------------------------------------------
// varint: LEB128, at most 10 bytes. zigzag: a varint of (n << 1) ^ (n >> 63). check: one byte of the thread's
// running hash. `payload n` in a field list: a varint n, and n bytes taken from the data stream.
//
// Items marked * are not events: they belong to the event after them (or, kCorrect, before them).

enum class Op : uint8_t {
  kNone = 0,
  kStart = 0x01,       ///< first item of a thread: pid, tid, parent process, parent thread, parent's event, flags, time ns
  kExec = 0x02,        ///< a program image begins: payload ExecInfo, check
  kThreadExit = 0x03,  ///< zigzag code, check
  kExitGroup = 0x04,   ///< zigzag status, 8 bytes of the running hash
  kSignal = 0x05,      ///< a handler runs, or a stop: varint signal, payload siginfo, check
  kAsync = 0x06,       ///< the next item happened between two calls: payload AsyncPoint, check
  kTurn = 0x07,        ///< * this thread got the turn again: varint group, varint number
  kCorrect = 0x08,     ///< * the event before ended otherwise than predicted: zigzag result
  kClock = 0x09,       ///< varint clock id, zigzag ns since this thread's last reading of that clock
  kRealtime = 0x0a,    ///< zigzag ns since this thread's last reading of CLOCK_REALTIME
  kMonotonic = 0x0b,   ///< zigzag ns since this thread's last reading of CLOCK_MONOTONIC
  kTimeOfDay = 0x0c,   ///< zigzag µs since this thread's last gettimeofday
  kTime = 0x0d,        ///< zigzag s since this thread's last time()
  kTsc = 0x0e,         ///< zigzag ticks since this thread's last rdtsc, varint aux (0 for rdtsc)
  kRandom = 0x0f,      ///< varint value, byte carry flag: rdrand, rdseed
  kFile = 0x10,        ///< * a file id is used for the first time: varint id, payload path
  kCall = 0x11,        ///< varint system call number, byte shape, then as the shape says
  kFatal = 0x12,       ///< the process dies of a signal here: varint signal, 8 bytes of the running hash
  kStop = 0x13,        ///< recording of this process ends here: varint StopReason, payload text
  kOutput = 0x14,      ///< * the next event writes to the program's standard output or error: byte fd, varint order,
                       ///<   varint position: how many such writes, and bytes, there were before in the whole recording
  kOffset = 0x15,      ///< * the next send or receive uses an end that several hold: varint position in the channel
  kFault = 0x16,       ///< a synchronous signal with a handler: varint signal, payload siginfo, check
  kOrder = 0x17,       ///< * the next event is access number N to a shared object: varint object, varint number
  kTurnAfter = 0x18,   ///< * as kTurn, but belongs to the event before it; number 0: gave it up there
  kInside = 0x19,      ///< * the next signal came inside an ordered operation: varint its number
  kFirstCall = 0x20,   ///< from here on: kFirstCall + index into kFrequent: a call in a usual shape
};

inline constexpr uint8_t kStartProcess = 1, kStartThread = 2, kStartRoot = 4, kStartVfork = 8;

/// How a call's fields are laid out. All end in check.
enum class Shape : uint8_t {
  kResult = 0,  ///< zigzag result
  kOut = 1,     ///< zigzag result, payload: what the call wrote into memory
  kSend = 2,    ///< varint channel, varint length. Written before the call; the result is `length` unless kCorrect follows
  kReceive = 3, ///< varint channel, zigzag result. The bytes come from the channel's sender
  kFile = 4,    ///< varint file id, varint position, zigzag result. The bytes come from the file
  kCreate = 5,  ///< zigzag result, varint process, varint thread. Written before the call, result by kCorrect if it failed
  kAddress = 6, ///< varint result (an address, or a negated error), varint file id * 2 + (1 if its patched copy is mapped), or 0
  kMessage = 7, ///< varint channel, zigzag result, payload: as kReceive, with addresses and descriptors passed along
  kOpen = 8,    ///< varint channel + 1 that this end sends on (0: not a connection), zigzag result, payload
  kCount = 9,
};

/// A channel is a direction of a connection: connection id * 2 + the end that sends.
struct Frequent {
  uint16_t number;
  Shape shape;
};

inline constexpr Frequent kFrequent[] = {
#define PASTCONE_FREQUENT(number, shape) {number, Shape::shape},
#include "frequent.inc"
#undef PASTCONE_FREQUENT
};
inline constexpr size_t kFrequentCount = sizeof(kFrequent) / sizeof(kFrequent[0]);
static_assert(kFrequentCount <= 256 - static_cast<size_t>(Op::kFirstCall));

/// Why a recording ends before the program did.
enum class StopReason : uint8_t {
  kUnsupportedCall = 1,
  kNoSpace = 2,
  kMaxSize = 3,
  kLimit = 4,       ///< a table of the stage is full
  kUnrecordable = 5,  ///< this process goes on as a program that cannot be recorded
  kByUser = 6,        ///< the user ended the recording; the program goes on
};

// --- payloads ---------------------------------------------------------------------------------------------------------
/// Payload of kExec: this struct, then (each NUL-terminated) the program's path, the name it was executed by (AT_EXECFN),
/// the working directory, argc arguments, envc environment strings; then auxc pairs of uint64_t, the auxiliary vector;
/// then, in a recording's first image, what its descriptors are, for the runtime alone.
struct ExecInfo {
  uint32_t argc, envc, auxc;
  uint32_t strings;           ///< bytes of all the strings
  uint32_t program_file;      ///< file ids
  uint32_t interpreter_file;  ///< 0: none (a static program)
  uint32_t patched;           ///< 1: the program's, 2: the interpreter's patched copy was mapped
  uint32_t reserved;
  uint64_t program_base, interpreter_base, entry, stack_top;
  uint64_t brk;
  uint64_t ignored, blocked;  ///< signals, bit n - 1 for signal n: ignored, and masked, from the start
  uint8_t random[16];         ///< what AT_RANDOM points to
};
static_assert(sizeof(ExecInfo) == 104);

/// Payload of kAsync: this, then `count` times AsyncWord (at most 48).
struct AsyncPoint {
  uint64_t registers[18];      ///< rax rbx rcx rdx rsi rdi rbp rsp r8…r15 rip rflags (& 0xcd5)
  uint64_t changed_registers;  ///< bit set in that order: others the last time the thread came by; 0xff7f: not known
  uint64_t count;
};
struct AsyncWord {
  uint64_t address, value;  ///< memory that the thread had changed a short time before
};

}  // namespace pastcone::format
