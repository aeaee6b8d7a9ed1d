// Histories of shared objects, as they are shown.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/replay/object_index.h"

namespace pastcone::cli {

/// The numbers, from 1, of those that are meant: by number, by name, which several may have, or all.
Result<std::vector<size_t>> choose_objects(const std::vector<replay::ObjectHistory>& objects,
                                           const std::string& which);

/// What stands behind an access.
using Mark = std::function<std::string(size_t access)>;

/// "obj 2 total: …", and below it "0: 2w 1: 3w" in lines as wide as the terminal.
void print_history(size_t number, const replay::ObjectHistory& object, const Mark& mark = {});

}  // namespace pastcone::cli
