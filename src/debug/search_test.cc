// What the search finds in random executions against what trying everything finds.
#include "pastcone/debug/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pastcone/debug/testing/random_world.h"

namespace pastcone::debug {
namespace {

using causal::Cut;
using debug_testing::Spots;
using debug_testing::World;
using debug_testing::WorldOptions;

WorldOptions any_options(unsigned seed, uint32_t steps) {
  return {
      .threads = 2 + seed % 4, .steps = steps, .serial = seed % 2 == 0, .truth = 1 + seed % 7, .parts = 6};
}

Cut any_start(World& world, unsigned seed) {
  return seed % 3 == 0 ? world.any_cut() : beginning(world.graph()).cut;
}

/// For comparing; hubs mean nothing.
std::pair<Cut, std::vector<Moment>> plain(const World& world, Found state) {
  state.cut.resize(world.graph().real_threads);
  return {std::move(state.cut), std::move(state.moments)};
}

std::vector<std::pair<Cut, std::vector<Moment>>> plain(const World& world, std::vector<Found> states) {
  std::vector<std::pair<Cut, std::vector<Moment>>> all;
  for (Found& state : world.sorted(std::move(states))) all.push_back(plain(world, std::move(state)));
  return all;
}

struct Tally {
  unsigned found = 0, never = 0, moved = 0, several = 0;
};

TEST(Search, FindsTheFirstStateOfAConjunction) {
  Tally tally;
  for (unsigned seed = 1; seed <= 10000; ++seed) {
    std::mt19937 random(seed);
    World world(random, any_options(seed, 30));
    Conjunction conjunction = world.any_conjunction(1 + seed % 4);
    Cut from = any_start(world, seed);
    Search search(world.graph(), world.parts(), world);
    auto found = search.first(conjunction, {from});
    ASSERT_TRUE(found) << found.error().message;
    auto expected = world.true_first(conjunction, from);
    ASSERT_EQ(found->has_value(), expected.has_value()) << "seed " << seed;
    ++(expected ? tally.found : tally.never);
    if (world.asked() > conjunction.size()) ++tally.moved;
    if (!expected) continue;
    ASSERT_EQ(plain(world, **found), plain(world, *expected)) << "seed " << seed;
  }
  // The cases are there.
  EXPECT_GT(tally.found, 1000u);
  EXPECT_GT(tally.never, 200u);
  EXPECT_GT(tally.moved, 300u);
}

TEST(Search, FindsNothingThatIsNeverTrue) {
  std::mt19937 random(1);
  World world(random, {.truth = 0});
  Search search(world.graph(), world.parts(), world);
  EXPECT_FALSE(*search.first({0}, beginning(world.graph())));
  EXPECT_TRUE(search.minimal({{0}, {1}}, beginning(world.graph()))->empty());
}

TEST(Search, FindsTheMinimalStatesOfADisjunction) {
  Tally tally;
  for (unsigned seed = 1; seed <= 2500; ++seed) {
    std::mt19937 random(seed);
    World world(random, any_options(seed, 28));
    Cut from = any_start(world, seed);
    Disjunction disjunction;
    std::vector<Found> all;
    for (unsigned i = 0; i < 1 + seed % 4; ++i) {
      disjunction.push_back(world.any_conjunction(1 + (seed + i) % 3));
      if (auto first = world.true_first(disjunction.back(), from)) all.push_back(*first);
    }
    Search search(world.graph(), world.parts(), world);
    auto found = search.minimal(disjunction, {from});
    ASSERT_TRUE(found) << found.error().message;
    if (found->size() > 1) ++tally.several;
    for (const Found& state : *found)
      ASSERT_EQ(state.moments.size(), disjunction[state.alternative].size()) << "seed " << seed;
    ASSERT_EQ(plain(world, *found), plain(world, world.true_minimal(all))) << "seed " << seed;
  }
  EXPECT_GT(tally.several, 100u);
}

/// Of the last link those behind `from`, of the links before it all that have been.
std::vector<std::vector<Spots>> solutions_linked(const World& world, const std::vector<Disjunction>& links,
                                                 const Cut& first, const Cut& from) {
  std::vector<std::vector<Spots>> before;  // of each conjunction
  for (size_t link = 0; link < links.size(); ++link) {
    std::vector<std::vector<Spots>> now;
    for (const Conjunction& conjunction : links[link]) {
      now.push_back(world.solutions(conjunction, link + 1 < links.size() ? first : from));
      if (link == 0) continue;
      std::erase_if(now.back(), [&](const Spots& spots) {
        for (size_t i = 0; i < before.size(); ++i)
          for (const Spots& other : before[i])
            if (world.has_in_past(links[link - 1][i], other, conjunction, spots)) return false;
        return true;
      });
    }
    before = std::move(now);
  }
  return before;
}

std::vector<Found> true_linked(const World& world, const std::vector<Disjunction>& links, const Cut& first,
                               const Cut& from) {
  std::vector<std::vector<Spots>> last = solutions_linked(world, links, first, from);
  std::vector<Found> all;
  for (size_t i = 0; i < last.size(); ++i)
    for (const Spots& spots : last[i]) all.push_back(world.state_of(links.back()[i], spots, from));
  return world.true_minimal(std::move(all));
}

std::vector<Disjunction> any_links(World& world, std::mt19937& random, size_t count) {
  std::vector<Disjunction> links(count);
  for (Disjunction& link : links)
    for (unsigned i = 0; i < 1 + random() % 2; ++i) link.push_back(world.any_conjunction(1 + random() % 2));
  return links;
}

TEST(Search, FindsLinkedStates) {
  Tally tally;
  for (unsigned seed = 1; seed <= 2500; ++seed) {
    std::mt19937 random(seed);
    WorldOptions options = any_options(seed, 34);
    options.truth += 1;
    World world(random, options);
    Cut from = any_start(world, seed);
    std::vector<Disjunction> links = any_links(world, random, 2 + seed % 2);
    Search search(world.graph(), world.parts(), world);
    auto reached = search.reach(links, {from});
    ASSERT_TRUE(reached) << reached.error().message;
    std::vector<Found> found = search.last_of(*reached);
    ++(found.empty() ? tally.never : tally.found);
    if (found.size() > 1) ++tally.several;
    ASSERT_EQ(plain(world, found), plain(world, true_linked(world, links, from, from))) << "seed " << seed;
  }
  EXPECT_GT(tally.found, 300u);
  EXPECT_GT(tally.never, 100u);
  EXPECT_GT(tally.several, 50u);
}

/// As if another probe had found them, which counts otherwise how far threads have gone on.
std::vector<Reached> found_by_another(std::vector<Reached> reached) {
  for (Reached& link : reached) {
    for (std::vector<Found>& states : link) {
      for (Found& state : states) {
        for (Moment& moment : state.moments) moment.detail *= 100;
        for (auto& [thread, detail] : state.details) detail *= 100;
      }
    }
  }
  return reached;
}

TEST(Search, KnowsWhatTheLinksBeforeTheLastHadReached) {
  Tally tally;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    std::mt19937 random(seed);
    WorldOptions options = any_options(seed, 34);
    options.truth += 1;
    World world(random, options);
    Cut first = beginning(world.graph()).cut, from = world.any_cut();
    std::vector<Disjunction> links = any_links(world, random, 2 + seed % 2);
    Search search(world.graph(), world.parts(), world);
    auto before = search.reach(std::span(links).first(links.size() - 1), {first});
    ASSERT_TRUE(before) << before.error().message;
    auto reached = search.reach(links, {from}, found_by_another(*before));
    ASSERT_TRUE(reached) << reached.error().message;
    std::vector<Found> found = search.last_of(*reached);
    ++(found.empty() ? tally.never : tally.found);
    if (found.size() > 1) ++tally.several;
    auto without = search.reach(links, {from});
    if (plain(world, found) != plain(world, search.last_of(*without))) ++tally.moved;
    ASSERT_EQ(plain(world, found), plain(world, true_linked(world, links, first, from))) << "seed " << seed;
  }
  EXPECT_GT(tally.found, 300u);
  EXPECT_GT(tally.never, 100u);
  EXPECT_GT(tally.several, 50u);
  EXPECT_GT(tally.moved, 100u);
}

TEST(Search, FindsWhereTheLastLinkHoldsAgain) {
  Tally tally;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    std::mt19937 random(seed);
    World world(random, any_options(seed, 34));
    Cut from = beginning(world.graph()).cut;
    std::vector<Disjunction> links{{world.any_conjunction(1 + random() % 2)}, {world.any_conjunction(1 + random() % 2)}};
    Search search(world.graph(), world.parts(), world);
    auto reached = search.reach(links, {from});
    ASSERT_TRUE(reached) << reached.error().message;
    std::vector<Found> states = search.last_of(*reached);
    if (states.empty()) continue;
    const Found& held = states.front();
    const Conjunction& last = links.back().front();
    std::vector<Spots> all = solutions_linked(world, links, from, from).front();
    auto standing = std::ranges::find_if(all, [&](const Spots& spots) {
      return plain(world, {world.state_of(last, spots, from)}) == plain(world, {held});
    });
    ASSERT_TRUE(standing != all.end()) << "seed " << seed;
    std::vector<Found> expected;
    for (const Spots& spots : all) {
      bool later = false, before = false;
      for (size_t i = 0; i < spots.size(); ++i) {
        later = later || world.was_false(last[i], (*standing)[i], spots[i]);
        before = before || spots[i] < (*standing)[i];
      }
      if (later && !before) expected.push_back(world.state_of(last, spots, held.cut));
    }
    auto found = search.again(links, *reached, held);
    ASSERT_TRUE(found) << found.error().message;
    ++(found->empty() ? tally.never : tally.found);
    ASSERT_EQ(plain(world, *found), plain(world, world.true_minimal(expected))) << "seed " << seed;
  }
  EXPECT_GT(tally.found, 300u);
  EXPECT_GT(tally.never, 100u);
}

TEST(Search, FindsWhereAConjunctionHoldsAgain) {
  Tally tally;
  for (unsigned seed = 1; seed <= 2500; ++seed) {
    std::mt19937 random(seed);
    World world(random, any_options(seed, 30));
    Conjunction conjunction = world.any_conjunction(1 + seed % 3);
    Cut from = beginning(world.graph()).cut;
    std::vector<Spots> all = world.solutions(conjunction, from);
    Search search(world.graph(), world.parts(), world);
    auto held = search.first(conjunction, {from});
    ASSERT_EQ(held->has_value(), !all.empty());
    if (all.empty()) continue;
    Spots first = all.front();
    for (const Spots& spots : all)
      for (size_t i = 0; i < spots.size(); ++i) first[i] = std::min(first[i], spots[i]);
    std::vector<Found> expected;
    for (const Spots& spots : all) {
      bool later = false;
      for (size_t i = 0; i < spots.size(); ++i)
        later = later || world.was_false(conjunction[i], first[i], spots[i]);
      if (later) expected.push_back(world.state_of(conjunction, spots, (*held)->cut));
    }
    auto found = search.again(conjunction, **held);
    ASSERT_TRUE(found) << found.error().message;
    ++(found->empty() ? tally.never : tally.found);
    ASSERT_EQ(plain(world, *found), plain(world, world.true_minimal(expected))) << "seed " << seed;
  }
  EXPECT_GT(tally.found, 300u);
  EXPECT_GT(tally.never, 100u);
}

using Place = std::pair<Cut, std::map<uint32_t, uint64_t>>;

Place place(const World& world, Front front) {
  front.cut.resize(world.graph().real_threads);
  return {std::move(front.cut), std::move(front.details)};
}

bool not_after(const Place& a, const Place& b) {
  for (uint32_t thread = 0; thread < a.first.size(); ++thread) {
    auto far = [&](const Place& one) {
      auto detail = one.second.find(thread);
      return std::pair(one.first[thread], detail == one.second.end() ? 0 : detail->second);
    };
    if (far(a) > far(b)) return false;
  }
  return true;
}

WorldOptions shared_options(unsigned seed) {
  return {
      .threads = 2 + seed % 3, .steps = 18, .serial = true, .truth = 2 + seed % 4, .parts = 4, .shared = 2};
}

TEST(Search, FindsTheFirstStateOfWhatProcessesShare) {
  Tally tally;
  for (unsigned seed = 1; seed <= 4000; ++seed) {
    std::mt19937 random(seed);
    World world(random, shared_options(seed));
    Conjunction conjunction = world.any_shared(1 + seed % 4);
    Cut from = any_start(world, seed);
    Search search(world.graph(), world.parts(), world);
    auto found = search.first(conjunction, {from});
    ASSERT_TRUE(found) << found.error().message;
    std::vector<Place> all;
    for (Front& front : world.fronts(conjunction, {from})) all.push_back(place(world, std::move(front)));
    ASSERT_EQ(found->has_value(), !all.empty()) << "seed " << seed;
    ++(all.empty() ? tally.never : tally.found);
    if (all.empty()) continue;
    if (world.asked() > conjunction.size()) ++tally.moved;
    Place first = place(world, **found);
    ASSERT_TRUE(std::ranges::find(all, first) != all.end()) << "seed " << seed;
    ASSERT_TRUE(std::ranges::all_of(all, [&](const Place& other) { return not_after(first, other); }))
        << "seed " << seed;
  }
  EXPECT_GT(tally.found, 1000u);
  EXPECT_GT(tally.never, 200u);
  EXPECT_GT(tally.moved, 300u);
}

TEST(Search, FindsWhereWhatProcessesShareHoldsAgain) {
  Tally tally;
  for (unsigned seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    World world(random, shared_options(seed));
    Conjunction conjunction = world.any_shared(1 + seed % 3);
    Search search(world.graph(), world.parts(), world);
    auto held = search.first(conjunction, beginning(world.graph()));
    ASSERT_TRUE(held) << held.error().message;
    if (!*held) continue;
    std::vector<Place> all, expected, places;
    for (Front& front : world.fronts(conjunction, **held)) {
      bool later =
          std::ranges::any_of(conjunction, [&](size_t part) { return world.was_false(part, **held, front); });
      if (later) all.push_back(place(world, std::move(front)));
    }
    for (const Place& one : all)
      if (std::ranges::none_of(all,
                               [&](const Place& other) { return other != one && not_after(other, one); }))
        expected.push_back(one);
    auto found = search.again(conjunction, **held);
    ASSERT_TRUE(found) << found.error().message;
    for (const Found& state : *found) places.push_back(place(world, state));
    std::ranges::sort(places);
    std::ranges::sort(expected);
    ASSERT_EQ(places, expected) << "seed " << seed;
    ++(found->empty() ? tally.never : tally.found);
  }
  EXPECT_GT(tally.found, 300u);
  EXPECT_GT(tally.never, 100u);
}

}  // namespace
}  // namespace pastcone::debug
