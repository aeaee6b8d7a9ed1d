"""The programs of examples/, as `pastcone demo` shows them."""
import os


def test_vote(context):
    """The bundled three-process program whose result depends on the order of messages."""
    context.exact([os.path.join(context.options.build, "examples", "vote")], status=0)
