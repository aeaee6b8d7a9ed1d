// Objects that the program names itself: include/pastcone/object.h.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// The call by which a program finds out that it is recorded; it leaves no event. False: it is another one.
bool answer_object_call(Frame& frame);

}  // namespace pastcone::runtime
