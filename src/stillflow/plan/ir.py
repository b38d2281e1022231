"""What a plan is while it is being compiled: nodes over values, in the order in which they will run.

A node begins as one graph operation and may come to stand for several. Values carry what is known of their
shape and contents; that is more than the graph knows, because the shapes of the feeds are known here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow.graph import dtypes
from stillflow.plan.guards import ALWAYS


class Value:
    """What one output of a node, or one feed, holds during a run."""

    __slots__ = ("constant", "dims", "dtype", "is_reference", "partial", "producer", "source")

    def __init__(self, dtype, dims, producer=None, source=None):
        self.dtype = dtype  # of the elements, also for references
        self.dims = dims  # plain shape
        self.producer = producer  # Node, or None for feeds and constants made by passes
        self.source = source  # the Tensor it stands for, for messages and listings
        self.constant: np.ndarray | None = None
        self.partial: Any = None  # an integer value with unknown elements: see shape_inference
        self.is_reference = False

    @property
    def count(self):
        """The number of elements, or None."""
        if self.dims is None or None in self.dims:
            return None
        count = 1
        for size in self.dims:
            count *= size
        return count

    @property
    def name(self):
        return self.source.name if self.source is not None else "?"


class Node:
    """A step in the making."""

    __slots__ = (
        "attrs", "conditions", "guard", "inputs", "is_pure", "lowering", "op", "outputs", "parts", "position", "type",
    )  # fmt: skip

    def __init__(self, op, node_type, lowering, inputs, attrs, position, is_pure):
        self.op = op  # the Operation it came from
        self.type = node_type
        self.lowering = lowering
        self.inputs: list[Value] = inputs
        self.outputs: list[Value] = []
        self.attrs = attrs
        self.position = position  # nodes run in ascending order of this
        self.is_pure = is_pure  # reads and changes nothing but its inputs and outputs
        self.parts = [op]  # operations, as the kernel numbers them in its failures
        self.guard: frozenset = ALWAYS  # what must hold for it to run: see guards
        self.conditions: tuple = ()  # what it decides

    @property
    def name(self):
        return self.op._name

    def has_trait(self, trait):
        """Whether the node runs an op with a trait of op_def.TRAITS; one that a pass has made has none."""
        op_def = self.op._op_def
        return self.type == op_def.name and getattr(op_def, trait)

    def copy(self, inputs):
        """The same step over other inputs, without outputs yet."""
        copy = Node(self.op, self.type, self.lowering, inputs, self.attrs, self.position, self.is_pure)
        copy.guard = self.guard
        return copy

    def __repr__(self):
        return f"{self.type}({', '.join(value.name for value in self.inputs)}) [{self.name}]"


class Plan:
    """The nodes of one (fetches, feeds) pair, and the values at its ends."""

    def __init__(self, feeds, fetches, targets):
        self.feeds = feeds  # [Tensor] in the order of the caller's values
        self.feed_values: list[Value] = []
        self.fetches = fetches  # [Tensor]
        self.fetch_values: list[Value] = []
        self.targets = targets  # [Operation] to run besides
        self.operations: list = []  # that the nodes come from, in order
        self.nodes: list[Node] = []
        self.values: dict = {}  # Tensor -> Value
        self.early_reads: dict = {}  # Tensor -> Value, of fetched reads of variables
        self.fed = frozenset(feeds)
        self.fetch_guards: list = []  # of the fetch values
        self.guards: dict = {}  # Operation or Tensor -> guard, where it is not ALWAYS
        self.branches: dict = {}  # what branches.py knows of predicates
        self.loop_ways: dict = {}  # LoopCond operation -> the conditions that it is false, and true
        self.ways_of_exits: dict = {}  # Exit operation -> (the condition of being in its loop, those of the test)
        self.watch: Any = None  # what says which tensors a debugger wants to see: see watch
        self.outlived: set = set()  # operations whose outputs stay as they are when their variable gets another shape
        self.changes: dict = {}  # reference Value -> the number of nodes that have changed it
        self.holding: set = set()  # conditions that are known to hold wherever they are decided
        self.failing: set = set()  # and those that are known not to
        self.is_guarded = False  # whether nodes run under conditions

    def replace(self, replacements):
        """Puts other values in the place of some, everywhere; `replacements` maps Value to Value."""
        if not replacements:
            return

        def final(value):
            while value in replacements:
                value = replacements[value]
            return value

        for node in self.nodes:
            for i, value in enumerate(node.inputs):
                if value in replacements:
                    node.inputs[i] = final(value)
        self.fetch_values = [final(value) for value in self.fetch_values]

    def readers(self):
        """{Value: [Node]} of the nodes that read each value, in order, once per input."""
        readers: dict = {}
        for node in self.nodes:
            for value in node.inputs:
                readers.setdefault(value, []).append(node)
        return readers


def constant_of(array, dtype=None) -> Value:
    """A value that is known."""
    found = dtype or dtypes.from_numpy(array.dtype)
    value = Value(found, array.shape)
    value.constant = array
    return value
