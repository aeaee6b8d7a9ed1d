// Unix datagram and seqpacket sockets: channels of messages. Between recorded processes their contents are not stored: a
// message is known by the position of its first byte in its channel, which sender and receiver both write down. A byte's room
// before it is left free, so that empty messages have a place too.
//
// Anybody can send to a datagram socket that has a name. So the sender puts down what it is about to send (its hash), and only a
// message that is found there is left to its sender; any other is stored.
#pragma once

#include "call.h"

namespace pastcone::runtime {

long send_packets(Call& c, const Fd& fd);
long receive_packets(Call& c, const Fd& fd);
/// These do; the others (pread, …) fail or are odd, and are simply logged.
bool sends_packets(Call& c, const Fd& fd);
bool receives_packets(Call& c, const Fd& fd);

}  // namespace pastcone::runtime
