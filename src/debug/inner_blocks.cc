#include "pastcone/debug/inner_blocks.h"

#include <algorithm>
#include <cstdlib>

#include "pastcone/gdb/compile.h"

namespace pastcone::debug {
namespace {

struct Instruction {
  uint64_t address = 0;
  std::string name, operand;

  bool jumps() const { return name.starts_with('j') || name.starts_with("loop"); }
  bool goes_on() const {
    return !name.starts_with("jmp") && !name.starts_with("ret") && name != "ud2" && name != "hlt";
  }
};

/// "notrack jmp *%rax", "jne    0x1176 <work+61>"
Instruction parse_instruction(uint64_t address, std::string_view text) {
  auto take_word = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::string word(text.substr(0, text.find(' ')));
    text.remove_prefix(word.size());
    return word;
  };
  Instruction one{address, take_word(), {}};
  for (std::string_view prefix : {"bnd", "notrack", "data16", "cs", "repz", "rep"})
    if (one.name == prefix) one.name = take_word();
  one.operand = take_word();
  return one;
}

Result<std::vector<Instruction>> disassemble(gdb::Gdb& gdb, const symbols::CodeRange& code) {
  gdb::Answer answer =
      TRY(gdb.run(fmt::format("-data-disassemble -s {:#x} -e {:#x} -- 0", code.begin, code.end)));
  if (!answer.good) return fail("{}", answer.error);
  std::vector<Instruction> all;
  for (const auto& [name, each] : answer.results["asm_insns"].items)
    all.push_back(parse_instruction(each["address"].number().value_or(0), each["inst"].text));
  return all;
}

/// Where another block begins for who comes from one instruction to another. What a table says where to go
/// (switch) may be any line.
Result<std::set<uint64_t>> find_gates(gdb::Gdb& gdb, const InnerBlocks& blocks,
                                      const std::vector<symbols::SourceRow>& rows) {
  std::set<uint64_t> gates;
  auto add = [&](const Instruction& from, uint64_t to) {
    if (blocks.function.contains(to) && blocks.at(to) != blocks.at(from.address)) gates.insert(to);
  };
  for (const symbols::CodeRange& range : blocks.function.code) {
    std::vector<Instruction> all = TRY(disassemble(gdb, range));
    for (size_t i = 0; i < all.size(); ++i) {
      const Instruction& one = all[i];
      if (one.goes_on() && i + 1 < all.size()) add(one, all[i + 1].address);
      if (!one.jumps()) continue;
      if (one.operand.starts_with('*')) {
        for (const symbols::SourceRow& row : rows) add(one, row.address);
      } else {
        add(one, std::strtoull(one.operand.c_str(), nullptr, 16));
      }
    }
  }
  for (const InnerBlocks::One& one : blocks.all)
    for (const symbols::CodeRange& range : one.block.code) gates.insert(range.begin);
  return gates;
}

}  // namespace

/// Or the same.
bool InnerBlocks::One::is_inside(const One& other) const {
  return std::ranges::all_of(
      block.code, [&](const symbols::CodeRange& range) { return other.block.contains(range.begin); });
}

size_t InnerBlocks::at(uint64_t address) const {
  for (size_t i = all.size(); i > 0; --i)
    if (all[i - 1].block.contains(address)) return i - 1;
  return kNone;
}

Result<InnerBlocks> find_inner_blocks(gdb::Gdb& gdb, const symbols::FunctionBlocks& function,
                                      const std::set<std::string>& names, const CompileAt& compile) {
  // Those that declare one of the names: in others it is as around them.
  std::vector<const symbols::Block*> candidates;
  for (const symbols::Block& block : function.blocks) {
    bool declares =
        std::ranges::any_of(names, [&](const std::string& name) { return block.names.contains(name); });
    bool is_inner = &block != &function.blocks.front();
    // Of what is never executed the compiler leaves the names.
    if (declares && is_inner && !block.code.empty()) candidates.push_back(&block);
  }
  auto innermost = [&](uint64_t address) -> const symbols::Block* {
    for (size_t i = candidates.size(); i > 0; --i)
      if (candidates[i - 1]->contains(address)) return candidates[i - 1];
    return nullptr;
  };
  InnerBlocks found{function.blocks.front(), {}, {}};
  for (const symbols::Block* block : candidates) {
    std::set<std::string> tried;
    bool knows_all = true, is_in = false;
    for (const symbols::SourceRow& row : function.rows) {
      std::string location = fmt::format("{}:{}", row.file, row.line);
      if (innermost(row.address) != block || !tried.insert(location).second) continue;
      // The line may begin outside of it, too.
      auto begins = gdb::compile_all(gdb, "1", location);
      auto is_inside = [&](const gdb::AgentExpression& place) { return innermost(place.scope()) == block; };
      if (!begins || std::ranges::none_of(*begins, is_inside)) continue;
      auto places = compile(location);
      if (!places && !places.error().message.starts_with("No symbol \""))
        return tl::unexpected<Error>(places.error());
      knows_all = places || !std::ranges::all_of(*begins, is_inside);
      if (!knows_all) break;
      if (!places) continue;
      auto inside =
          std::ranges::find_if(*places, [&](const auto& place) { return innermost(place.first) == block; });
      if (inside == places->end()) continue;
      found.all.push_back({*block, location, inside->first, std::move(inside->second)});
      is_in = true;
      break;
    }
    if (knows_all && !is_in) return fail("no line begins in its block; say 'at FILE:LINE'");
  }
  if (!found.all.empty()) found.gates = TRY(find_gates(gdb, found, function.rows));
  return found;
}

}  // namespace pastcone::debug
