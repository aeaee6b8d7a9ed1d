#include "pastcone/gdb/container_layouts.h"

#include <algorithm>

namespace pastcone::gdb {
namespace {

constexpr std::string_view kTreeSize = "$._M_t._M_impl._M_node_count";
constexpr std::string_view kHashSize = "$._M_h._M_element_count";

// Pointers are written &*p: of a pointer to a type that a class has named gdb may not know the size of what
// it points to, and takes it for 0; after * it does. So it is with arrays.
#define DEQUE(member) "$._M_impl." member
#define DEQUE_NODE "(" DEQUE("_M_start._M_last") " - " DEQUE("_M_start._M_first") ")"
#define DEQUE_INDEX "((long)# + (" DEQUE("_M_start._M_cur") " - " DEQUE("_M_start._M_first") "))"

/// The first that fits is it.
constexpr ContainerLayout kLayouts[] = {
    {.type = "std::vector<bool,",
     .size = "(&*$._M_impl._M_finish._M_p - &*$._M_impl._M_start._M_p) * 64 + $._M_impl._M_finish._M_offset",
     .element = "((int)((&*$._M_impl._M_start._M_p)[(unsigned long)# / 64] >> ((unsigned long)# % 64)) & 1)"},
    {.type = "std::vector<",
     .size = "&*$._M_impl._M_finish - &*$._M_impl._M_start",
     .element = "(&*$._M_impl._M_start)[#]",
     .back = "(&*$._M_impl._M_finish)[-1]"},
    {.type = "std::deque<",
     .size = "(&*" DEQUE("_M_finish._M_node") " - &*" DEQUE(
         "_M_start._M_node") " - 1) * " DEQUE_NODE  //
                             " + (" DEQUE("_M_finish._M_cur") " - " DEQUE(
                                 "_M_finish._M_first") ")"  //
                                                       " + (" DEQUE("_M_start._M_last") " - " DEQUE(
                                                           "_M_start._M_cur") ")",
     .empty = DEQUE("_M_finish._M_cur") " == " DEQUE("_M_start._M_cur"),
     .element = "(&*" DEQUE("_M_start._M_node") ")[" DEQUE_INDEX " / " DEQUE_NODE "]"  //
                                                "[" DEQUE_INDEX " % " DEQUE_NODE "]",
     .front = DEQUE("_M_start._M_cur") "[0]",
     .back = "(" DEQUE("_M_finish._M_cur") " == " DEQUE("_M_finish._M_first")  //
     " ? (&*" DEQUE("_M_finish._M_node") ")[-1] + " DEQUE_NODE                 //
                                         " : " DEQUE("_M_finish._M_cur") ")[-1]"},
    {.type = "std::array<", .size = "@2", .element = "(*&$._M_elems)[#]"},
    {.type = "std::__cxx11::basic_string<char, std::char_traits<char>,",
     .size = "$._M_string_length",
     .element = "(&*$._M_dataplus._M_p)[#]",
     .data = "$._M_dataplus._M_p"},
    {.type = "std::__cxx11::basic_string<",
     .size = "$._M_string_length",
     .element = "(&*$._M_dataplus._M_p)[#]"},
    {.type = "std::basic_string_view<char, std::char_traits<char> >",
     .size = "$._M_len",
     .element = "$._M_str[#]",
     .data = "$._M_str"},
    {.type = "std::basic_string_view<", .size = "$._M_len", .element = "$._M_str[#]"},
    {.type = "std::span<", .size = "$._M_extent._M_extent_value", .element = "(&*$._M_ptr)[#]"},
    {.type = "std::__cxx11::list<", .size = "$._M_impl._M_node._M_size"},
    {.type = "std::map<", .size = kTreeSize},
    {.type = "std::multimap<", .size = kTreeSize},
    {.type = "std::set<", .size = kTreeSize},
    {.type = "std::multiset<", .size = kTreeSize},
    {.type = "std::unordered_map<", .size = kHashSize},
    {.type = "std::unordered_multimap<", .size = kHashSize},
    {.type = "std::unordered_set<", .size = kHashSize},
    {.type = "std::unordered_multiset<", .size = kHashSize},
    {.type = "std::queue<", .inner = "$.c"},
    {.type = "std::stack<", .inner = "$.c", .top = "back"},
    {.type = "std::priority_queue<", .inner = "$.c", .top = "front"},
    {.type = "std::atomic<bool>", .load = "$._M_base._M_i"},
    {.type = "std::atomic<float>", .load = "$._M_fp"},
    {.type = "std::atomic<double>", .load = "$._M_fp"},
    {.type = "std::atomic<void*>", .load = "$._M_b._M_p"},
    {.type = "std::atomic<", .ends = "*>", .load = "(&*$._M_b._M_p)"},
    {.type = "std::atomic<", .load = "$._M_i"},
    {.type = "std::atomic_flag", .test = "$._M_i"},
    // gdb would take the deleter's base for the pointer's. Other deleters may lie before the pointer.
    {.type = "std::unique_ptr<",
     .ends = ",std::default_delete<@1>>",
     .get = "(('std::_Head_base<0, @1*, false>'*)&$._M_t._M_t)->_M_head_impl"},
    {.type = "std::shared_ptr<",
     .get = "(&*$._M_ptr)",
     .use_count = "(long)($._M_refcount._M_pi ? $._M_refcount._M_pi->_M_use_count : 0)"},
    {.type = "std::optional<",
     .has_value = "$._M_payload._M_engaged",
     .held = "($._M_payload._M_engaged ? &$._M_payload._M_payload._M_value : 0)"},
};
#undef DEQUE_INDEX
#undef DEQUE_NODE
#undef DEQUE

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

bool fits(const ContainerLayout& layout, const std::string& class_name) {
  if (!class_name.starts_with(layout.type)) return false;
  std::string ends(layout.ends);
  if (size_t at = ends.find("@1"); at != std::string::npos)
    ends.replace(at, 2, without_spaces(template_argument(class_name, 0)));
  return without_spaces(class_name).ends_with(ends);
}

}  // namespace

const ContainerLayout* container_layout(const std::string& class_name) {
  auto found =
      std::ranges::find_if(kLayouts, [&](const ContainerLayout& layout) { return fits(layout, class_name); });
  return found == std::end(kLayouts) ? nullptr : found;
}

std::string template_argument(const std::string& class_name, size_t number) {
  std::string argument;
  int depth = 0;
  for (char c : class_name) {
    bool opens = c == '<' || c == '(', closes = c == '>' || c == ')';
    depth -= closes ? 1 : 0;
    if (depth == 0 && closes) break;
    bool next = depth == 1 && c == ',';
    if (next && number == 0) break;
    if (next) --number;
    if (depth > 0 && number == 0 && !next) argument += c;
    depth += opens ? 1 : 0;
  }
  size_t begin = std::min(argument.find_first_not_of(' '), argument.size());
  size_t end = argument.find_last_not_of(' ') + 1;
  return argument.substr(begin, end - begin);
}

}  // namespace pastcone::gdb
