#include "pastcone/query/kept_table.h"
#include "pastcone/query/tables.h"

namespace pastcone::query {
namespace {

constexpr ColumnInfo kObjects[] = {{"object", "INTEGER"}, {"name", "TEXT"},        {"kind", "TEXT"},
                                   {"shared", "INTEGER"}, {"accesses", "INTEGER"}, {"hand_overs", "INTEGER"},
                                   {"threads", "INTEGER"}};

Result<std::vector<KeptRow>> objects(Source& source) {
  std::vector<KeptRow> rows;
  for (const ObjectSummary& object : *TRY(source.objects())) {
    rows.push_back({kept(rows.size() + 1), object.name.empty() ? KeptValue() : KeptValue(object.name),
                    object.kind, int64_t{object.shared}, kept(object.accesses), kept(object.hand_overs),
                    kept(object.threads)});
  }
  return rows;
}

}  // namespace

const TableInfo kObjectsTable{"objects", kObjects};

std::unique_ptr<Table> objects_table(Source& source) {
  return kept_table(kObjectsTable, [&source] { return objects(source); });
}

}  // namespace pastcone::query
