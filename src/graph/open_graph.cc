#include "pastcone/graph/open_graph.h"

#include "pastcone/causal/build.h"
#include "pastcone/causal/flat.h"
#include "pastcone/graph/execution.h"
#include "pastcone/trace/checksum.h"
#include "pastcone/trace/file_names.h"

namespace pastcone::graph {
namespace {

/// Which recording it is, how much of it there is, and by which rules it is read.
std::string key_of(const Recording& recording) {
  ByteWriter extent;
  for (const auto& [thread, streams] : recording.threads()) {
    extent.u32(thread.process().number());
    extent.u32(thread.number());
    extent.u64(streams.events.bytes);
    extent.u64(streams.locks.bytes);
    extent.u64(streams.operations);
    extent.u32(streams.events.last);
  }
  return fmt::format("{} {:016x} {}", recording.manifest().id, xxh64(extent.view()), PASTCONE_GRAPH_RULES);
}

Result<OpenedGraph> open_kept(const Path& path, ByteView key) {
  OpenedGraph opened;
  opened.file = TRY(MappedFile::open(path));
  opened.graph = TRY(causal::open_flat(opened.file.bytes(), key));
  return opened;
}

Status keep(const causal::Graph& graph, const Path& path, ByteView key) {
  return write_file_atomic(path, [&](int fd) {
    return causal::write_flat(graph, key, [&](ByteView piece) { return write_all(fd, piece, path); });
  });
}

}  // namespace

Result<OpenedGraph> open_graph(const Recording& recording) {
  Path path = recording.directory() / kGraphName;
  bool on_disk = path.has_parent_path() && !recording.growing();
  std::string key = key_of(recording);
  if (on_disk) {
    if (auto kept = open_kept(path, as_bytes(key))) return kept;
  }
  causal::Execution execution = TRY(read_execution(recording));
  OpenedGraph made;
  made.graph = TRY(causal::build(std::move(execution)));
  if (on_disk) (void)keep(made.graph, path, as_bytes(key));  // else it is made again next time
  return made;
}

}  // namespace pastcone::graph
