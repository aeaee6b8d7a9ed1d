#include "pastcone/gdb/syntax.h"

#include <gtest/gtest.h>

#include <functional>

namespace pastcone::gdb {
namespace {

TEST(Syntax, TakesExpressionsApart) {
  auto is_type = [](const std::string& name) -> Result<bool> { return name == "real" || name == "double*"; };
  std::function<std::string(const Syntax&)> show = [&](const Syntax& syntax) {
    if (syntax.parts.empty()) return syntax.text;
    std::string text = syntax.sign;
    for (const Syntax& part : syntax.parts) text += " [" + show(part) + "]";
    return text;
  };
  auto parsed = [&](const std::string& text) {
    auto syntax = parse_syntax(text, is_type);
    return syntax ? show(*syntax) : "lost";
  };
  EXPECT_EQ(parsed("a + b * c - d"), "- [+ [a] [* [b] [c]]] [d]");
  EXPECT_EQ(parsed("a < b == c && d || e"), "|| [&& [== [< [a] [b]] [c]] [d]] [e]");
  EXPECT_EQ(parsed("a ? b : c ? d : e"), "? [a] [b] [? [c] [d] [e]]");
  EXPECT_EQ(parsed("(real)a / b"), "/ [real [a]] [b]");
  EXPECT_EQ(parsed("(name)-1"), "- [name] [1]");
  EXPECT_EQ(parsed("(real)-1"), "real [- [1]]");
  EXPECT_EQ(parsed("*(double*)p + (int)x"), "+ [*(double*)p] [int [x]]");
  EXPECT_EQ(parsed("(*p).x[i + 1]->y < -1.5e-3"), "< [(*p).x[i + 1]->y] [- [1.5e-3]]");
  EXPECT_EQ(parsed("f(a, b + 1) > sizeof(int)"), "> [f [a] [+ [b] [1]]] [sizeof(int)]");
  EXPECT_EQ(parsed("ns::x * ::y"), "* [ns::x] [::y]");
  for (const char* lost : {"", "a +", "(a", "a)", "a b", "a ? b", "f(a,", "f(a)(b)", "f(a)->b",
                           "static_cast<int>(a)", "a[", "a.1", "\"", "->a", "a = b"})
    EXPECT_EQ(parsed(lost), "lost") << lost;
}

}  // namespace
}  // namespace pastcone::gdb
