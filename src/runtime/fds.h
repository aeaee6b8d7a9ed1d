// What the program's descriptors are: the same table in record and replay, kept by the calls that make, copy and close
// descriptors. In replay it is all there is; no descriptor of the program exists.
#pragma once

#include "pastcone/stage/layout.h"
#include "sys.h"

namespace pastcone::runtime {

enum class FdKind : u8 {
  kClosed = 0,
  kOther,       ///< anything whose results are simply logged; object, while recording: see meetings.h, or 0; in replay: of a pidfd the pid, or 0
  kFile,        ///< regular file; object: its id in the stage, once known
  kConnection,  ///< an end of a pipe, socket pair or connection; object: connection, end
  kSocket,      ///< a stream or sequence socket without a peer
  kOutput,      ///< the program's standard output or error, whatever that is
  kFifo,        ///< a FIFO, or a pipe with O_DIRECT; object: connection
  kSequence,    ///< as kConnection, but what is sent are messages
  kDatagram,    ///< a Unix datagram socket; object: connection, end
};

struct Fd {
  FdKind kind;
  u8 end;         ///< of the connection; kOutput: 1 or 2
  bool cloexec;
  u8 flags;       ///< kFd…
  u32 object;
};
inline constexpr u8 kFdAsked = 1;        ///< kFile: the recorder was asked for the file's id
inline constexpr u8 kFdNonBlocking = 2;
inline constexpr u8 kFdSequence = 4;     ///< kSocket: will be a kSequence
inline constexpr u8 kFdEvent = 8;        ///< kOther: an eventfd
inline constexpr u8 kFdWritable = 64;

/// It stands for an end of a connection in the stage.
inline bool has_end(const Fd& fd) {
  return fd.kind == FdKind::kConnection || fd.kind == FdKind::kFifo || fd.kind == FdKind::kSequence ||
         fd.kind == FdKind::kDatagram;
}

static_assert(sizeof(Fd) == sizeof(stage::Descriptor) && (u8)FdKind::kConnection == stage::kDescriptorConnection &&
              (u8)FdKind::kFifo == stage::kDescriptorFifo && (u8)FdKind::kSequence == stage::kDescriptorSequence &&
              (u8)FdKind::kDatagram == stage::kDescriptorDatagram);

struct FdTable {
  Fd* of;
  u32 size;   ///< entries mapped
};

Fd get_fd(i64 fd);                      ///< kClosed if out of range
void set_fd(i64 fd, const Fd& entry);   ///< replaces; holders are counted
void set_fd_raw(i64 fd, const Fd& entry);  ///< without counting holders
void close_fd(i64 fd);
void copy_fd(i64 from, i64 to, bool cloexec);
void set_cloexec(i64 fd, bool on);
/// A fork: the child holds every end too. Called before it, by the parent; undone if it fails.
void hold_all_fds(int direction);
/// An exec: drops what is marked close-on-exec.
void close_cloexec_fds();
FdTable clone_fds(const FdTable& from);
void free_fds(FdTable& table);
/// Record, first image: finds out what the inherited descriptors are.
void scan_fds();

}  // namespace pastcone::runtime
