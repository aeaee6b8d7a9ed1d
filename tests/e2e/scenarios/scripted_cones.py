"""Cones against the logs of random programs: the graph is not believed, but counted out."""
import random

from scripted_runs import ScriptedRun


def test_scripted_cones(context):
    """Random programs of up to six processes: the cone of every event is what their own logs say."""
    for _ in range(context.rounds(3, 100)):
        seed = context.random.randrange(1 << 32)
        chosen = random.Random(seed)
        run = ScriptedRun(context, seed, chosen)
        places = [(name, index) for name, states in run.events.items() for index, event in enumerate(states) if event and index]
        for name, index in chosen.sample(places, min(len(places), 15)):
            cut = run.run.least({}, {name: index})
            at, waiting, _ = run.run.demanded(name, index)
            context.expect(at == cut and not waiting, f"seed {seed}: demand and cone differ in the oracle itself")
            run.expect_cone(name, index)
