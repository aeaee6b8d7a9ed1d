"""The oracle for demand points on shared objects: P2's virtual data flow graph, acted out by P2's rules.

A node is an access of an object, a birth or a fork. In a process they follow each other; an access also needs the one before it in its
object's history, and a birth its fork. Demand goes first to the demand point and to all before it in its object. A process
runs towards the furthest node of its own that is demanded; where it comes to a node whose predecessor in another process is not done, it demands that, and waits.
A process with a breakpoint stops there; who waits for it, or for one who waits for it, is at a secondary breakpoint.
"""


class Flow:
    """histories: object → list of (process, "r" or "w"); order: process → its accesses (object, number) as it makes them;
    forks: the parent, and its children in order; it has accesses only after those, and its end waits for them: not acted out."""

    def __init__(self, histories, order, parent, children):
        self.histories = histories
        self.nodes = {parent: [("start", parent)] + [("fork", child) for child in children]}
        self.nodes.update({child: [("birth", child)] + order[child] for child in children})
        self.needs = {("birth", child): ("fork", child) for child in children}
        for name, history in histories.items():
            for number in range(1, len(history)):
                self.needs[name, number] = (name, number - 1)
        self.place = {node: (process, index) for process, nodes in self.nodes.items() for index, node in enumerate(nodes)}

    def run_to(self, point, stops=()):
        """point: (object, number). stops: (process, node) pairs: a breakpoint that the process comes to directly after that node.
        Returns a Stand."""
        stand = Stand(self, point)
        chain = [(point[0], number) for number in range(point[1], -1, -1)]
        for node in chain:
            stand.demand(node)
            stand.chain.setdefault(self.place[node][0], node)  # the last one in each process
        stops = {(process, self.nodes[process].index(node)) for process, node in stops}
        while any([stand.advance(process, stops) for process in self.nodes]):
            pass
        return stand


class Stand:
    """Where everybody has come to."""

    def __init__(self, flow, point):
        self.flow, self.point, self.chain = flow, point, {}
        self.at = {process: -1 for process in flow.nodes}  # the index of the last node that is done
        self.wanted = dict(self.at)
        self.demanded, self.stopped, self.waits_for = set(), set(), {}

    def is_done(self, node):
        process, index = self.flow.place[node]
        return self.at[process] >= index

    def demand(self, node):
        process, index = self.flow.place[node]
        self.demanded.add(node)
        self.wanted[process] = max(self.wanted[process], index)

    def advance(self, process, stops):
        """One node further, or a demand more; False if there is nothing to do."""
        at = self.at[process]
        self.waits_for.pop(process, None)
        if at >= self.wanted[process]:
            return False
        if (process, at) in stops:
            self.stopped.add(process)
            return False
        node = self.flow.nodes[process][at + 1]
        need = self.flow.needs.get(node)
        if need is None or self.is_done(need):
            self.at[process] += 1
            return True
        self.waits_for[process] = self.flow.place[need][0]
        before = len(self.demanded)
        self.demand(need)
        if node[0] != "birth":
            self.demanded.add(node)
        return len(self.demanded) > before

    def marks(self, name):
        """The history of an object as `show obj` prints it: * done, $ demanded."""
        words = []
        for number, (process, access) in enumerate(self.flow.histories[name]):
            node = (name, number)
            done = node in self.flow.place and self.is_done(node)
            words.append(f"{number}: {str(process).lstrip('p')}{access}{'*' if done else '$' if node in self.demanded else ''}")
        return " ".join(words)

    def state(self, process):
        """P2's word for where a process stands; None if it is not born."""
        nodes, at = self.flow.nodes[process], self.at[process]
        if process in self.stopped:
            return "ARRIVE_BP"
        if at < 0:
            return None
        if process in self.waits_for:
            return "ARRIVE_2BP"
        if nodes[at] == self.point:
            return "ARRIVE_DP"
        return "ARRIVE_2DP" if nodes[at] == self.chain.get(process) else "ARRIVE_3DP"


def primes_order(histories, workers):
    """The order of a worker's accesses in examples/primes.c: work, total, work, total, …"""
    order = {}
    for worker in workers:
        mine = {name: [(name, number) for number, (process, _) in enumerate(history) if process == worker]
                for name, history in histories.items()}
        work, total = mine["work"], mine["total"]
        order[worker] = [node for pair in zip(work, total) for node in pair] + work[len(total):]
    return order
