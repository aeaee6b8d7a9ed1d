// Whether looking for repetition in bytes pays, told in a fraction of the time that looking for it takes.
#pragma once

#include "pastcone/base/bytes.h"

namespace pastcone {

/// Whether much of it (more than a sixteenth) was there before, in pieces of two dozen bytes and more,
/// however far apart. It takes tens of kilobytes to tell. A piece out of the middle would not tell: threads
/// that hand one lock to and fro write down nearly the same, each in its own stream, and nothing in one of
/// them need come twice.
bool repeats_itself(ByteView bytes);

}  // namespace pastcone
