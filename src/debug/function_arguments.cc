#include "pastcone/debug/function_arguments.h"

#include <cstring>

namespace pastcone::debug {

Status place_arguments(const gdb::FunctionCall& call, user_regs_struct& general, uint8_t* vectors,
                       const std::function<Result<uint64_t>(const std::string&)>& put) {
  constexpr size_t kVectorSize = 16;
  unsigned long long* integers[] = {&general.rdi, &general.rsi, &general.rdx,
                                    &general.rcx, &general.r8,  &general.r9};
  size_t integer = 0, floating = 0;
  for (const gdb::FunctionCall::Argument& argument : call.arguments) {
    uint8_t* vector = vectors + kVectorSize * floating;
    float single = static_cast<float>(argument.number.real);
    double twice = static_cast<double>(argument.number.real);
    switch (argument.text == nullptr ? argument.number.type.format : gdb::NumberType::Format::kInteger) {
      case gdb::NumberType::Format::kInteger:
        *integers[integer++] = argument.text == nullptr ? static_cast<uint64_t>(argument.number.integer)
                                                        : TRY(put(*argument.text));
        break;
      case gdb::NumberType::Format::kFloat:
        std::memcpy(vector, &single, sizeof single);
        ++floating;
        break;
      default:
        std::memcpy(vector, &twice, sizeof twice);
        ++floating;
    }
  }
  general.rax = floating;
  return {};
}

}  // namespace pastcone::debug
