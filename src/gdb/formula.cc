#include "pastcone/gdb/formula.h"

#include <algorithm>
#include <functional>

#include "pastcone/gdb/formula_node.h"

namespace pastcone::gdb {
namespace {

using Node = Formula::Node;

bool any_code(const Node& node, size_t place, const std::function<bool(const AgentExpression&)>& is) {
  if (!node.codes.empty() && is(node.codes[place])) return true;
  return std::ranges::any_of(node.parts, [&](const Node& part) { return any_code(part, place, is); });
}

bool has(const Node& node, const std::function<bool(const Node&)>& is) {
  return is(node) || std::ranges::any_of(node.parts, [&](const Node& part) { return has(part, is); });
}

class Evaluator {
 public:
  Evaluator(const ReadMemory& read, const ReadRegister& reg, const CallFunction& call, size_t place,
            Evaluation& into)
      : read_(read), reg_(reg), call_(call), place_(place), into_(into) {}

  Result<Number> value(const Node& node) {
    switch (node.kind) {
      case Node::Kind::kConstant:
        return node.constant;
      case Node::Kind::kValue:
        return integer_number(TRY(run(node)), node.type);
      case Node::Kind::kMemory:
        return memory(node);
      case Node::Kind::kText:
        break;
      case Node::Kind::kNegate:
        return negated(TRY(value(node.parts[0])));
      case Node::Kind::kKeep:
        return promoted(TRY(value(node.parts[0])));
      case Node::Kind::kComplement: {
        Number part = promoted(TRY(value(node.parts[0])));
        if (part.type.is_floating()) return fail("Argument to complement operation not an integer, boolean.");
        return integer_number(~part.integer, part.type);
      }
      case Node::Kind::kNot:
        return truth(!TRY(value(node.parts[0])).is_true());
      case Node::Kind::kCast:
        return converted(TRY(value(node.parts[0])), node.type);
      case Node::Kind::kArithmetic: {
        Number left = TRY(value(node.parts[0]));
        return computed(node.operation, left, TRY(value(node.parts[1])));
      }
      case Node::Kind::kAnd:
        return truth(TRY(value(node.parts[0])).is_true() && TRY(value(node.parts[1])).is_true());
      case Node::Kind::kOr:
        return truth(TRY(value(node.parts[0])).is_true() || TRY(value(node.parts[1])).is_true());
      case Node::Kind::kChoice:
        return value(node.parts[TRY(value(node.parts[0])).is_true() ? 1 : 2]);
      case Node::Kind::kTextFunction:
        return text_function(node);
      case Node::Kind::kCall:
        return call(node);
    }
    return fail("a string is no number");
  }

 private:
  static Number truth(bool is) { return integer_number(is ? 1 : 0); }

  Result<int64_t> run(const Node& node) {
    Status done = node.codes[place_].evaluate(read_, reg_, piece_);
    into_.memory.insert(into_.memory.end(), piece_.memory.begin(), piece_.memory.end());
    into_.used_registers = into_.used_registers || piece_.used_registers;
    TRY_STATUS(std::move(done));
    return piece_.value;
  }

  Result<Number> memory(const Node& node) {
    auto address = static_cast<uint64_t>(TRY(run(node)));
    uint8_t bytes[sizeof(long double)] = {};
    into_.memory.emplace_back(address, node.type.size);
    if (!read_(address, bytes, node.type.size)) return fail("Cannot access memory at address {:#x}", address);
    return floating_number(bytes, node.type);
  }

  Result<Number> text_function(const Node& node) {
    std::vector<TextArgument> texts;
    int64_t number = 0;
    for (const Node& part : node.parts) {
      if (part.kind == Node::Kind::kText)
        texts.push_back({0, &part.text});
      else if (part.pointer)
        texts.push_back({static_cast<uint64_t>(TRY(run(part))), nullptr});
      else
        number = TRY(value(part)).integer;
    }
    int64_t result = TRY(call_text_function(node.function, texts, number, read_, into_.memory));
    return integer_number(result, node.type);
  }

  Result<Number> call(const Node& node) {
    if (!call_) return fail("no function can be called here");
    FunctionCall made;
    made.result = node.type;
    made.function = static_cast<uint64_t>(TRY(run(node)));
    for (const Node& part : node.parts) {
      bool literal = part.kind == Node::Kind::kText;
      made.arguments.push_back({literal ? Number() : TRY(value(part)), literal ? &part.text : nullptr});
    }
    return call_(made, into_);
  }

  const ReadMemory& read_;
  const ReadRegister& reg_;
  const CallFunction& call_;
  size_t place_;
  Evaluation& into_;
  Evaluation piece_;
};

}  // namespace

Formula::Formula(AgentExpression code) : scope_(code.scope()) {
  Node node;
  node.kind = Node::Kind::kValue;
  node.type = {NumberType::Format::kInteger, sizeof(int64_t), false};
  node.codes.push_back(std::move(code));
  root_ = std::make_shared<const Node>(std::move(node));
}

Formula::Formula(std::shared_ptr<const Node> root, size_t place, uint64_t scope)
    : root_(std::move(root)), place_(place), scope_(scope) {}

Status Formula::evaluate(const ReadMemory& read, const ReadRegister& reg, Evaluation& into,
                         const CallFunction& call) const {
  if (root_->kind == Node::Kind::kValue) return root_->codes[place_].evaluate(read, reg, into);
  into.memory.clear();
  into.used_registers = false;
  Number value = TRY(Evaluator(read, reg, call, place_, into).value(*root_));
  into.value = value.type.is_floating() ? value.is_true() : value.integer;
  return {};
}

Result<Evaluation> Formula::evaluate(const ReadMemory& read, const ReadRegister& reg) const {
  Evaluation evaluation;
  TRY_STATUS(evaluate(read, reg, evaluation));
  return evaluation;
}

Result<Number> Formula::number(const ReadMemory& read, const ReadRegister& reg,
                               const CallFunction& call) const {
  Evaluation evaluation;
  return Evaluator(read, reg, call, place_, evaluation).value(*root_);
}

bool Formula::uses_registers(int but) const {
  return any_code(*root_, place_, [&](const AgentExpression& code) { return code.uses_registers(but); });
}

bool Formula::reads_nothing() const {
  bool reads = has(*root_, [](const Node& node) {
    return node.kind == Node::Kind::kTextFunction || node.kind == Node::Kind::kMemory ||
           node.kind == Node::Kind::kCall;
  });
  return !reads &&
         !any_code(*root_, place_, [](const AgentExpression& code) { return !code.reads_nothing(); });
}

bool Formula::calls() const {
  return has(*root_, [](const Node& node) { return node.kind == Node::Kind::kCall; });
}

}  // namespace pastcone::gdb
