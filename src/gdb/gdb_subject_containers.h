// What containers_test asks and the program answers itself, where Asked::ask has everything set up.
#pragma once

#define CONTAINER_EXPRESSIONS(ASK)                                                                \
  ASK(numbers.size() == 5)                                                                        \
  ASK(numbers.size() - 6 > 0)                                                                     \
  ASK(numbers.empty())                                                                            \
  ASK(!numbers.empty())                                                                           \
  ASK(none.empty())                                                                               \
  ASK(none.empty() == true)                                                                       \
  ASK(numbers.at(2) == 4)                                                                         \
  ASK(numbers.at(at) == 5)                                                                        \
  ASK(numbers.at(numbers.at(1)) == 1)                                                             \
  ASK(numbers.front() == 3)                                                                       \
  ASK(numbers.back() == 5)                                                                        \
  ASK(numbers.back() == 4)                                                                        \
  ASK(-numbers[2] >> numbers.size() - 4 == -2)                                                    \
  ASK((at < 3 ? 0 : numbers.size()) - 6 > 0)                                                      \
  ASK((at < 3 ? numbers.size() : -1) < 0)                                                         \
  ASK(by_reference.size() == 5)                                                                   \
  ASK(by_reference[2] == 4)                                                                       \
  ASK(pointer->size() == 5)                                                                       \
  ASK((*pointer).back() == 5)                                                                     \
  ASK((*pointer)[1] == 1)                                                                         \
  ASK(two[1].size() == 1)                                                                         \
  ASK(two[1][0] == 8)                                                                             \
  ASK(words[0].size() == 3)                                                                       \
  ASK(words[1].length() == 40)                                                                    \
  ASK(words[0][2] == 'e')                                                                         \
  ASK(flags[0])                                                                                   \
  ASK(flags[1] == true)                                                                           \
  ASK(flags.size() == 2)                                                                          \
  ASK(flags[1] - 2 < 0)                                                                           \
  ASK(-flags[0] < 0 || -flags[1] < 0)                                                             \
  ASK(many_flags[66])                                                                             \
  ASK(many_flags[65] == 1)                                                                        \
  ASK(many_flags.size() == 70 && !many_flags.empty())                                             \
  ASK(text.size() == 9)                                                                           \
  ASK(text.length() == 8)                                                                         \
  ASK(text.empty())                                                                               \
  ASK(text.at(5) == 't' && text.back() == 't' && text.front() == 's')                             \
  ASK(text == "some text")                                                                        \
  ASK(text == "some test")                                                                        \
  ASK(text == "some tex")                                                                         \
  ASK(text != "some text")                                                                        \
  ASK(text != "")                                                                                 \
  ASK(no_text == "")                                                                              \
  ASK(no_text == "\0hidden")                                                                      \
  ASK(no_text.empty() && text == "some text")                                                     \
  ASK((text == "some text") == true)                                                              \
  ASK(words[1] == "0123456789012345678901234567890123456789")                                     \
  ASK(words[1] == "0123456789012345678901234567890123456780")                                     \
  ASK(*name == "some text")                                                                       \
  ASK((*name) == "tab\tand \"quotes\"")                                                           \
  ASK(quoted == "tab\tand \"quotes\"")                                                            \
  ASK(foreign == "Grüßüüü")                                                                       \
  ASK(wide.size() == 3 && wide[1] == 'i')                                                         \
  ASK(view.size() == 4)                                                                           \
  ASK(view == "some")                                                                             \
  ASK(view != "some")                                                                             \
  ASK(view[1] == 'o' && view.back() == 'e' && !view.empty())                                      \
  ASK(part.size() == 2)                                                                           \
  ASK(part[1] == 4 && part.front() == 1 && part.back() == 4 && !part.empty())                     \
  ASK(fixed.size() == 3)                                                                          \
  ASK(fixed[1] == 20)                                                                             \
  ASK(fixed[at] == 30 && fixed.at(2) == 30 && fixed.front() == 10 && fixed.back() == 30)          \
  ASK(fixed.empty())                                                                              \
  ASK(places[1].x == 4)                                                                           \
  ASK(places.at(at - 1).y == 5)                                                                   \
  ASK(grid[1][2] == 6)                                                                            \
  ASK(grid[1].size() == 3 && grid.size() == 2)                                                    \
  ASK(map.size() == 2)                                                                            \
  ASK(map.size() > 2)                                                                             \
  ASK(map.empty())                                                                                \
  ASK(no_map.empty() && no_map.size() == 0)                                                       \
  ASK(set.size() == 3 && multiset.size() == 4 && multimap.size() == 1)                            \
  ASK(hashed.size() == 2 && hashed_set.size() == 1)                                               \
  ASK(no_hash.empty())                                                                            \
  ASK(list.size() == 3 && !list.empty())                                                          \
  ASK(no_list.empty())                                                                            \
  ASK(deque.size() == 400)                                                                        \
  ASK(deque.size() == 399)                                                                        \
  ASK(deque.empty())                                                                              \
  ASK(no_deque.empty() && no_deque.size() == 0)                                                   \
  ASK(emptied.empty() && emptied.size() == 0)                                                     \
  ASK(deque[0] == 300)                                                                            \
  ASK(deque[399] == 699)                                                                          \
  ASK(deque[at + 98] == 400)                                                                      \
  ASK(deque[at] == 400)                                                                           \
  ASK(deque.at(120) == 420 && deque.at(210) == 510 && deque.at(83) == 383 && deque.at(84) == 384) \
  ASK(deque.front() == 300 && deque.back() == 699)                                                \
  ASK(full_node.back() == 127 && full_node.size() == 128 && full_node[127] == 127)                \
  ASK(big.size() == 3 && big[2].x == 7 && big.back().x == 7 && big.front().x == 5)                \
  ASK(shorts[300] == 300 && shorts.size() == 301)                                                 \
  ASK(queue.size() == 2)                                                                          \
  ASK(queue.front() == 7 && queue.back() == 8 && !queue.empty())                                  \
  ASK(no_queue.empty())                                                                           \
  ASK(stack.size() == 2 && stack.top() == 2)                                                      \
  ASK(heap.size() == 3)                                                                           \
  ASK(heap.top() == 9)                                                                            \
  ASK(heap.top() == 1)                                                                            \
  ASK(listed.size() == 1)                                                                         \
  ASK(count == 5)                                                                                 \
  ASK(count == 6)                                                                                 \
  ASK(count + 1 > 5)                                                                              \
  ASK(7 - count == 2)                                                                             \
  ASK(count & 4)                                                                                  \
  ASK(-count == -5)                                                                               \
  ASK(~count & 2)                                                                                 \
  ASK(~small == -201)                                                                             \
  ASK(~small & 200)                                                                               \
  ASK(count.load() == 5)                                                                          \
  ASK((count) == 5)                                                                               \
  ASK((count).load() == 5)                                                                        \
  ASK(count<0 || count> 4)                                                                        \
  ASK(numbers[count - 3] == 4)                                                                    \
  ASK((long)count == 5)                                                                           \
  ASK(minus < 0)                                                                                  \
  ASK(small == 200)                                                                               \
  ASK(ready)                                                                                      \
  ASK(!ready)                                                                                     \
  ASK(ready == true)                                                                              \
  ASK(unready || ready)                                                                           \
  ASK(unready || at == 3)                                                                         \
  ASK(unready&& at == 2)                                                                          \
  ASK(unready ? at == 2 : at == 3)                                                                \
  ASK(at == 3 || unready)                                                                         \
  ASK(state == State::kRunning)                                                                   \
  ASK(state == State::kIdle)                                                                      \
  ASK(flag.test())                                                                                \
  ASK(!no_flag.test())                                                                            \
  ASK(half > 0.4)                                                                                 \
  ASK(half > 0.6)                                                                                 \
  ASK(to_place == &place)                                                                         \
  ASK(to_place.load()->y == 3)                                                                    \
  ASK(!to_place)                                                                                  \
  ASK(*count_pointer == 5)                                                                        \
  ASK(count_pointer->load() == 6)                                                                 \
  ASK((*count_pointer).load() == 5)                                                               \
  ASK(3 * count == 15)                                                                            \
  ASK(count_reference == 5)                                                                       \
  ASK(sizeof(count) == 4 && count == 5)                                                           \
  ASK(unique->x == 2)                                                                             \
  ASK(unique && unique->x == 3)                                                                   \
  ASK((*unique).y == 3)                                                                           \
  ASK(unique->flag == true)                                                                       \
  ASK(unique->by_reference == 2)                                                                  \
  ASK(unique->values.size() == 2 && unique->values[1] == 9)                                       \
  ASK(*unique_number == 11)                                                                       \
  ASK(no_unique)                                                                                  \
  ASK(!no_unique)                                                                                 \
  ASK(!unique)                                                                                    \
  ASK(unique.get() != 0)                                                                          \
  ASK(unique != nullptr)                                                                          \
  ASK(no_unique == nullptr)                                                                       \
  ASK(no_unique || at == 3)                                                                       \
  ASK(no_unique && no_unique->x == 0)                                                             \
  ASK(unique_array[1].x == 6)                                                                     \
  ASK(shared->x == 2)                                                                             \
  ASK(shared->y == 2)                                                                             \
  ASK((*shared).values.back() == 9)                                                               \
  ASK(*shared_number == 12)                                                                       \
  ASK(shared.get() == other_shared.get())                                                         \
  ASK(shared == other_shared)                                                                     \
  ASK(shared.use_count() == 2)                                                                    \
  ASK(no_shared.use_count() == 0 && !no_shared)                                                   \
  ASK(shared_array[2].x == 7)                                                                     \
  ASK(kept[1]->x == 2)                                                                            \
  ASK(kept[1] && kept.size() == 2)                                                                \
  ASK(kept[0])                                                                                    \
  ASK((*kept_pointer)->x == 2)                                                                    \
  ASK(maybe.has_value())                                                                          \
  ASK(no_maybe.has_value())                                                                       \
  ASK(maybe)                                                                                      \
  ASK(!maybe)                                                                                     \
  ASK(!no_maybe)                                                                                  \
  ASK(no_maybe || *maybe == 6)                                                                    \
  ASK(maybe&&* maybe == 6)                                                                        \
  ASK(maybe.value() == 6)                                                                         \
  ASK(*maybe == 7)                                                                                \
  ASK(maybe_place->y == 9)                                                                        \
  ASK(maybe_place.value().x == 8)                                                                 \
  ASK(maybe_text->size() == 5 && *maybe_text == "maybe")                                          \
  ASK(items.size() == 2)                                                                          \
  ASK(this->items.back() == 2)                                                                    \
  ASK(this->done == 1 && items[0] == 1)                                                           \
  ASK(!done)                                                                                      \
  ASK(Asked::all.size() == 1 && ::numbers.size() == 5)                                            \
  ASK(in_thread == 4 && in_thread_too.size() == 2)
