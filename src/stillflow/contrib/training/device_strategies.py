"""Which parameter server a variable goes to: strategies for tf.train.replica_device_setter."""

from __future__ import annotations

import hashlib

import numpy as np

from stillflow.graph.shape import TensorShape
from stillflow.names import public


@public("contrib.training.RandomStrategy")
class RandomStrategy:
    """Picks a server by the MD5 sum of an operation's name and a seed: the same one each time."""

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op):
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).hexdigest()
        return int(digest, 16) % self._num_tasks


@public("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """Picks the server with the least load; `load_fn` says what load an operation is."""

    def __init__(self, num_tasks, load_fn):
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op):
        task = np.argmin(self._ps_loads)
        self._ps_loads[task] += self._load_fn(op)
        return task


@public("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op):
    """The bytes of an operation's output. Raises ValueError for several outputs, or if its shape is not known."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = output.get_shape()
    if not shape.is_fully_defined():
        shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * output.dtype.size
