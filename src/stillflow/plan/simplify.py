"""simplify: removes identities and nodes whose outputs are known.

Every rule keeps each bit of every value: x * 1 is x, but x + 0 is not (it turns -0 into 0).
"""

from __future__ import annotations

import numpy as np

from stillflow.graph.shape import merge
from stillflow.ops.registry import Alias
from stillflow.plan.guards import implies


def simplify(plan):
    """Removes aliases and nodes with known outputs; merges reads of a variable between which nothing changes."""
    replacements: dict = {}
    kept = []
    reads: dict = {}  # variable -> the node that read it last

    def final(value):
        while value in replacements:
            value = replacements[value]
        return value

    for node in plan.nodes:
        node.inputs = [final(value) for value in node.inputs]
        if node.type == "_Read":
            known = reads.get(node.inputs[0])
            if known is not None and implies(node.guard, known.guard):
                replacements[node.outputs[0]] = known.outputs[0]
                continue
            reads[node.inputs[0]] = node
        elif node.type == "_LoopEnter":
            reads.clear()  # what is read in a loop may have been changed in the round before
        elif not node.is_pure:
            for value in node.inputs:
                if value.is_reference:
                    reads.pop(value, None)
        else:
            source = _unchanged_input(node)
            if source is not None:
                replacements[node.outputs[0]] = source
                _keep_known(node.outputs[0], source)
                continue
            if node.outputs and all(value.constant is not None for value in node.outputs):
                for value in node.outputs:
                    value.producer = None
                continue
        kept.append(node)
    plan.nodes = kept
    plan.replace(replacements)


def _keep_known(value, source):
    """What is known of a value that goes away may be more than of the one that stays."""
    merged = merge(source.dims, value.dims)
    if source.producer is not None and merged is not False:
        source.dims = merged


def _unchanged_input(node):
    """The input that the node's only output equals, or None."""
    if isinstance(node.lowering, Alias):
        return node.inputs[node.lowering.input]
    rule = _RULES.get(node.type)
    return None if rule is None else rule(node)


def _reshape(node):
    """What has the shape already, before the node or before others that only reshape."""
    shape = node.outputs[0].dims
    while True:
        if node.type == "Reshape" and node.inputs[1].constant is None:
            return None  # its only unknown size was told from the number of elements: whether it fits, a run says
        value = node.inputs[0]
        if value.count is not None and value.dims == shape:
            return value
        node = value.producer
        if node is None or not node.has_trait("keeps_order"):
            return None


def _reduction(node):
    axes = node.inputs[1].constant
    return node.inputs[0] if axes is not None and axes.size == 0 else None


def _cast(node):
    return node.inputs[0] if node.attrs["SrcT"] is node.attrs["DstT"] else None


def _tile(node):
    multiples = node.inputs[1].constant
    return node.inputs[0] if multiples is not None and np.all(multiples == 1) else None


def _is_all(value, number):
    return value.constant is not None and bool(np.all(value.constant == number))


def _one_on_the_right(node):
    x, y = node.inputs
    return x if _is_all(y, 1) and _keeps_shape(node, x) else None


def _one_on_either_side(node):
    x, y = node.inputs
    if _is_all(x, 1) and _keeps_shape(node, y):
        return y
    return _one_on_the_right(node)


def _keeps_shape(node, value):
    dims = node.outputs[0].dims
    return value.count is not None and value.dims == dims


def _only_input(node):
    return node.inputs[0] if len(node.inputs) == 1 else None


_RULES = {
    "Reshape": _reshape,
    "Squeeze": _reshape,
    "ExpandDims": _reshape,
    "Sum": _reduction,
    "Max": _reduction,
    "Min": _reduction,
    "Prod": _reduction,
    "Cast": _cast,
    "Tile": _tile,
    "Mul": _one_on_either_side,
    "RealDiv": _one_on_the_right,
    "Div": _one_on_the_right,
    "AddN": _only_input,
}
