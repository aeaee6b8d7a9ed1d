// The table of system calls while it is made, at compile time; each family of calls adds its rows.
#pragma once

#include "call_effects.h"
#include "handlers.h"

namespace pastcone::runtime::table {

struct Table {
  CallInfo of[kCallCount];

  constexpr void logged(u32 nr, u8 arguments, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    of[nr] = {Kind::kLogged, arguments, ins, outs, nullptr};
  }
  constexpr void sleeps(u32 nr, u8 arguments, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    of[nr] = {Kind::kBlocking, arguments, ins, outs, nullptr};
  }
  constexpr void custom(u32 nr, u8 arguments, Handler handler, OutsFunction outs = nullptr, InsFunction ins = nullptr) {
    of[nr] = {Kind::kCustom, arguments, ins, outs, handler};
  }
  constexpr void native(u32 nr, u8 arguments) { of[nr] = {Kind::kNative, arguments, nullptr, nullptr, nullptr}; }
  constexpr void declined(u32 nr) { of[nr] = {Kind::kDeclined, 0, nullptr, nullptr, nullptr}; }
  constexpr void denied(u32 nr) { of[nr] = {Kind::kDenied, 0, nullptr, nullptr, nullptr}; }
};

}  // namespace pastcone::runtime::table
