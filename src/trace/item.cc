#include "pastcone/trace/item.h"

#include "pastcone/trace/call_names.h"

namespace pastcone {

std::string_view kind_name(const Item& item) {
  using format::Op;
  switch (item.op) {
    case Op::kCall:
      return call_name(item.call);
    case Op::kStart:
      return "start";
    case Op::kExec:
      return "exec";
    case Op::kThreadExit:
      return "exit";
    case Op::kExitGroup:
      return "exit_group";
    case Op::kSignal:
      return "signal";
    case Op::kAsync:
      return "async";
    case Op::kTurn:
    case Op::kTurnAfter:
      return "turn";
    case Op::kCorrect:
      return "correct";
    case Op::kClock:
    case Op::kRealtime:
    case Op::kMonotonic:
      return "clock_gettime";
    case Op::kTimeOfDay:
      return "gettimeofday";
    case Op::kTime:
      return "time";
    case Op::kTsc:
      return "rdtsc";
    case Op::kRandom:
      return "rdrand";
    case Op::kFile:
      return "file";
    case Op::kFatal:
      return "fatal";
    case Op::kStop:
      return "stop";
    case Op::kOutput:
      return "output";
    case Op::kOffset:
      return "offset";
    case Op::kFault:
      return "fault";
    case Op::kOrder:
      return "order";
    case Op::kInside:
      return "inside";
    default:
      return {};
  }
}

const char* shape_name(format::Shape shape) {
  using format::Shape;
  switch (shape) {
    case Shape::kResult:
      return "result";
    case Shape::kOut:
      return "out";
    case Shape::kSend:
      return "send";
    case Shape::kReceive:
      return "receive";
    case Shape::kFile:
      return "file";
    case Shape::kCreate:
      return "create";
    case Shape::kAddress:
      return "address";
    case Shape::kMessage:
      return "message";
    case Shape::kOpen:
      return "open";
    default:
      return "?";
  }
}

}  // namespace pastcone
