#include "pastcone/cli/end_json.h"

namespace pastcone::cli {

nlohmann::ordered_json end_json(const End& end) {
  nlohmann::ordered_json json;
  switch (end.kind) {
    case End::Kind::kRunning:
      json["how"] = "running";
      break;
    case End::Kind::kExited:
      json["how"] = "exited";
      json["status"] = end.value;
      break;
    case End::Kind::kSignalled:
      json["how"] = "signalled";
      json["signal"] = end.value;
      json["name"] = signal_name(static_cast<uint64_t>(end.value));
      break;
    case End::Kind::kStopped:
      json["how"] = "stopped";
      json["reason"] = std::string(to_string(static_cast<format::StopReason>(end.value)));
      json["detail"] = end.text;
      break;
    case End::Kind::kKilled:
      json["how"] = "killed";
      break;
    case End::Kind::kDamaged:
      json["how"] = "damaged";
      json["detail"] = end.text;
      break;
  }
  return json;
}

}  // namespace pastcone::cli
