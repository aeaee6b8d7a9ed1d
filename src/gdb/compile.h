// From an expression to bytecode, by gdb.
//
// gdb (13) compiles less than it prints, and some of it wrongly. What can be helped is (translate.h):
// character constants, enumerations and booleans in arithmetic and comparisons, references, the address of a
// function or of what has no debug information, and a thread's own variables, if they lie at the same
// distance from $fs_base in every thread. What cannot is refused, in gdb's words: floating point, calls,
// assignments, structures as a whole, strings, convenience variables, parts of registers ($eax, $pc: write
// $rax, $rip), variables that the compiler has optimized out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/gdb/agent.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::gdb {

/// Without a location: for where the process stands (its innermost frame, whichever is selected); gdb needs
/// one. With a location (a function, FILE:LINE; not *ADDRESS, which gdb does not take here): for there; it
/// must be one place. Addresses are those of the file until gdb has a process and knows where the file is
/// loaded.
Result<AgentExpression> compile(Gdb& gdb, const std::string& expression, const std::string& location = {});

/// For each place that the location means (a template, an inlined function): see AgentExpression::scope().
Result<std::vector<AgentExpression>> compile_all(Gdb& gdb, const std::string& expression,
                                                 const std::string& location = {});

/// gdb's own answer, about the expression as it is.
Result<Answer> compile_as_it_is(Gdb& gdb, const std::string& expression, const std::string& location);

/// gdb does not call functions whose return type it does not know. Of the commonest ones of libc it is known
/// here: the expression with casts, if `error` is that and they help.
std::optional<std::string> with_return_types(const std::string& expression, const std::string& error);

/// Whether an error of these means that gdb may evaluate the expression all the same.
bool is_only_uncompiled(const std::string& error);

}  // namespace pastcone::gdb
