// Makes the event graph of a big random execution and asks it questions: graph EVENTS THREADS. Prints one
// JSON object: seconds, milliseconds (the longest of many) and megabytes.
//
// Of 10 events 3 send, as many receive, and half of one uses a lock. A thread has four channels to receive
// on, and takes what there is; four others send on one of them, one or two on the others. At every hundredth
// thread a neighbour receives, too.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/causal/build.h"
#include "pastcone/causal/cut.h"
#include "pastcone/causal/flat.h"
#include "pastcone/causal/luck.h"
#include "pastcone/causal/on_the_fly.h"
#include "pastcone/causal/path.h"
#include "pastcone/causal/transit.h"

using namespace pastcone;
using namespace pastcone::causal;

namespace {

constexpr int kQuestions = 200;

class Random {
 public:
  uint32_t below(uint32_t limit) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<uint32_t>((state_ >> 32) * limit >> 32);
  }

 private:
  uint64_t state_ = 88172645463325252;
};

Execution make_execution(uint64_t events, uint32_t threads, Random& random) {
  Execution execution;
  for (uint32_t i = 0; i < threads; ++i) {
    execution.threads.push_back({ThreadId(ProcessId(1), i + 1), 0, Node{0, i == 0 ? 0 : i}, false, true});
  }
  execution.threads[0].events = threads;
  for (uint32_t i = 0; i < threads * 4; ++i) execution.channels.push_back({i, false, true});
  std::vector<uint64_t> sent(threads * 4, 0), received(threads * 4, 0);
  execution.objects = threads * 2;
  execution.sends.reserve(events * 3 / 10 + events / 50);
  execution.receives.reserve(events * 3 / 10 + events / 50);
  for (uint64_t i = threads; i < events; ++i) {
    uint32_t thread = random.below(threads), what = random.below(200);
    Node node{thread, ++execution.threads[thread].events};
    if (what < 60) {
      uint32_t receiver = (thread + 1 + random.below(4)) % threads;
      uint32_t channel = receiver * 4 + (random.below(4) == 0 ? 0 : 1 + thread % 3);
      execution.sends.push_back({sent[channel], 40, channel, node});
      sent[channel] += 40;
    } else if (what < 140) {
      uint32_t owner = thread % 100 == 1 && random.below(8) == 0 ? thread - 1 : thread,
               first = random.below(4);
      for (uint32_t k = 0; k < 4; ++k) {
        uint32_t channel = owner * 4 + (first + k) % 4;
        if (received[channel] == sent[channel]) continue;
        execution.receives.push_back({received[channel], 40, channel, node});
        received[channel] += 40;
        break;
      }
    } else if (what < 150) {
      execution.accesses.push_back({node, 0, random.below(execution.objects), random.below(2)});
    }
  }
  return execution;
}

/// CPU time: other work on the machine counts little.
double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double seconds(auto what) {
  double start = now();
  what();
  return now() - start;
}

/// The longest that an answer took, in ms.
double slowest(auto ask) {
  double longest = 0;
  for (int i = 0; i < kQuestions; ++i) longest = std::max(longest, seconds(ask));
  return longest * 1e3;
}

void print(const char* name, double value, bool last = false) {
  std::printf("\"%s\": %.4f%s", name, value, last ? "}\n" : ", ");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: graph EVENTS THREADS\n"), 2;
  uint64_t events = std::strtoull(argv[1], nullptr, 10);
  auto threads = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  Random random;
  Execution execution = make_execution(events, threads, random);
  std::printf("{");
  print("messages", static_cast<double>(execution.sends.size()));
  double start = now();
  auto built = build(std::move(execution));
  print("build", now() - start);
  print("peak", peak_mb());
  if (!built) return std::fprintf(stderr, "graph: %s\n", built.error().message.c_str()), 1;
  const Graph& graph = *built;
  print("edges", static_cast<double>(graph.edges.size()));

  auto any = [&] {
    uint32_t thread = random.below(threads);
    return Node{thread, 1 + random.below(graph.threads[thread].events)};
  };
  Node first{0, 1}, last{threads - 1, graph.threads[threads - 1].events};
  size_t answers = 0;  // so that nothing is left out
  print("cone", slowest([&] { answers += past_cone(graph, any()).size(); }));
  print("future", slowest([&] {
          Node node = any();
          answers += future_cone(graph, std::span(&node, 1)).size();
        }));
  print("hb", slowest([&] { answers += happened_before(graph, any(), any()); }));
  print("path", slowest([&] { answers += witness_path(graph, any(), any()).has_value(); }));
  print("longest", seconds([&] { answers += longest_chain(graph, first, last)->edges.size(); }) * 1e3);
  print("chains", slowest([&] {
          auto chain = longest_chain(graph, any(), any());
          answers += chain ? chain->edges.size() : 0;
        }));
  print("cut", slowest([&] {
          Cut cut;
          for (uint32_t thread = 0; thread < threads; ++thread)
            cut.push_back(random.below(graph.threads[thread].events + 1));
          answers += consistent(graph, cut);
        }));
  print("transit", slowest([&] { answers += in_transit(graph, past_cone(graph, any())).size(); }));
  start = now();
  Races races = Races::find(graph);
  print("races", now() - start);
  print("racy", static_cast<double>(races.receives().size()));
  print("traced", static_cast<double>(races.traced().size()));
  print("on_the_fly", seconds([&] { answers += traced_on_the_fly(graph).size(); }));
  print("luck", seconds([&] { answers += lucky_orders(graph).size(); }));

  std::string path = std::string(std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") +
                     "/graph." + std::to_string(getpid());
  {
    std::ofstream file(path, std::ios::binary);
    Status written = write_flat(graph, as_bytes("bench"), [&](ByteView piece) -> Status {
      file.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
      return {};
    });
    if (!written || !file) return std::fprintf(stderr, "graph: cannot write %s\n", path.c_str()), 1;
  }
  start = now();
  auto mapped = MappedFile::open(path);
  auto opened = mapped ? open_flat(mapped->bytes(), as_bytes("bench")) : tl::unexpected(mapped.error());
  print("open", now() - start);
  unlink(path.c_str());
  if (!opened) return std::fprintf(stderr, "graph: %s\n", opened.error().message.c_str()), 1;
  print("flat", static_cast<double>(mapped->bytes().size()) / (1 << 20));
  print("answers", static_cast<double>(answers + (past_cone(*opened, last) == past_cone(graph, last))), true);
  return 0;
}
