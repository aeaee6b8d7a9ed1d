#include "pastcone/replay/places.h"

#include "pastcone/record/hash_cache.h"
#include "pastcone/replay/surroundings.h"
#include "pastcone/stage/where.h"

namespace pastcone::replay {
namespace {

using symbols::CodeFile;
using symbols::Location;

/// Two places in one line are one place for the user.
std::string key_of(const Location& location) {
  return fmt::format("{}\n{}\n{}\n{}\n{}", location.module.native(), location.file, location.line,
                     location.function, location.file.empty() ? location.offset : 0);
}

}  // namespace

Places::Places(const Recording& recording, WhereIndex known)
    : recording_(recording), index_(std::move(known)) {}
Places::~Places() = default;

/// A file that is not what it was tells nothing but its name.
const CodeFile* Places::file(uint32_t id) {
  auto [known, is_new] = files_.try_emplace(id);
  const FileEntry* entry = recording_.files().find(id);
  if (is_new && entry != nullptr) {
    record::HashCache hashes(cache_directory().value_or(Path()));
    if (auto path = find_file(recording_, *entry, hashes)) known->second = CodeFile::open(*path, entry->path);
  }
  return known->second ? &*known->second : nullptr;
}

/// Looking into debug information takes long, and most places are in many chains.
const std::vector<Location>& Places::locations_at(uint64_t place) {
  auto [known, is_new] = by_place_.try_emplace(place);
  if (!is_new) return known->second;
  auto id = static_cast<uint32_t>(place >> stage::kPlaceFileAt);
  uint64_t offset = place & stage::kPlaceOffset;
  if (const CodeFile* code = file(id)) known->second = code->locate(offset);
  const FileEntry* entry = recording_.files().find(id);
  if (known->second.empty() && entry != nullptr) {
    Location& unknown = known->second.emplace_back();
    unknown.module = entry->path;
    unknown.offset = offset;
  }
  return known->second;
}

const Location* Places::locate(const CallChain& chain) {
  std::vector<Location> calls;
  for (uint64_t place : chain) {
    const std::vector<Location>& found = locations_at(place);
    calls.insert(calls.end(), found.begin(), found.end());
  }
  if (calls.empty()) return nullptr;
  Location chosen = symbols::choose(calls);
  return &locations_.try_emplace(key_of(chosen), chosen).first->second;
}

const Location* Places::find(EventId event) {
  auto chain = index_.find(event);
  if (!chain) return nullptr;
  auto [known, is_new] = by_chain_.try_emplace(*chain);
  if (is_new) known->second = locate(index_.chains()[*chain]);
  return known->second;
}

}  // namespace pastcone::replay
