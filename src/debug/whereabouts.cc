#include "pastcone/debug/whereabouts.h"

#include "pastcone/replay/examination.h"

namespace pastcone::debug {

symbols::Symbols& Whereabouts::symbols_of(ProcessId process) {
  auto maps = symbols::read_maps(engine_.now().pid(process));
  std::vector<symbols::Mapping> mappings = symbols::parse_mappings(maps ? *maps : "");
  std::erase_if(mappings, [](const symbols::Mapping& mapping) { return !replay::is_program(mapping) || mapping.file.empty(); });
  std::string key;
  for (const symbols::Mapping& mapping : mappings)
    key += fmt::format("{:x} {:x} {}\n", mapping.start, mapping.offset, mapping.file.native());
  std::unique_ptr<symbols::Symbols>& symbols = known_[key];
  if (!symbols) {
    symbols = std::make_unique<symbols::Symbols>(
        mappings, replay::originals(engine_.world().recording, engine_.now().live().stage()));
  }
  return *symbols;
}

symbols::Location Whereabouts::locate(ThreadId thread) {
  Incarnation& now = engine_.now();
  if (now.tid(thread) == 0 || !now.freeze(thread.process())) return {};
  auto registers = now.registers(thread);
  if (!registers) return {};
  symbols::Symbols& symbols = symbols_of(thread.process());
  auto read = [&](uint64_t address, uint64_t& word) {
    return now.read(thread.process(), address, &word, sizeof word);
  };
  std::vector<uint64_t> addresses = symbols.unwind(as_dwarf(*registers), read);
  if (!addresses.empty() && now.in_hooked_call(thread)) --addresses.front();  // in the call, not behind it
  std::vector<symbols::Location> calls;
  for (uint64_t address : addresses)
    for (symbols::Location& each : symbols.locate_all(address)) calls.push_back(std::move(each));
  return choose(calls);
}

}  // namespace pastcone::debug
