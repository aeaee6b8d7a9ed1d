#include "pastcone/graph/open_graph.h"

#include "pastcone/base/files.h"
#include "pastcone/causal/build.h"
#include "pastcone/causal/flat.h"
#include "pastcone/graph/execution.h"
#include "pastcone/graph/lock_edges.h"
#include "pastcone/graph/names.h"
#include "pastcone/trace/checksum.h"
#include "pastcone/trace/file_names.h"

namespace pastcone::graph {
namespace {

/// Which recording it is, how much of it there is, and by which rules it is read.
std::string key_of(const Recording& recording, bool with_facts) {
  ByteWriter extent;
  for (const auto& [thread, streams] : recording.threads()) {
    extent.u32(thread.process().number());
    extent.u32(thread.number());
    extent.u64(streams.events.bytes);
    extent.u64(streams.locks.bytes);
    extent.u64(streams.operations);
    extent.u32(streams.events.last);
  }
  return fmt::format("{} {:016x} {}{}", recording.manifest().id, xxh64(extent.view()), PASTCONE_GRAPH_RULES,
                     with_facts ? "" : " without facts");
}

Result<OpenedGraph> open_kept(const Path& path, ByteView key) {
  OpenedGraph opened;
  opened.file = TRY(MappedFile::open(path));
  opened.graph = TRY(causal::open_flat(opened.file.bytes(), key));
  opened.kept = true;
  return opened;
}

Status keep(const causal::Graph& graph, const Path& path, ByteView key) {
  return write_file_atomic(path, [&](int fd) {
    return causal::write_flat(graph, key, [&](ByteView piece) { return write_all(fd, piece, path); });
  });
}

Result<causal::Graph> make(const Recording& recording, const Facts& facts) {
  LockEdges locks = find_lock_edges(facts, recording.manifest().parallel);
  causal::Execution execution = TRY(read_execution(recording, facts, locks));
  execution.objects = static_cast<uint32_t>(facts.objects.size());
  add_lock_steps(locks, execution);
  return causal::build(std::move(execution), {.name = name_of});
}

}  // namespace

Result<OpenedGraph> open_graph(const Recording& recording, const FindFacts& find) {
  Path path = recording.directory() / kGraphName;
  bool on_disk = path.has_parent_path() && !recording.growing();
  std::string key = key_of(recording, static_cast<bool>(find));
  if (on_disk) {
    if (auto kept = open_kept(path, as_bytes(key))) return kept;
  }
  Facts facts = find ? find() : Facts();
  OpenedGraph made;
  auto graph = make(recording, facts);
  if (!graph && !facts.list.empty()) {
    made.contradiction = graph.error().message;
    graph = make(recording, {});
  }
  made.graph = TRY(std::move(graph));
  made.whole = find && facts.complete && made.contradiction.empty();
  if (on_disk && facts.complete && made.contradiction.empty())
    (void)keep(made.graph, path, as_bytes(key));  // else it is made again next time
  return made;
}

}  // namespace pastcone::graph
