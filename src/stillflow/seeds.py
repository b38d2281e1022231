"""Seeds of random ops: tf.set_random_seed and tf.get_seed."""

from __future__ import annotations

from stillflow.graph.graph import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MODULUS = 2**31 - 1


def set_random_seed(seed):
    """Sets the graph-level seed of the default graph, for the random ops that are added from now on."""
    get_default_graph().seed = seed


def get_seed(op_seed):
    """The two seeds for a random op that is about to be added, as its `seed` and `seed2` attributes.

    With a graph-level seed and no op seed, the second is the id of the newest node, so it depends on how many
    nodes the graph has. (None, None) means that neither is set: the op is seeded by the operating system.
    """
    graph = get_default_graph()
    graph_seed = graph.seed
    if graph_seed is not None:
        first, second = graph_seed, graph._last_id if op_seed is None else op_seed
    elif op_seed is not None:
        first, second = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first, second = int(first % _MODULUS), int(second % _MODULUS)
    # (0, 0) would mean unseeded.
    return (0, _MODULUS) if (first, second) == (0, 0) else (first, second)
