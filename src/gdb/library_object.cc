#include "pastcone/gdb/library_object.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "pastcone/gdb/translate.h"

namespace pastcone::gdb {

std::string LibraryObject::argument(int number) const {
  std::string type = template_argument(class_name, static_cast<size_t>(number));
  return type.ends_with("[]") ? type.substr(0, type.find_last_not_of(' ', type.size() - 3) + 1) : type;
}

std::string LibraryObject::fill(std::string_view form, const std::string& index) const {
  std::string out;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '$')
      out += text;
    else if (form[i] == '#')
      out += "(" + index + ")";
    else if (form[i] == '@')
      out += argument(form[++i] - '1');
    else
      out += form[i];
  }
  return out;
}

std::string LibraryObject::fill_some(std::string_view form) const {
  return form.empty() ? "" : "(" + fill(form) + ")";
}

std::string LibraryObject::size() const {
  return layout->size.empty() ? "" : "((unsigned long)(" + fill(layout->size) + "))";
}

std::string LibraryObject::empty() const {
  if (!layout->empty.empty()) return fill_some(layout->empty);
  return layout->size.empty() ? "" : "(" + size() + " == 0)";
}

std::string LibraryObject::element(const std::string& index) const { return fill(layout->element, index); }

/// Outside there is a null pointer, which cannot be read.
std::string LibraryObject::at(const std::string& index) const {
  if (layout->element.empty()) return {};
  return fmt::format("(*((int)((unsigned long)({}) < {}) ? &{} : 0))", index, size(), element(index));
}

std::string LibraryObject::front() const {
  return layout->front.empty() ? element("0") : fill(layout->front);
}

std::string LibraryObject::back() const {
  return layout->back.empty() ? element(size() + " - 1") : fill(layout->back);
}

std::string LibraryObject::pointer() const {
  return fill_some(layout->get.empty() ? layout->held : layout->get);
}

std::string LibraryObject::told_by_inner(const std::string& method) const {
  std::string_view inner = method == "top" ? layout->top : method;
  bool known = inner == "size" || inner == "empty" || inner == "front" || inner == "back";
  return known ? fmt::format("{}.{}()", fill(layout->inner), inner) : "";
}

std::string LibraryObject::told_by(const std::string& method, const std::string& argument) const {
  if (method == "at") return argument.empty() ? "" : at(argument);
  if (!argument.empty()) return {};
  if (!layout->inner.empty()) return told_by_inner(method);
  bool string =
      class_name.find("std::basic_string") == 0 || class_name.find("std::__cxx11::basic_string") == 0;
  if (method == "size" || (method == "length" && string)) return size();
  if (method == "empty") return empty();
  if (method == "front") return front();
  if (method == "back") return back();
  if (method == "load") return fill_some(layout->load);
  if (method == "test") return fill_some(layout->test);
  if (method == "get") return fill_some(layout->get);
  if (method == "use_count") return fill_some(layout->use_count);
  if (method == "has_value") return fill_some(layout->has_value);
  if (method == "value" && !layout->held.empty()) return "(*" + pointer() + ")";
  return {};
}

/// By words as far as there are any: what has the literal's size can be read so far. As a C string the
/// literal ends with its first '\0'.
std::string LibraryObject::bytes_equal(const std::string& literal) const {
  auto bytes = string_value(literal);
  if (!bytes) return {};
  bytes->resize(std::strlen(bytes->c_str()));
  std::string out = fmt::format("({} == {}", size(), bytes->size());
  constexpr std::pair<size_t, const char*> kWords[] = {
      {8, "unsigned long"}, {4, "unsigned int"}, {2, "unsigned short"}, {1, "unsigned char"}};
  size_t at = 0;
  for (auto [width, type] : kWords) {
    for (; bytes->size() - at >= width; at += width) {
      uint64_t word = 0;
      std::memcpy(&word, bytes->data() + at, width);
      out += fmt::format(" && *({}*)({} + {}) == {:#x}", type, fill(layout->data), at, word);
    }
  }
  return out + ")";
}

}  // namespace pastcone::gdb
