// What the files of a recording are called.
#pragma once

namespace pastcone {

inline constexpr char kManifestName[] = "manifest.json";
inline constexpr char kPackName[] = "trace.pack";
inline constexpr char kLiveName[] = "live";
inline constexpr char kObjectsName[] = "objects.idx";
inline constexpr char kGraphName[] = "graph.idx";
inline constexpr char kWhereName[] = "where.idx";
inline constexpr char kFileTableName[] = "files.jsonl";
inline constexpr char kFilesFolder[] = "files";

}  // namespace pastcone
