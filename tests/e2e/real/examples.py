"""The programs of examples/; kv is in scenarios/debug_kv.py."""
import os


def test_vote(context):
    """The bundled three-process program whose result depends on the order of messages."""
    context.exact([os.path.join(context.options.build, "examples", "vote")], status=0)


def test_vote_in_turn(context):
    """Its twin whose result does not."""
    context.exact([os.path.join(context.options.build, "examples", "vote-in-turn")], stable=True, status=0)


def test_primes(context):
    """Workers over two shared objects, as threads and as processes."""
    for kind in ("threads", "processes"):
        context.exact([os.path.join(context.options.build, "examples", f"primes-{kind}"), "100", "3", "20000"], status=0)
