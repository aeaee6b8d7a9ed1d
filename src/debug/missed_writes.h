// What to say when more words are watched than the processor can, and a write to them may not have been seen.
#pragma once

namespace pastcone::debug {

inline constexpr const char* kMissedWrites =
    "more than four words are watched, and another thread may have written to them while one was in a system "
    "call: say it with fewer variables, or add 'at FILE:LINE'";

}  // namespace pastcone::debug
