// pastcone sql: questions about a recording as SQL.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/sql_output.h"
#include "pastcone/cli/where.h"
#include "pastcone/graph/open_graph.h"
#include "pastcone/query/database.h"
#include "pastcone/replay/indexing.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::vector<std::string> what;  ///< [REC] [QUERY]
  bool json = false, tabs = false;
};

struct Question {
  std::string rec, query;
};

/// One argument alone may be either. A query has more than one word, or at least a star or parentheses.
bool is_query(const std::string& text) {
  std::error_code ignored;
  return text.find_first_of(" \t\n;*(") != std::string::npos && !std::filesystem::exists(text, ignored);
}

Result<std::string> read_query() {
  if (isatty(STDIN_FILENO) != 0)
    return fail("there is no query; try `pastcone sql \"SELECT * FROM processes\"`");
  return read_file("/dev/stdin");
}

Result<Question> parse(const std::vector<std::string>& what) {
  if (what.size() > 2)
    return fail("a recording and a query are two arguments, not {}: put the query in quotes", what.size());
  if (what.size() == 2) return Question{what[0], what[1]};
  if (what.size() == 1 && is_query(what[0])) return Question{"", what[0]};
  return Question{what.empty() ? "" : what[0], TRY(read_query())};
}

Result<std::shared_ptr<const causal::Graph>> find_graph(const Recording& recording, bool with_places) {
  auto opened = std::make_shared<const graph::OpenedGraph>(TRY(open_whole_graph(recording, with_places)));
  return std::shared_ptr<const causal::Graph>(opened, &opened->graph);
}

Result<std::vector<query::ObjectSummary>> find_objects(const Recording& recording) {
  replay::IndexedObjects found = TRY(replay::index_objects(recording));
  if (!found.divergence.empty()) print_error("objects are known only so far: " + found.divergence);
  std::vector<query::ObjectSummary> objects;
  for (const replay::ObjectHistory& object : found.objects) {
    objects.push_back({object.name, replay::kind_name(object.kind), object.shared, object.accesses.size(),
                       object.hand_overs(), object.threads()});
  }
  return objects;
}

std::function<std::string_view(EventId)> find_places(const Recording& recording) {
  auto where = std::make_shared<const Where>(Where::find(recording));
  return [where](EventId event) -> std::string_view { return where->text(event); };
}

RowFormat format_of(const Options& options) {
  if (options.json) return RowFormat::kJson;
  return options.tabs || isatty(STDOUT_FILENO) == 0 ? RowFormat::kTabs : RowFormat::kTable;
}

Result<int> ask(const Options& options) {
  Question question = TRY(parse(options.what));
  Recording recording = TRY(open_recording(question.rec));
  // Then one replay does for both; it is no matter if the word means something else.
  bool with_places = question.query.find("location") != std::string::npos;
  query::Source source(recording, {.graph = [&] { return find_graph(recording, with_places); },
                                   .objects = [&recording] { return find_objects(recording); },
                                   .places = [&recording] { return find_places(recording); }});
  query::Database database = TRY(query::Database::open(source));
  std::unique_ptr<RowOutput> output = make_row_output(format_of(options));
  Status status = database.run(question.query, *output);
  output->finish();
  TRY_STATUS(std::move(status));
  return recording.damage().empty() ? 0 : 1;
}

}  // namespace

void add_sql(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& sql = program.add("sql", "asks a recording in SQL", [options] { return ask(*options); });
  sql.add_option(
      "WHAT", options->what,
      "[REC] [QUERY]: a recording (left out, the newest), and one SELECT (left out, it is read from stdin)");
  sql.add_flag("--json", options->json, "for programs: one JSON object a row and line");
  sql.add_flag("--tsv", options->tabs, "tabs between columns, as into a pipe");
  sql.footer(
      "The tables:\n" + query::describe_tables() +
      "(races: a row for each receive and each message that it could have taken instead; location: "
      "where in the source, which may take a replay)\n"
      "and functions hb(a, b): event a came before b, concurrent(a, b): neither came before the "
      "other. For example\n"
      "  pastcone sql \"SELECT kind, count(*) AS n FROM events WHERE process = 'p1' GROUP BY kind "
      "ORDER BY n DESC\"\n"
      "  pastcone sql \"SELECT send, receive FROM messages WHERE hb(receive, 'p1:100')\"\n"
      "  pastcone sql \"SELECT receive, took, group_concat(rival) FROM races GROUP BY receive\"\n"
      "  pastcone sql \"SELECT location, count(*) AS n FROM events GROUP BY location ORDER BY n DESC\"");
}

}  // namespace pastcone::cli
