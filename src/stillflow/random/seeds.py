"""Seeds of random ops: tf.set_random_seed and tf.get_seed.

An op without a seed of its own, in a graph with one, gets an automatic seed. TensorFlow 1.x takes the number of
nodes in the graph for it, and that is the rule here: programs draw what they drew under TensorFlow 1.x. TensorFlow
2's compat.v1 counts such ops instead. `set_random_seed(seed, rule="tf2")` chooses that rule for a graph, and the
environment variable STILLFLOW_SEED_RULE ("tf1" or "tf2") for all graphs for which none was chosen.
"""

from __future__ import annotations

import os

import numpy as np

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.names import public

DEFAULT_GRAPH_SEED = public("python.framework.random_seed.DEFAULT_GRAPH_SEED")(87654321)
RULES = ("tf1", "tf2")
_MODULUS = 2**31 - 1


@public("set_random_seed", "random.set_random_seed")
def set_random_seed(seed, rule=None):
    """Sets the graph-level seed of the default graph, for the random ops that are added from now on.

    Args:
      seed: an integer, or None for no seed.
      rule: which automatic seeds go with it, "tf1" (the number of nodes so far, as in TensorFlow 1.x) or "tf2" (the
        number of such seeds so far, as in TensorFlow 2's compat.v1). By default the one chosen before for this graph,
        else that of the environment variable STILLFLOW_SEED_RULE, else "tf1".

    Raises ValueError for another rule.
    """
    graph = get_default_graph()
    if rule is not None:
        graph._seed_rule = _checked(rule, "rule")
    graph.seed = seed


def seed_rule(graph):
    """The rule for the automatic seeds of a graph: "tf1" or "tf2"."""
    if graph._seed_rule is not None:
        return graph._seed_rule
    return _checked(os.environ.get("STILLFLOW_SEED_RULE") or "tf1", "STILLFLOW_SEED_RULE")


def _checked(rule, name):
    if rule not in RULES:
        raise ValueError(f"{name} must be 'tf1' or 'tf2', but got {rule!r}")
    return rule


def automatic_seed(graph):
    """The seed of an operation of `graph` that has none of its own."""
    if seed_rule(graph) == "tf1":
        return graph._last_id + graph._further_nodes
    graph._automatic_seeds += 1
    return graph._automatic_seeds - 1


@public("get_seed", "random.get_seed")
def get_seed(op_seed):
    """The two seeds for a random op that is about to be added, as its `seed` and `seed2` attributes.

    With a graph-level seed and no op seed, the second is automatic: by default the id of the newest node, so that it
    depends on how many nodes the graph has. (None, None) means that neither is set: the op is seeded by the
    operating system.
    """
    graph = get_default_graph()
    graph_seed = graph.seed
    if graph_seed is not None:
        first, second = graph_seed, graph.version_of(automatic_seed)(graph) if op_seed is None else op_seed
    elif op_seed is not None:
        first, second = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    first = _as_int(first) % _MODULUS
    second = second % _MODULUS if isinstance(second, Tensor) else _as_int(second) % _MODULUS  # type: ignore[operator]
    # (0, 0) would mean unseeded.
    return (0, _MODULUS) if (first, second) == (0, 0) else (first, second)


def _as_int(seed):
    """A seed as Python counts: numpy's narrow integers cannot hold the modulus. A fraction is cut off at the end."""
    return int(seed % _MODULUS) if isinstance(seed, (float, np.floating)) else int(seed)
