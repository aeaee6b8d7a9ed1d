// How something ended, for --json.
#pragma once

#include <nlohmann/json.hpp>

#include "pastcone/trace/processes.h"

namespace pastcone::cli {

/// {"how": "exited", "status": 3} …
nlohmann::ordered_json end_json(const End& end);

}  // namespace pastcone::cli
