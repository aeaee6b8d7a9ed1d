// The remote protocol's server, for one gdb that has connected: `target remote SOCKET`.
//
// Single-threaded: its owner waits until fd() is readable and calls serve(), which asks the target and
// answers. While the target is resumed gdb may send its interrupt, the byte 0x03; the target's owner may look
// for it (MSG_PEEK) and come back with SIGINT. What of it is found here later is dropped.
#pragma once

#include <string>
#include <string_view>

#include "pastcone/base/files.h"
#include "pastcone/gdb/packets.h"
#include "pastcone/gdb/requests.h"
#include "pastcone/gdb/target.h"

namespace pastcone::gdb {

class RemoteServer {
 public:
  /// The socket is connected, of type stream. `stop` is why the process stands.
  RemoteServer(UniqueFd socket, Target& target, const Stop& stop = {})
      : socket_(std::move(socket)), requests_(target, stop) {}

  int fd() const { return socket_.get(); }
  /// Handles what has come, without waiting for more than the rest of a packet that has begun. A resume is
  /// answered before it returns. False: gdb has hung up, or is to be hung up on.
  bool serve();
  /// Whether gdb has said goodbye; kNone if it was just gone.
  Requests::Leave leave() const { return requests_.leave(); }

 private:
  bool receive();
  bool handle(const PacketReader::Item& item);
  bool send(std::string_view bytes);

  UniqueFd socket_;
  Requests requests_;
  PacketReader reader_;
  std::string last_;  ///< as sent, for gdb to ask for again
};

}  // namespace pastcone::gdb
