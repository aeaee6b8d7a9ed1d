#include "pastcone/query/database.h"

#include <gtest/gtest.h>

#include "pastcone/causal/build.h"
#include "pastcone/graph/execution.h"
#include "pastcone/query/tables.h"
#include "pastcone/trace/testing/recording_builder.h"

namespace pastcone::query {
namespace {

using trace_testing::family;
using trace_testing::MemoryRecording;
using trace_testing::RecordingBuilder;
using trace_testing::StreamBuilder;

/// Rows as lines, values with a bar in between.
class Lines : public RowVisitor {
 public:
  void columns(const std::vector<std::string>&) override {}
  bool row(const std::vector<Value>& values) override {
    std::string line;
    for (const Value& value : values) {
      if (!line.empty()) line += '|';
      if (const auto* number = std::get_if<int64_t>(&value)) line += std::to_string(*number);
      if (const auto* part = std::get_if<std::string_view>(&value)) line += *part;
    }
    text += line + "\n";
    return true;
  }
  std::string text;
};

class Querying : public ::testing::Test {
 protected:
  explicit Querying(const RecordingBuilder& builder = family()) : made_(builder) {
    Finders finders;
    finders.graph = [this]() -> Result<std::shared_ptr<const causal::Graph>> {
      ++graphs_;
      causal::Execution execution = TRY(graph::read_execution(*made_.recording));
      return std::make_shared<const causal::Graph>(TRY(causal::build(std::move(execution))));
    };
    finders.objects = []() -> Result<std::vector<ObjectSummary>> {
      return std::vector<ObjectSummary>{{"total", "object", true, 12, 3, 2}, {"", "mutex", false, 1, 0, 1}};
    };
    finders.places = [this]() -> std::function<std::string_view(EventId)> {
      ++places_;
      return [](EventId event) -> std::string_view { return event.index() == 5 ? "server.c:80 in f" : ""; };
    };
    source_.emplace(*made_.recording, std::move(finders));
    database_.emplace(Database::open(*source_).value());
  }

  std::string ask(std::string_view query) {
    Lines lines;
    Status status = database_->run(query, lines);
    return status ? lines.text : lines.text + "error: " + status.error().message;
  }

  MemoryRecording made_;
  int graphs_ = 0, places_ = 0;
  std::optional<Source> source_;
  std::optional<Database> database_;
};

TEST_F(Querying, Events) {
  EXPECT_EQ(ask("SELECT count(*), count(DISTINCT thread), max(number) FROM events"), "16|3|8\n");
  EXPECT_EQ(ask("SELECT event, kind, channel, length, result FROM events WHERE shape IN ('send', 'receive') "
                "ORDER BY event"),
            "p1:5|write|12|45|45\np2:3|read|12||45\np2:4|read|12||-11\n");
  EXPECT_EQ(ask("SELECT error FROM events WHERE event = 'p2:4'"), "EAGAIN\n");
  EXPECT_EQ(ask("SELECT event, created FROM events WHERE created IS NOT NULL"), "p1:3|p2\np1:4|p1.2\n");
  EXPECT_EQ(ask("SELECT time_ns - (SELECT started_ns FROM processes WHERE process = 'p1') FROM events WHERE "
                "kind = 'clock_gettime'"),
            "1000000\n");
  EXPECT_EQ(ask("SELECT signal FROM events WHERE kind = 'signal'"), "10\n");
  EXPECT_EQ(graphs_, 0) << "events need no graph";
}

TEST_F(Querying, ConditionsSelectTheSameAsATestOfEachRow) {
  for (const char* where : {"process = 'p1'",
                            "process = 'p9'",
                            "process = 'nonsense'",
                            "thread = 'p1.2'",
                            "thread = 'p1'",
                            "thread = 'p1.1'",
                            "thread = 7",
                            "event = 'p1.2:2'",
                            "event = 'p1:99'",
                            "event = 'p1:0'",
                            "number = 3",
                            "number > 3",
                            "number >= 3 AND number < 5",
                            "number <= 2",
                            "number < 1",
                            "number > 9223372036854775806",
                            "number < -9223372036854775807",
                            "number > 2.5",
                            "number = NULL",
                            "process = 'p1' AND number BETWEEN 2 AND 3",
                            "process = 'p1' AND thread = 'p2'",
                            "thread IN ('p2', 'p1.2') AND number > 1",
                            "process = 'P1' COLLATE NOCASE",
                            "event = 'p1:2' AND number = 3",
                            "process = 'p1' AND process = 'p2'"}) {
    // A + before a column keeps its conditions from the table.
    std::string plain = where;
    for (const char* column : {"process", "thread", "event", "number"}) {
      for (size_t at = 0; (at = plain.find(std::string(column) + " ", at)) != std::string::npos; at += 2)
        plain.insert(at, "+");
    }
    std::string all = "SELECT event, kind FROM events WHERE ";
    std::string rows = ask(all + where + " ORDER BY event");
    EXPECT_EQ(rows, ask(all + plain + " ORDER BY event")) << where << " / " << plain;
    EXPECT_EQ(rows.find("error"), std::string::npos) << rows;
  }
}

TEST_F(Querying, GroupsAreTheSameAsThoseOfSQLite) {
  for (const char* columns :
       {"kind", "process", "thread, kind", "error", "channel", "call, error", "path", "kind, process"}) {
    for (const char* values :
         {"count(*)", "count(*), sum(number), max(length), min(result)", "count(DISTINCT thread)"}) {
      // SQLite groups what a subquery with a limit gives.
      std::string sorted =
          fmt::format("SELECT {0}, {1} FROM (SELECT * FROM events LIMIT 1000) GROUP BY {0} ORDER BY {0}",
                      columns, values);
      std::string all = ask(sorted);
      EXPECT_EQ(all.find("error:"), std::string::npos) << all;
      EXPECT_EQ(ask(fmt::format("SELECT {0}, {1} FROM events GROUP BY {0}", columns, values)), all);
      EXPECT_EQ(ask(fmt::format("SELECT {0}, {1} FROM events GROUP BY {0} ORDER BY {0}", columns, values)),
                all);
    }
    EXPECT_EQ(ask(fmt::format("SELECT DISTINCT {} FROM events", columns)),
              ask(fmt::format("SELECT {0} FROM (SELECT * FROM events LIMIT 1000) GROUP BY {0} ORDER BY {0}",
                              columns)));
    EXPECT_EQ(ask(fmt::format("SELECT {0}, count(*) FROM events GROUP BY {0} ORDER BY kind DESC, {0} DESC",
                              columns)),
              ask(fmt::format("SELECT {0}, count(*) FROM (SELECT * FROM events LIMIT 1000) GROUP BY {0} "
                              "ORDER BY kind DESC, {0} DESC",
                              columns)));
  }
  EXPECT_EQ(ask("SELECT kind, count(*) FROM events WHERE process = 'p2' AND number > 2 GROUP BY kind"),
            "read|2\nsignal|1\n");
}

TEST_F(Querying, Processes) {
  EXPECT_EQ(
      ask("SELECT process, pid, parent, threads, events, end, status, program, arguments FROM processes"),
      "p1|100||2|11|exit 3|3|/usr/bin/tool|[\"/usr/bin/tool\",\"--flag\"]\n"
      "p2|101|p1:3|1|5|killed||/bin/cat|[\"/bin/cat\",\"-n\"]\n");
  EXPECT_EQ(ask("SELECT thread, process, number, tid, parent, events FROM threads"),
            "p1|p1|1|100||8\np1.2|p1|2|102|p1:4|3\np2|p2|1|101|p1:3|5\n");
}

TEST_F(Querying, MessagesAndEdges) {
  EXPECT_EQ(ask("SELECT channel, begin, end, send, receive, sender, receiver FROM messages"),
            "12|0|45|p1:5|p2:3|p1|p2\n");
  EXPECT_EQ(ask("SELECT count(*) FROM messages WHERE channel = 12"), "1\n");
  EXPECT_EQ(ask("SELECT count(*) FROM messages WHERE channel = 13"), "0\n");
  EXPECT_EQ(ask("SELECT from_event, to_event, kind, causal FROM edges WHERE causal ORDER BY from_event"),
            "p1:3|p2:1|fork|1\np1:4|p1.2:1|create|1\np1:5|p2:3|message|1\n");
  EXPECT_EQ(ask("SELECT kind FROM edges WHERE to_event = 'p2:3'"), "message\n");
  EXPECT_EQ(ask("SELECT from_event FROM edges WHERE to_process = 'p2' AND to_number > 1"), "p1:5\n");
  EXPECT_EQ(ask("SELECT kind FROM edges WHERE to_thread = 'p1.2' AND causal"), "create\n");
  EXPECT_EQ(ask("SELECT m.send, e.kind, r.kind FROM messages m JOIN events e ON e.event = m.send JOIN events "
                "r ON r.event = m.receive"),
            "p1:5|write|read\n");
  EXPECT_EQ(graphs_, 1);
}

TEST_F(Querying, Order) {
  EXPECT_EQ(ask("SELECT hb('p1:5', 'p2:3'), hb('p2:3', 'p1:5'), hb('p1:5', 'p1:5'), hb('p1:1', 'p1.2:3')"),
            "1|0|0|1\n");
  EXPECT_EQ(ask("SELECT concurrent('p1:5', 'p2:2'), concurrent('p1:5', 'p2:3'), concurrent('p2:1', 'p2:1'), "
                "hb(NULL, 'p2:1')"),
            "1|0|0|\n");
  EXPECT_EQ(ask("SELECT count(*) FROM events WHERE hb(event, 'p2:3')"), "7\n");
  EXPECT_EQ(ask("SELECT hb('p1:99', 'p2:3')"), "error: there is no event p1:99: the last of p1 is 8");
  EXPECT_NE(ask("SELECT hb('p7:1', 'p2:3')").find("p7"), std::string::npos);
  EXPECT_NE(ask("SELECT hb('x', 'p2:3')").find("error: "), std::string::npos);
}

TEST_F(Querying, Objects) {
  EXPECT_EQ(ask("SELECT * FROM objects"), "1|total|object|1|12|3|2\n2||mutex|0|1|0|1\n");
}

TEST_F(Querying, Mistakes) {
  for (const char* query : {"DELETE FROM events", "INSERT INTO events(number) VALUES (1)",
                            "UPDATE events SET number = 1", "DROP TABLE events", "CREATE TABLE t(x)",
                            "ATTACH 'x' AS y", "PRAGMA user_version = 1", "VACUUM INTO 'x'"}) {
    EXPECT_EQ(ask(query), "error: a recording is only read: `sql` takes SELECT, or WITH … SELECT") << query;
  }
  EXPECT_EQ(
      ask("SELECT * FROM evnts"),
      "error: no such table: evnts; there are processes, threads, events, messages, edges, objects, races");
  EXPECT_EQ(ask("SELECT knd FROM events"),
            "error: no such column: knd; `pastcone sql --help` lists the columns");
  EXPECT_NE(ask("SELECT bh('p1:1', 'p1:2')").find("hb(a, b)"), std::string::npos);
  EXPECT_NE(ask("SELEKT 1").find("this is not SQL"), std::string::npos);
  EXPECT_NE(ask("  ").find("there is no query"), std::string::npos);
  EXPECT_NE(ask("SELECT 1; SELECT 2").find("one statement"), std::string::npos);
  EXPECT_EQ(ask("SELECT 1;\n"), "1\n");
  EXPECT_EQ(ask("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) FROM n"),
            "6\n");
}

class QueryingRaces : public Querying {
 protected:
  QueryingRaces() : Querying(trace_testing::two_writers()) {}
};

TEST_F(QueryingRaces, HasARowForEachReceiveAndRival) {
  EXPECT_EQ(ask("SELECT * FROM races"), "p1:5|p2:2|p3:2|12|12|p1|p2|p3|server.c:80 in f\n");
  EXPECT_EQ(ask("SELECT location, count(*) FROM races GROUP BY location"), "server.c:80 in f|1\n");
  EXPECT_EQ(ask("SELECT r.rival, e.kind FROM races r JOIN events e ON e.event = r.receive"), "p3:2|read\n");
  EXPECT_EQ(ask("SELECT receiver, count(*) FROM races GROUP BY receiver"), "p1|1\n");
  EXPECT_EQ(ask("SELECT count(*) FROM races WHERE receive = 'p1:6'"), "0\n");
  EXPECT_EQ(graphs_, 1);
}

TEST_F(Querying, WhereAnEventIsIsFoundOnlyForWhoAsks) {
  ask("SELECT * FROM events");
  EXPECT_EQ(places_, 0);
  EXPECT_EQ(ask("SELECT event, location FROM events WHERE process = 'p1' AND number = 5"),
            "p1:5|server.c:80 in f\n");
  EXPECT_EQ(ask("SELECT count(*) FROM events WHERE process = 'p1' AND number = 4 AND location IS NULL"),
            "1\n");
  std::string threads = ask("SELECT count(DISTINCT thread) FROM events WHERE number = 5");
  EXPECT_EQ(ask("SELECT count(*) FROM events WHERE location = 'server.c:80 in f'"), threads);
  EXPECT_EQ(places_, 1);
}

TEST_F(Querying, RacesOfOneSenderAreNone) { EXPECT_EQ(ask("SELECT * FROM races"), ""); }

RecordingBuilder damaged() {
  RecordingBuilder builder;
  builder.packed(trace_testing::every_item(ThreadId(ProcessId(1), 1), 80));
  builder.packed_chunks().erase(builder.packed_chunks().begin() + 2);
  return builder;
}

class QueryingDamaged : public Querying {
 protected:
  QueryingDamaged() : Querying(damaged()) {}
};

TEST_F(QueryingDamaged, GivesWhatIsBefore) {
  std::string answer = ask("SELECT event FROM events");
  EXPECT_EQ(answer.substr(0, 5), "p1:1\n");
  EXPECT_NE(answer.find("error: p1 is damaged after event"), std::string::npos);
  EXPECT_NE(ask("SELECT * FROM edges").find("error: p1 is damaged after event"), std::string::npos);
}

}  // namespace
}  // namespace pastcone::query
