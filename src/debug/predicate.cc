#include "pastcone/debug/predicate.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "pastcone/debug/expression_scan.h"

namespace pastcone::debug {
namespace {

constexpr std::string_view kExample = "`p1: x == 1 && p2: y == 2`";

std::string shown(std::string_view text) {
  constexpr size_t kMost = 60;
  text = text.substr(std::min(skip_spaces(text, 0), text.size()));
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "…";
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || rest != text.data() + text.size()) return {};
  return number;
}

/// p2 and p2.3, also where the numbers make no sense: no program's name.
bool looks_like_process(std::string_view text) {
  return text.size() > 1 && text[0] == 'p' &&
         text.find_first_not_of("0123456789.", 1) == std::string_view::npos && text[1] != '.';
}

/// With namespaces, arguments and templates, if it likes.
bool is_function(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' && text.substr(i, 2) != "::") return false;
    if (text[i] == ':') ++i;
    bool plain = std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    if (!plain && std::string_view("_$~:<>,()*& .@").find(text[i]) == std::string_view::npos) return false;
  }
  return text.find("&&") == std::string_view::npos && text.find("->") == std::string_view::npos;
}

bool is_file(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_.+-/@~").find(c) != std::string_view::npos;
  });
}

Result<SimplePredicate::Site> parse_site(std::string_view text) {
  std::string site = tidy(text);
  if (site.starts_with('*')) {
    bool address = site.size() > 1 && site.find_first_of(":=?&|\"',") == std::string::npos;
    if (!address) return fail("`at {}` wants an address, as in `at *0x401136`", site);
    return SimplePredicate::Site{.address = site.substr(1)};
  }
  size_t colon = site.rfind(':');
  bool qualified = colon != std::string::npos && colon > 0 && site[colon - 1] == ':';
  if (colon != std::string::npos && !qualified) {
    auto line = number_of<uint32_t>(std::string_view(site).substr(colon + 1));
    bool file = colon > 0 && is_file(std::string_view(site).substr(0, colon));
    if (!file || !line || *line == 0) return fail("`at {}` is no place; try `at FILE:LINE`", site);
    return SimplePredicate::Site{site.substr(0, colon), *line};
  }
  if (site.empty()) return fail("`at` wants a place: FILE:LINE, *ADDRESS or a function");
  if (std::isdigit(static_cast<unsigned char>(site.front())))
    return fail("`at {}` does not say of which file; try `at FILE:{}`", site, site);
  if (!is_function(site)) return fail("`at {}` is no place: FILE:LINE, *ADDRESS or a function", site);
  return SimplePredicate::Site{.function = site};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Predicate> run() {
    if (at_end()) return fail("no predicate: say who and what, as in {}", kExample);
    Predicate predicate;
    predicate.links.push_back(TRY(any()));
    while (take("->")) predicate.links.push_back(TRY(any()));
    if (at_end()) return predicate;
    if (text_[at_] == ')') return fail("`{}` closes more than was opened; take a `)` away", shown(text_));
    return fail("`{}` joins nothing; between predicates comes &&, || or ->", shown(text_.substr(at_)));
  }

 private:
  bool at_end() {
    at_ = skip_spaces(text_, at_);
    return at_ == text_.size();
  }

  bool take(std::string_view joint) {
    if (at_end() || joint_at(text_, at_) != joint) return false;
    at_ += joint.size();
    return true;
  }

  Result<Predicate::Any> any() {
    Predicate::Any found = TRY(all());
    while (take("||")) {
      for (Predicate::All& each : TRY(all()))
        if (std::ranges::find(found, each) == found.end()) found.push_back(std::move(each));
    }
    return found;
  }

  Result<Predicate::Any> all() {
    Predicate::Any found = TRY(item());
    while (take("&&")) {
      Predicate::Any next = TRY(item());
      found = TRY(both(found, next));
    }
    return found;
  }

  Result<Predicate::Any> item() {
    if (at_end())
      return fail("`{}` ends too early; behind it comes `WHO: EXPR`, as in {}", shown(text_), kExample);
    std::string_view rest = text_.substr(at_);
    if (rest.front() == '!' && who_soon(text_, at_)) {
      return fail("`!` goes into the expression, for only that can be false: try `{}: !(…)`",
                  who_soon(text_, at_)->who);
    }
    if (rest.front() == '(' && who_soon(text_, at_)) return group();
    auto who = who_at(text_, at_);
    std::string_view first = rest.substr(0, rest.find(' '));
    if (!who && first.size() < rest.size() && ThreadId::parse(first))
      return fail("`{}` has no colon; try `{}: {}`", shown(rest), first, shown(rest.substr(first.size())));
    if (!who) return fail("`{}` does not say of which process; try `p1: {}`", shown(rest), shown(rest));
    return Predicate::Any{{TRY(simple(*who))}};
  }

  Result<Predicate::Any> group() {
    size_t begin = at_++;
    ++depth_;
    Predicate::Any found = TRY(any());
    if (take("->"))
      return fail(
          "`->` inside parentheses: each link of `A -> B` is a whole predicate; take the parentheses away");
    if (at_end() || text_[at_] != ')')
      return fail("`{}` has a `(` that is not closed", shown(text_.substr(begin)));
    ++at_;
    --depth_;
    if (at_end() || text_[at_] == ')' || !joint_at(text_, at_).empty()) return found;
    return fail("behind `)` comes &&, || or ->, not `{}`", shown(text_.substr(at_)));
  }

  Result<SimplePredicate> simple(const WhoText& text) {
    SimplePredicate predicate{TRY(parse_who(text.who)), {}};
    size_t begin = text.end;
    ExpressionEnd end = TRY(scan_expression(text_, begin, {.owner = text.who}));
    predicate.expression = tidy(text_.substr(begin, end.end - begin));
    at_ = end.end;
    if (predicate.expression.empty() && end.word.empty())
      return fail("`{}:` says nothing; try `{}: x == 1`", text.who, text.who);
    if (predicate.expression.empty()) predicate.expression = std::string(1, '1');
    for (std::string_view word = end.word; !word.empty();) word = TRY(place(word, predicate));
    if (at_ < text_.size() && text_[at_] == ')' && depth_ == 0)
      return fail("`{}` closes more than was opened; take a `)` away",
                  shown(text_.substr(text.end, at_ + 1 - text.end)));
    return predicate;
  }

  /// Behind `at` or `in`; the word that ends it, if it is another one of these.
  Result<std::string_view> place(std::string_view word, SimplePredicate& predicate) {
    at_ += word.size();
    size_t begin = at_, depth = 0;
    std::string_view next;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == ')' && depth == 0) break;
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (depth == 0 && !joint_at(text_, at_).empty() && who_soon(text_, at_ + 2)) break;
      next = text_.substr(at_, 4);
      bool another = depth == 0 && at_ > begin + 1 && (next == " at " || next == " in ");
      next = another ? text_.substr(++at_, 2) : std::string_view();
      if (another) break;
    }
    if (at_ >= text_.size()) next = {};
    std::string_view what = text_.substr(begin, at_ - begin);
    if (word == "at") {
      if (predicate.at) return fail("a process stands at one place; leave out one `at`");
      predicate.at = TRY(parse_site(what));
    } else {
      if (!predicate.in.empty()) return fail("two times `in`; leave out one of them");
      predicate.in = tidy(what);
      if (!is_function(predicate.in))
        return fail("`in {}` wants the name of a function, as in `in main`", predicate.in);
    }
    if (predicate.at && !predicate.in.empty())
      return fail("a place is in its function anyway; leave out `in {}`, or `at`", predicate.in);
    return next;
  }

  std::string_view text_;
  size_t at_ = 0, depth_ = 0;
};

}  // namespace

Result<Who> parse_who(std::string_view text) {
  std::string who = tidy(text);
  if (who.empty()) return fail("nobody is named; try p1, or the name of a program");
  if (who == "any") return fail("`any` wants the name of a program: `any server`");
  if (who == "pid") return fail("`pid` wants a number: `pid 4711`");
  if (who.starts_with("any ")) {
    std::string name = who.substr(4);
    if (looks_like_process(name)) return fail("there is one {} only; leave out `any`", name);
    return Who{Who::Kind::kAny, {}, name};
  }
  if (who.starts_with("pid ")) {
    auto pid = number_of<uint64_t>(std::string_view(who).substr(4));
    if (!pid) return fail("`{}`: a pid is a number, as in `pid 4711`", who);
    return Who{Who::Kind::kPid, {}, {}, *pid};
  }
  if (auto pid = number_of<uint64_t>(who)) return Who{Who::Kind::kPid, {}, {}, *pid};
  if (looks_like_process(who)) {
    bool thread = who.find('.') != std::string::npos;
    return Who{thread ? Who::Kind::kThread : Who::Kind::kProcess, TRY(ThreadId::parse(who))};
  }
  if (who.find(' ') != std::string::npos)
    return fail("`{}` names nobody; try p1, or the name of a program", who);
  return Who{Who::Kind::kProgram, {}, who};
}

Result<Predicate> parse_predicate(std::string_view text) { return Parser(text).run(); }

Result<TraceCommand> parse_trace(std::string_view text) {
  TraceCommand command;
  std::optional<Who> who;
  for (size_t at = 0;;) {
    auto named = who_at(text, at);
    if (named) who = TRY(parse_who(named->who));
    size_t begin = named ? named->end : at;
    ExpressionRules rules{.places = false, .in_list = true, .owner = named ? named->who : std::string_view()};
    ExpressionEnd end = TRY(scan_expression(text, begin, rules));
    std::string expression = tidy(text.substr(begin, end.end - begin));
    if (expression.empty())
      return fail("nothing to print{}; try `trace p1: x, p2: y if p1: x == 1`",
                  end.comma ? " before a `,`" : "");
    command.values.push_back({who, std::move(expression)});
    if (end.comma) {
      at = end.end + 1;
      continue;
    }
    if (end.word != "if") {
      return fail("`{}` does not say when; try `trace {} if p1: x == 1`", shown(text), shown(text));
    }
    command.condition = TRY(parse_predicate(text.substr(end.end + 2)));
    return command;
  }
}

}  // namespace pastcone::debug
