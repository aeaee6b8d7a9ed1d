#include "pastcone/debug/imagined_call.h"

#include <algorithm>
#include <cstring>

#include "pastcone/debug/code_map.h"
#include "pastcone/debug/function_arguments.h"
#include "pastcone/patch/abi.h"

namespace pastcone::debug {
namespace {

// Where no program has anything: behind the runtime. Literals, then a stack.
constexpr uint64_t kOurs = patch::kRuntimeEnd + 0x40000000, kStrings = 64 << 10, kStack = 1 << 20;
constexpr uint64_t kOursEnd = kOurs + kStrings + kStack;
constexpr uint64_t kBack = kOursEnd;  // functions return to where no code is
constexpr uint64_t kRedZone = 128;
constexpr int kMostInstructions = 100'000;  // for more it does not matter who does them
constexpr size_t kFirstVector = 160;        // of what xsave writes
constexpr uint64_t kFlags = 0x202;

bool is_ours(uint64_t address, uint64_t size) { return address >= kOurs && address + size <= kOursEnd; }

}  // namespace

void LoaderEntry::note(std::span<const uint8_t> code) {
  if (code.size() > 2 && code[0] == 0xf2) code = code.subspan(1);  // a prefix of jumps, which means nothing
  bool by_word = code.size() > 1 && code[0] == 0xff;
  bool pushes = by_word && code[1] == 0x35, jumps = by_word && code[1] == 0x25;
  passed_ = pushes ? 1 : jumps && passed_ == 1 ? 2 : 0;
}

/// Code may be that of a patched copy, beside the rest of its file.
MappedCode::MappedCode(std::vector<symbols::Mapping> mappings) : mappings_(std::move(mappings)) {
  for (size_t i = 1; i < mappings_.size(); ++i) {
    const symbols::Mapping &one = mappings_[i - 1], &next = mappings_[i];
    if (one.end != next.start || one.executable == next.executable) continue;
    const symbols::Mapping& rest = one.executable ? next : one;
    if (!rest.file.empty()) images_.insert(rest.object);
  }
}

const symbols::Mapping* MappedCode::find(uint64_t address) {
  auto has = [&](const symbols::Mapping& one) { return address >= one.start && address < one.end; };
  if (last_ != nullptr && has(*last_)) return last_;
  auto found = std::ranges::find_if(mappings_, has);
  return last_ = found == mappings_.end() ? nullptr : &*found;
}

bool MappedCode::is_constant(uint64_t address, size_t size) {
  const symbols::Mapping* mapping = find(address);
  return mapping != nullptr && !mapping->writable && !mapping->shared && address + size <= mapping->end &&
         images_.contains(mapping->object);
}

std::span<const uint8_t> MappedCode::code(uint64_t address, const gdb::ReadMemory& read) {
  constexpr uint64_t kPiece = 256, kLongest = 15;
  uint64_t begin = address / kPiece * kPiece;
  auto [known, is_new] = pieces_.try_emplace(begin);
  std::vector<uint8_t>& bytes = known->second;
  if (is_new) {
    const symbols::Mapping* mapping = find(address);
    if (mapping == nullptr || !mapping->executable || mapping->writable) return {};
    bytes.resize(std::min(kPiece + kLongest, mapping->end - begin));
    if (!read(begin, bytes.data(), bytes.size())) bytes.clear();
  }
  size_t at = address - begin;
  if (at >= bytes.size()) return {};
  return std::span(bytes).subspan(at, std::min<size_t>(kLongest, bytes.size() - at));
}

ImaginedCall::ImaginedCall(MappedCode& mapped, Caller caller)
    : mapped_(mapped), caller_(std::move(caller)), vectors_(caller_.vectors) {}

ImaginedCall::~ImaginedCall() = default;

/// Of the process, and what was written since.
ImaginedCall::Block* ImaginedCall::block_at(uint64_t begin) {
  if (last_begin_ == begin) return last_;
  auto [known, is_new] = blocks_.try_emplace(begin);
  if (is_new && is_ours(begin, kBlock)) known->second.fill(0);
  if (is_new && !is_ours(begin, kBlock) && !caller_.read(begin, known->second.data(), kBlock)) {
    blocks_.erase(known);
    return nullptr;
  }
  last_begin_ = begin;
  return last_ = &known->second;
}

template <typename Each>
bool ImaginedCall::for_pieces(uint64_t address, size_t size, const Each& each) {
  for (size_t at = 0; at < size;) {
    uint64_t begin = (address + at) / kBlock * kBlock, within = address + at - begin;
    size_t count = std::min<size_t>(size - at, kBlock - within);
    Block* block = block_at(begin);
    if (block == nullptr) return false;
    each(block->data() + within, at, count);
    at += count;
  }
  return true;
}

const symbols::Mapping* ImaginedCall::find(uint64_t address) {
  const symbols::Mapping* mapping = mapped_.find(address);
  missed_ = missed_ || mapping == nullptr;
  return mapping;
}

bool ImaginedCall::read(uint64_t address, void* to, size_t size) {
  if (!is_ours(address, size)) {
    const symbols::Mapping *first = find(address), *last = find(address + size - 1);
    if (first == nullptr || last == nullptr || !first->readable || !last->readable) return false;
    into_->memory.emplace_back(address, static_cast<uint32_t>(size));
  }
  return for_pieces(address, size, [&](const uint8_t* kept, size_t at, size_t count) {
    std::memcpy(static_cast<uint8_t*>(to) + at, kept, count);
  });
}

bool ImaginedCall::may_write(uint64_t address) {
  const symbols::Mapping* mapping = find(address);
  return mapping != nullptr && mapping->writable && !mapping->executable;
}

/// Elsewhere than on its stack it is one that is not pure, but that is its own business: nobody sees it.
bool ImaginedCall::write(uint64_t address, const void* from, size_t size) {
  if (!is_ours(address, size) && !(may_write(address) && may_write(address + size - 1))) return false;
  return for_pieces(address, size, [&](uint8_t* kept, size_t at, size_t count) {
    std::memcpy(kept, static_cast<const uint8_t*>(from) + at, count);
  });
}

Result<uint64_t> ImaginedCall::put(const std::string& text) {
  if (strings_ + text.size() >= kStrings) return fail("a string is too long");
  uint64_t address = kOurs + strings_;
  strings_ += text.size() + 1;
  if (!write(address, text.c_str(), text.size() + 1)) return fail("there is no memory at {:#x}", address);
  return address;
}

Result<gdb::Number> ImaginedCall::call(const gdb::FunctionCall& call, gdb::Evaluation& into) {
  into_ = &into;
  if (failed_) return fail("the process has to stand for it");
  failed_ = true;
  bool has_floating = std::ranges::any_of(call.arguments, [](const auto& argument) {
    return argument.text == nullptr && argument.number.type.is_floating();
  });
  uint8_t* vectors = has_floating ? vectors_.change() : nullptr;
  if (has_floating && vectors == nullptr) return fail("its vector registers cannot be had");
  user_regs_struct registers{};
  TRY_STATUS(place_arguments(call, registers, vectors == nullptr ? nullptr : vectors + kFirstVector,
                             [this](const std::string& text) { return put(text); }));
  registers.rsp = kOursEnd - kBlock - sizeof(uint64_t);
  uint64_t back = kBack;
  write(registers.rsp, &back, sizeof back);
  registers.rip = call.function;
  registers.eflags = kFlags;
  registers.fs_base = caller_.thread_pointer;
  if (!follow(registers)) return fail("the process has to stand for it");
  failed_ = false;
  if (!call.result.is_floating())
    return gdb::integer_number(static_cast<int64_t>(registers.rax), call.result);
  vectors = vectors_.change();
  failed_ = vectors == nullptr;
  if (failed_) return fail("its vector registers cannot be had");
  return gdb::floating_number(vectors + kFirstVector, call.result);
}

/// It would look for a function that has been found before.
bool ImaginedCall::pass_loader(user_regs_struct& registers) {
  Bindings::key_type key{};
  if (!is_ours(registers.rsp, kBindingSize) || !read(registers.rsp, key.data(), kBindingSize)) return false;
  auto known = mapped_.bindings.find(key);
  if (known == mapped_.bindings.end()) return false;
  registers.rsp += kBindingSize;
  registers.rip = known->second;
  return true;
}

bool ImaginedCall::follow(user_regs_struct& registers) {
  replay::EmulationBounds bounds;
  bounds.alone = bounds.called = true;
  bounds.memory = this;
  bounds.vectors = &vectors_;
  LoaderEntry loader;
  for (int i = 0; i < kMostInstructions; ++i) {
    if (registers.rip == kBack) return true;
    bool has_stack = is_ours(registers.rsp - kRedZone, kRedZone);
    if (!has_stack || in_runtime(registers.rip)) return false;
    std::span<const uint8_t> code = mapped_.code(registers.rip, caller_.read);
    if (!replay::emulate(code, registers, bounds)) return false;
    loader.note(code);
    if (loader.is_here() && !pass_loader(registers)) return false;
  }
  return false;
}

}  // namespace pastcone::debug
