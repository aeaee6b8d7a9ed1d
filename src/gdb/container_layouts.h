// Where libstdc++ (as of GCC 12; the layouts belong to its ABI) keeps what the methods of its classes tell.
#pragma once

#include <string>
#include <string_view>

namespace pastcone::gdb {

/// In the texts $ is the object, # an index in parentheses, @1 and @2 are the class's template arguments
/// (of an array type that of its elements). What is empty the class has not, or it cannot be told without a
/// call.
struct ContainerLayout {
  std::string_view type = {};  ///< what the class's full name begins with
  std::string_view ends = {};  ///< and ends with, if its spaces do not count

  std::string_view size = {};
  std::string_view empty = {};    ///< if that is less to read than the size
  std::string_view element = {};  ///< at an index
  std::string_view front = {};    ///< if that is less to read than element 0
  std::string_view back = {};     ///< if that is less to read than the last element
  std::string_view data = {};     ///< of a string of bytes, compared as such
  std::string_view inner = {};    ///< the container that an adaptor has
  std::string_view top = {};      ///< as the inner container calls it

  std::string_view load = {};       ///< the number that stands for the object
  std::string_view test = {};       ///< of a flag
  std::string_view get = {};        ///< the pointer that stands for the object
  std::string_view use_count = {};  ///< of that pointer
  std::string_view has_value = {};
  std::string_view held = {};  ///< a pointer to the value; null without one
};

/// By a class's full name; null: it is none of these. What derives from one may have methods of its own.
const ContainerLayout* container_layout(const std::string& class_name);

/// "int" and "3" of "std::array<int, 3>".
std::string template_argument(const std::string& class_name, size_t number);

}  // namespace pastcone::gdb
