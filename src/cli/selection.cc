#include "pastcone/cli/selection.h"

namespace pastcone::cli {
namespace {

template <typename Id>
Status absent(Id id) {
  return fail("there is no {} in this recording; `pastcone ps` shows its processes", id);
}

}  // namespace

bool Selection::add(const std::string& text) {
  if (auto process = ProcessId::parse(text)) {
    processes_.insert(*process);
    return true;
  }
  if (auto thread = ThreadId::parse(text)) {
    threads_.insert(*thread);
    return true;
  }
  return false;
}

bool Selection::contains(ThreadId thread) const {
  bool all = processes_.empty() && threads_.empty();
  return all || processes_.contains(thread.process()) || threads_.contains(thread);
}

Status Selection::check(const Recording& recording) const {
  for (ThreadId thread : threads_) {
    if (!recording.threads().contains(thread)) return absent(thread);
  }
  for (ProcessId process : processes_) {
    auto first = recording.threads().lower_bound(ThreadId(process, 0));
    if (first == recording.threads().end() || first->first.process() != process) return absent(process);
  }
  return {};
}

Result<Selected> parse_selection(const std::vector<std::string>& what) {
  Selected selected;
  for (size_t i = 0; i < what.size(); ++i) {
    if (selected.selection.add(what[i])) continue;
    if (i != 0) return tl::unexpected<Error>(ThreadId::parse(what[i]).error());
    selected.rec = what[i];
  }
  return selected;
}

}  // namespace pastcone::cli
