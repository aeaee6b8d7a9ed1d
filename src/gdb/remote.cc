#include "pastcone/gdb/remote.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace pastcone::gdb {
namespace {

void wait_for(int fd, short events) {
  pollfd one{fd, events, 0};
  poll(&one, 1, -1);
}

}  // namespace

bool RemoteServer::serve() {
  do {
    if (!receive()) return false;
    for (;;) {
      PacketReader::Item item = reader_.next();
      if (item.kind == PacketReader::Kind::kNone) break;
      if (!handle(item)) return false;
    }
  } while (reader_.begun());
  return true;
}

bool RemoteServer::receive() {
  char bytes[16384];
  for (;;) {
    ssize_t got = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) {
      reader_.add({bytes, static_cast<size_t>(got)});
      return true;
    }
    if (got == 0) return false;
    if (errno == EAGAIN) {
      if (!reader_.begun()) return true;
      wait_for(socket_.get(), POLLIN);
    } else if (errno != EINTR) {
      return false;
    }
  }
}

bool RemoteServer::handle(const PacketReader::Item& item) {
  bool acknowledged = !requests_.without_acknowledgements();
  switch (item.kind) {
    case PacketReader::Kind::kNone:
      return true;
    case PacketReader::Kind::kDamaged:
      return !acknowledged || send("-");
    case PacketReader::Kind::kResend:
      return !acknowledged || send(last_);
    case PacketReader::Kind::kPacket:
      break;
  }
  if (acknowledged && !send("+")) return false;
  std::optional<std::string> answer = requests_.answer(item.data);
  if (answer) {
    last_ = frame(*answer);
    if (!send(last_)) return false;
  }
  return requests_.leave() == Requests::Leave::kNone;
}

bool RemoteServer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(socket_.get(), POLLOUT);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace pastcone::gdb
