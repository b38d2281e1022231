"""fold: constant folding."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Special
from stillflow.plan.infer import infer_unknown
from stillflow.plan.ir import Plan, Value

# Results above this size are worth computing again rather than keeping, unless their inputs are as large.
_MOST_KEPT_BYTES = 1 << 16
# A result of unknown size is about as large as what it is computed from.
_MOST_UNKNOWN_BYTES = 1 << 10


def fold(plan, evaluate):
    """Replaces pure nodes whose inputs are all known by their results.

    `evaluate(plan)` runs a plan without feeds and returns the arrays it fetches.
    """
    if not _fold(plan, evaluate, _is_foldable) and plan.is_guarded:
        # What fails may be in a branch that is not taken.
        _fold(plan, evaluate, lambda node, known: not node.guard and _is_foldable(node, known))


def _fold(plan, evaluate, is_foldable):
    """Returns False if a node fails."""
    foldable = []
    known: set = set()
    for node in plan.nodes:
        if is_foldable(node, known):
            foldable.append(node)
            known.update(node.outputs)
    if not foldable:
        return True
    members = set(foldable)
    wanted = {}
    for node in plan.nodes:
        if node not in members:
            wanted.update(dict.fromkeys(value for value in node.inputs if value in known))
    wanted.update(dict.fromkeys(value for value in plan.fetch_values if value in known))
    results = evaluate(_copied(foldable, wanted))
    if results is None:
        return False  # let it fail when the program runs, where the node is named
    for value, array in zip(wanted, results, strict=True):
        value.constant = np.asarray(array, object if isinstance(array, bytes) else None)  # numpy cuts bytes at zeros
        value.dims = value.constant.shape
        value.producer = None
    plan.nodes = [node for node in plan.nodes if node not in members]
    infer_unknown(plan)
    return True


def _copied(nodes, wanted):
    """A plan of copies: evaluation lowers them, and the originals must stay as they are if it fails."""
    part = Plan([], [], [])
    copies: dict = {}
    for node in nodes:
        copy = node.copy([copies.get(value, value) for value in node.inputs])
        copy.outputs = [Value(value.dtype, value.dims, copy, value.source) for value in node.outputs]
        copies.update(zip(node.outputs, copy.outputs, strict=True))
        part.nodes.append(copy)
    part.fetch_values = [copies[value] for value in wanted]
    return part


def _is_foldable(node, known):
    if not node.is_pure or isinstance(node.lowering, Special) or not node.outputs:
        return False
    if any(value.dtype is dtypes.variant for value in node.outputs):
        return False
    if not all(value.constant is not None or value in known for value in node.inputs):
        return False
    input_bytes = sum(_bytes(value) for value in node.inputs)
    return all(
        input_bytes <= _MOST_UNKNOWN_BYTES
        if value.count is None
        else _bytes(value) <= max(_MOST_KEPT_BYTES, input_bytes)
        for value in node.outputs
    )


def _bytes(value):
    return (value.count or 0) * value.dtype.size
