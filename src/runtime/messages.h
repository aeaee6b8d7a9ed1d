// What travels beside the bytes of a message: addresses, control data, descriptors.
#pragma once

#include "buffers.h"

namespace pastcone::runtime {

/// Everything a read or receive filled: bytes, address, header. An OutsFunction.
void stored_outs(Exchange& x, const u64* a, long result);
/// All but the bytes: the header of recvmsg, the address of recvfrom.
bool has_beside(Call& c);
void beside_outs(Call& c, Exchange& x, long result);
/// Sender: remembers what the descriptors it passes are, for whoever receives them.
void note_passed_fds(Call& c);
/// Receiver: enters what it got into the table.
void take_passed_fds(Call& c, long result);

}  // namespace pastcone::runtime
