#include "pastcone/cli/where.h"

#include "pastcone/cli/print_error.h"
#include "pastcone/replay/indexing.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {

using symbols::Location;
using Json = nlohmann::ordered_json;

Where Where::find(const Recording& recording) {
  Where where;
  if (recording.growing()) return where;
  auto found = replay::index_places(recording);
  std::string why = !found ? found.error().message : found->divergence;
  if (!why.empty()) print_error("places in the source are known only as far as replay goes: " + why);
  if (found) where.places_ = std::make_unique<replay::Places>(recording, std::move(found->places));
  return where;
}

Where Where::known(const Recording& recording, bool replay) {
  if (replay) return find(recording);
  Where where;
  if (auto places = replay::known_places(recording))
    where.places_ = std::make_unique<replay::Places>(recording, *std::move(places));
  return where;
}

const Location* Where::operator[](EventId event) const {
  return places_ == nullptr ? nullptr : places_->find(event);
}

const std::string& Where::text(const Location* location) const {
  auto [known, is_new] = texts_.try_emplace(location);
  if (is_new && location != nullptr) known->second = printable(symbols::place_text(*location));
  return known->second;
}

const std::string& Where::text(EventId event) const { return text((*this)[event]); }

Json Where::json(EventId event) const { return location_json((*this)[event]); }

Json location_json(const Location* location) {
  if (location == nullptr) return {};
  Json json;
  json["function"] = location->function.empty() ? Json() : Json(location->function);
  json["file"] = location->file.empty() ? Json() : Json(location->file);
  json["line"] = location->file.empty() ? Json() : Json(location->line);
  json["module"] = location->module.native();
  json["offset"] = location->offset;
  return json;
}

}  // namespace pastcone::cli
