// Where in the program events are, for the commands that show them.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "pastcone/replay/places.h"

namespace pastcone::cli {

class Where {
 public:
  /// Nothing is known.
  Where() = default;
  /// Replays the recording, if that has not been done yet. Says on standard error if there is less to know
  /// than there could be.
  static Where find(const Recording& recording);
  /// Only what is known without a replay; with `replay`, as find().
  static Where known(const Recording& recording, bool replay);

  explicit operator bool() const { return places_ != nullptr; }
  /// The same place has the same address; nullptr: not known.
  const symbols::Location* operator[](EventId event) const;
  /// "server.c:80 in handle_request"; empty: not known. Valid as long as this is.
  const std::string& text(EventId event) const;
  const std::string& text(const symbols::Location* location) const;
  /// null: not known.
  nlohmann::ordered_json json(EventId event) const;

 private:
  std::unique_ptr<replay::Places> places_;
  mutable std::map<const symbols::Location*, std::string> texts_;
};

nlohmann::ordered_json location_json(const symbols::Location* location);

}  // namespace pastcone::cli
