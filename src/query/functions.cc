#include "pastcone/query/functions.h"

#include <sqlite3.h>

#include <memory>

#include "pastcone/graph/names.h"
#include "pastcone/query/order_memo.h"

namespace pastcone::query {
namespace {

using causal::Node;

class Function {
 public:
  explicit Function(Source& source) : source_(source) {}
  virtual ~Function() = default;

  Result<bool> call(std::string_view a, std::string_view b) {
    const causal::Graph& graph = *TRY(source_.graph());
    graph_ = &graph;
    if (!forth_) {
      forth_.emplace(graph);
      back_.emplace(graph);
    }
    return holds(TRY(find(graph, a)), TRY(find(graph, b)));
  }

 protected:
  virtual bool holds(Node a, Node b) = 0;
  bool before(Node a, Node b) { return forth_->before(cause(a), b); }
  bool after(Node a, Node b) { return back_->before(cause(b), a); }

 private:
  Node cause(Node event) const { return graph::cause(*graph_, event, causal::Order::kCausal); }
  static Result<Node> find(const causal::Graph& graph, std::string_view text) {
    return graph::find_event(graph, TRY(EventId::parse(text)));
  }

  Source& source_;
  const causal::Graph* graph_ = nullptr;
  std::optional<OrderMemo> forth_, back_;
};

class Before : public Function {
  using Function::Function;
  bool holds(Node a, Node b) override { return a != b && before(a, b); }
};

class Concurrent : public Function {
  using Function::Function;
  bool holds(Node a, Node b) override { return a != b && !before(a, b) && !after(a, b); }
};

std::string_view text_of(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<size_t>(sqlite3_value_bytes(value)));
}

void call(sqlite3_context* context, int, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL) return;
  auto* function = static_cast<Function*>(sqlite3_user_data(context));
  auto answer = function->call(text_of(values[0]), text_of(values[1]));
  if (answer) return sqlite3_result_int(context, *answer);
  sqlite3_result_error(context, answer.error().message.c_str(), -1);
}

Status add(sqlite3* database, const char* name, std::unique_ptr<Function> function) {
  auto destroy = [](void* data) { delete static_cast<Function*>(data); };
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  if (sqlite3_create_function_v2(database, name, 2, flags, function.release(), call, nullptr, nullptr,
                                 destroy) == SQLITE_OK) {
    return {};
  }
  return fail("cannot make the function {}: {}", name, sqlite3_errmsg(database));
}

}  // namespace

Status add_functions(sqlite3* database, Source& source) {
  TRY_STATUS(add(database, "hb", std::make_unique<Before>(source)));
  return add(database, "concurrent", std::make_unique<Concurrent>(source));
}

}  // namespace pastcone::query
