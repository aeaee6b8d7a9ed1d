// An object of one of the classes of container_layouts.h, and the expressions that say without a call what
// its methods would.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "pastcone/gdb/container_layouts.h"

namespace pastcone::gdb {

/// Where an expression is returned, it is empty if there is none.
struct LibraryObject {
  LibraryObject(std::string expression, std::string of_class)
      : text(std::move(expression)), class_name(std::move(of_class)), layout(container_layout(class_name)) {}

  std::string fill(std::string_view form, const std::string& index = {}) const;
  std::string fill_some(std::string_view form) const;
  std::string element(const std::string& index) const;
  /// What * and -> are applied to.
  std::string pointer() const;
  /// What a method returns; `argument` is empty if it has none.
  std::string told_by(const std::string& method, const std::string& argument) const;
  /// Of a string.
  std::string bytes_equal(const std::string& literal) const;

  std::string text, class_name;
  const ContainerLayout* layout = nullptr;  ///< null: it is of none of them

 private:
  std::string argument(int number) const;
  std::string size() const;
  std::string empty() const;
  std::string at(const std::string& index) const;
  std::string front() const;
  std::string back() const;
  std::string told_by_inner(const std::string& method) const;
};

}  // namespace pastcone::gdb
