#include "pastcone/query/order_memo.h"

namespace pastcone::query {

using causal::Node;

bool OrderMemo::Side::repeats(Node next) {
  if (node == next) return true;
  node = next;
  cone.clear();
  return false;
}

bool OrderMemo::before(Node a, Node b) {
  bool same_a = first_.repeats(a), same_b = second_.repeats(b);
  if (a == b) return false;
  if (same_b) {
    if (second_.cone.empty()) second_.cone = causal::past_cone(graph_, b);
    return a.event <= second_.cone[a.thread];
  }
  if (same_a) {
    if (first_.cone.empty()) first_.cone = causal::future_cone(graph_, std::span(&a, 1));
    return b.event >= first_.cone[b.thread];
  }
  return causal::happened_before(graph_, a, b);
}

}  // namespace pastcone::query
