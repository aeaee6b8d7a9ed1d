// Conditions of a scan that call functions, or that gdb has to be asked about.
#include "pastcone/debug/scan.h"

namespace pastcone::debug {

/// Where a thread's own variables are.
std::optional<uint64_t> Scan::thread_pointer(Post& post, ThreadId thread) {
  auto known = post.thread_pointers.find(thread);
  if (known != post.thread_pointers.end()) return known->second;
  auto registers = now().real_registers(thread);
  if (!registers) return {};
  if (registers->fs_base != 0) post.thread_pointers[thread] = registers->fs_base;
  return registers->fs_base;
}

std::vector<uint8_t> Scan::bytes_of(const Post& post, const std::set<Word>& words) {
  size_t size = 0;
  for (const Word& word : words) size += word.size;
  std::vector<uint8_t> bytes(size);
  auto read = reader(post.process);
  size_t at = 0;
  for (const Word& word : words) {
    bytes.push_back(read(word.address, bytes.data() + at, word.size) ? 1 : 0);
    at += word.size;
  }
  return bytes;
}

FindOut Scan::asker(Post& post, const Term& term, Asking asking) {
  return [this, &post, &term, asking](const Condition& condition) -> std::optional<Told> {
    if (auto told = condition.code ? imagine(post, asking, *condition.code) : std::nullopt) return told;
    if (!may_ask_) return {};
    return tell(post, term, asking, condition);
  };
}

/// Of what it has mapped; none: that is being changed.
std::optional<uint64_t> Scan::map_version(Post& post) {
  if (!post.map_changes) post.map_changes = MapChanges::read(world_, post.process);
  return post.map_changes->count(now());
}

/// As it is now, looked at only if it may have changed.
MappedCode& Scan::mapped_code(Post& post) {
  std::optional<uint64_t> version = map_version(post);
  bool known = post.mapped && version && post.mapped_version == version;
  if (!known) post.mapped.emplace(now().tracer().mappings(now().pid(post.process)));
  post.mapped_version = version;
  return *post.mapped;
}

/// Without the process, which need not stand for it; none: it has to.
std::optional<Told> Scan::imagine(Post& post, const Asking& asking, const gdb::Formula& formula) {
  if (world_.recording.manifest().parallel || post.loading) return {};
  std::optional<uint64_t> pointer = thread_pointer(post, asking.thread);
  if (!pointer) return {};
  auto vectors = [&]() -> Result<std::vector<uint8_t>> {
    if (asking.thread != asking.standing) return fail("{} does not stand", asking.thread);
    return now().tracer().extended_state(now().tid(asking.thread));
  };
  MappedCode& mapped = mapped_code(post);
  ImaginedCall calls(mapped, {reader(post.process), *pointer, vectors});
  gdb::Evaluation value;
  auto call = [&](const gdb::FunctionCall& made, gdb::Evaluation& into) { return calls.call(made, into); };
  Status known = formula.evaluate(reader(post.process), asking.reg, value, call);
  if (!calls.failed())
    return Told{known.has_value(), known.has_value() && value.value != 0,
                that_may_change(mapped, value.memory)};
  if (calls.missed()) post.mapped.reset();
  return {};
}

Told Scan::tell(Post& post, const Term& term, const Asking& asking, const Condition& condition) {
  // As it was compiled: see Scan::compile.
  std::optional<user_regs_struct> outside;
  if (bool anywhere = !term.text->at && term.text->in.empty(); anywhere && !condition.code && post.program_entry != 0) {
    if (auto registers = now().registers(asking.thread)) outside = *registers;
    if (outside && asking.as != nullptr) outside = *asking.as;
    if (outside) outside->rip = post.program_entry;
  }
  const user_regs_struct* as = outside ? &*outside : asking.as;
  Result<Seats::Reply> reply = condition.code ? seats_->evaluate(asking.thread, *condition.code, asking.as)
                                              : seats_->ask(asking.thread, condition.text, as);
  bool wrong = !reply || !reply->error.empty();
  // Before the program begins a function is not what it will be, and gdb does not know what is in libraries.
  if (reply && post.loading && (wrong || reply->called)) return {};
  if (wrong && !error_ && !(interrupted_ && interrupted_()))
    error_ =
        Error{fmt::format("{}: {}", to_string(*term.text), reply ? reply->error : reply.error().message)};
  if (wrong) return {};
  MappedCode& mapped = mapped_code(post);
  mapped.bindings.merge(reply->bindings);
  return {reply->known, reply->holds, that_may_change(mapped, reply->reads)};
}

Scan::Reads Scan::that_may_change(MappedCode& mapped, const Reads& reads) {
  Reads kept;
  for (const auto& read : reads)
    if (!mapped.is_constant(read.first, read.second)) kept.push_back(read);
  return kept;
}

}  // namespace pastcone::debug
