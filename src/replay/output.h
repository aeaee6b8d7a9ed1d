// Shows the program's standard output and error again, in the order in which it was written when recorded, as
// soon as the replayed processes have produced it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/stage/layout.h"

namespace pastcone::replay {

class OutputPrinter {
 public:
  /// `orders`: the numbers of the recorded writes, ascending; there may be gaps where a process was killed.
  /// `file` is where the bytes are. `shown`: false: look at nothing. `once`: which of them were shown before, and
  /// are not again; then each is as soon as it is there, for others may come much later. `on_output` is told before each write.
  OutputPrinter(const stage::View& stage, std::vector<uint64_t> orders, int file, bool shown,
                std::vector<bool>* once = nullptr, std::function<void(std::string_view)> on_output = {});

  /// Prints what is ready now. False if nobody reads it any more (EPIPE).
  bool advance();

 private:
  bool advance_in_any_order();
  bool append(int fd, uint64_t position, uint32_t length);
  bool write_out();

  stage::View stage_;
  std::vector<uint64_t> orders_;
  int file_;
  size_t next_ = 0;
  std::vector<bool>* once_;
  uint64_t done_ = 0;  ///< Header::output_done at the last look
  std::function<void(std::string_view)> on_output_;
  int pending_fd_ = 1;
  std::string pending_;
};

}  // namespace pastcone::replay
