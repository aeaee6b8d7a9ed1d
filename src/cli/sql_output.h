// The rows of a query on stdout: lined up for people, or with tabs, or as JSON.
#pragma once

#include <memory>

#include "pastcone/query/database.h"

namespace pastcone::cli {

enum class RowFormat {
  kTable,  ///< all rows are needed before the first is printed
  kTabs,   ///< the names of the columns first; NULL is empty
  kJson,   ///< one object a line
};

class RowOutput : public query::RowVisitor {
 public:
  /// What is left.
  virtual void finish() = 0;
};

std::unique_ptr<RowOutput> make_row_output(RowFormat format);

}  // namespace pastcone::cli
