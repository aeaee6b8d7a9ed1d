// Containers, smart pointers and atomics of C++ without a call: as libstdc++ keeps them.
//
//   v[3], v.at(3), v.front()   (&*v._M_impl._M_start)[3]   elements of vector, deque, array, string, …
//   m.size(), m.empty()        m._M_t._M_impl._M_node_count
//   queue.size()               queue.c.size()              adaptors
//   ready == 1, ready.load()   ready._M_base._M_i == 1     atomics
//   p->x, *p, !p, p.get()      (&*p._M_ptr)->x             shared_ptr, unique_ptr; optional
//   name == "abc"              its size and bytes
//
// Which class has what is in container_layouts.cc. What is at() outside, or in an empty optional, cannot be
// read: there such a condition does not hold, as the program would throw.
#pragma once

#include <functional>
#include <string>

namespace pastcone::gdb {

/// The full name of the class that an expression is of, or refers to; empty: it is not of a class, nothing at
/// all, or of different ones in the places that are meant.
using ClassOf = std::function<std::string(const std::string& expression)>;

/// What is none of these stays as it is; so does what one cannot tell to be.
std::string with_members(const std::string& expression, const ClassOf& class_of);

}  // namespace pastcone::gdb
