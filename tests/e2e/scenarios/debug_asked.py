"""Predicates and conditions that gdb does not compile: it is asked, and the replay is not disturbed by that."""
from building import compile_c
from debugging import debug

CONTAINERS = r"""#include <map>
#include <string>
#include <vector>
#include <unistd.h>
namespace shop { int sold; }
struct Item { std::string name; int price; };
struct Store { std::vector<Item> items; std::map<int, int> counts; };
Store* store;
int main() {
  store = new Store;
  for (int i = 0; i < 6; i++) {
    store->items.push_back({"item", 10 * i});
    store->counts[i % 3]++;
    if (getpid() == 0) return 1;
    shop::sold = i;
  }
  store->items[2].price = 99;
  return 0;
}
"""

CALLS = "a function that is called"


def _record(context):
    context.need("gdb")
    recording = context.path("recording")
    done = context.record(recording, [context.program("asked_predicates")])
    context.expect(done.status == 0, "recording", done)
    return recording


def _expect(context, recording, predicate, looks):
    """`stop if` it, and what is printed there."""
    commands = [f"print {what}" for what in looks]
    result = debug(context, recording, f"stop if p1: {predicate}", "continue", *commands, label=predicate)
    shown = [line.split(" = ", 1)[1] for line in result.stdout.decode().splitlines() if line.startswith("$")]
    context.expect(shown == list(looks.values()), f"{predicate}: {shown} instead of {list(looks.values())}", result)


def test_debug_asked_predicates(context):
    """Calls of pure functions, floating point, strings, a thread's own variables, many words: at the instruction that makes it true."""
    recording = _record(context)
    _expect(context, recording, "count_of(list) == 2", {"list->value": "2", "name": '\'\\000\' <repeats 15 times>'})
    _expect(context, recording, "count_of(list) == 3", {"list->value": "1", "name[0]": "0 '\\000'"})
    _expect(context, recording, 'is_named("abc")', {"name": '"abc", \'\\000\' <repeats 12 times>', "own": "7"})
    _expect(context, recording, '$_streq(name, "abc")', {"own": "7"})
    _expect(context, recording, 'strcmp(name, "abc") == 0', {"own": "7"})
    _expect(context, recording, "own == 9", {"parts[1]": "0", "ratio": "0"})
    _expect(context, recording, "own == 9 && ratio > 0.6", {"ratio": "0.75", "parts[5]": "5"})
    _expect(context, recording, "whole() == 10", {"parts[4]": "4", "parts[5]": "0"})
    _expect(context, recording, "parts[0] + parts[1] + parts[2] + parts[3] + parts[4] + parts[5] == 6", {"parts[3]": "3", "parts[4]": "0"})
    _expect(context, recording, "counting(2) == 2 at handle", {"marks": "0", "number": "8"})
    _expect(context, recording, "number == 16 && count_of(list) + ratio == 4 at handle", {"number": "16", "ratio": "1"})
    _expect(context, recording, "share == 6.0 in handle", {"number": "24", "i": "1"})
    _expect(context, recording, "count_of(list) + share == 5.0 in handle", {"number": "8", "i": "1"})


def test_debug_asked_conditions(context):
    """Conditions of breakpoints: those that do not hold are passed over."""
    recording = _record(context)
    result = debug(context, recording, "break handle if count_of(list) == 3 && ratio > 1.5", "continue", "print number", "print marks",
                   "condition 1 is_named(\"abd\")", "continue", "print number", label="condition")
    text = result.stdout.decode()
    context.expect("$1 = 24\n" in text and "$2 = 0\n" in text and "the recording ends here" in text, "conditions", result)
    temporary = debug(context, recording, 'tbreak handle if strcmp(name, "abc") == 0 && counting(1) == 1', "continue", "print number", "print marks",
                      "continue", label="tbreak")
    text = temporary.stdout.decode()
    context.expect("$1 = 8\n" in text and "$2 = 0\n" in text and "the recording ends here" in text, "tbreak", temporary)


def test_debug_asked_containers(context):
    """Containers of C++ in a predicate, as gdb's scripts know them, wherever the process stands when that is asked: in libc, before its libraries are there."""
    context.need("gdb")
    recording = context.path("recording")
    context.record(recording, [compile_c(context, "containers", CONTAINERS, "-O0", compiler="g++")])
    _expect(context, recording, "store->items[2].price == 99", {"shop::sold": "5"})
    _expect(context, recording, "store->items.size() == 4", {"shop::sold": "2"})
    _expect(context, recording, "shop::sold == 3 && store->items.size() == 5", {"store->items[4].price": "40"})
