// Finds where an expression of the debuggee's language ends, knowing of that language only strings, brackets,
// `?:`, and which operators there are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pastcone/base/result.h"

namespace pastcone::debug {

/// "p2:" or "any server :" at some place of a text.
struct WhoText {
  std::string_view who;
  size_t end;  ///< behind the colon
};

size_t skip_spaces(std::string_view text, size_t at);
/// Whether WHO: stands there.
std::optional<WhoText> who_at(std::string_view text, size_t at);
/// The same behind opening parentheses and `!`.
std::optional<WhoText> who_soon(std::string_view text, size_t at);
/// "&&", "||" or "->" there; else empty.
std::string_view joint_at(std::string_view text, size_t at);

struct ExpressionEnd {
  size_t end = 0;              ///< of what was written, with spaces behind it
  bool comma = false;          ///< ends there
  std::string_view word = {};  ///< "at", "in" or "if", if it ends there
};

/// What else may end an expression than a joint that WHO: follows, a parenthesis that was not opened in it,
/// and the end of the text.
struct ExpressionRules {
  bool places = true;      ///< at, in
  bool in_list = false;    ///< a comma, and if
  std::string_view owner;  ///< WHO, for errors
};

Result<ExpressionEnd> scan_expression(std::string_view text, size_t begin, const ExpressionRules& rules);

/// One space where there are several, none around, no parentheses around all of it.
std::string tidy(std::string_view expression);
/// Whether it has `&&`, `||` or `?` outside of parentheses.
bool is_loose(std::string_view expression);

}  // namespace pastcone::debug
