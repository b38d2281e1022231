"""fuse_operations: elementwise nodes that together are one operation, tf.clip_by_value's and tf.logical_xor's."""

from __future__ import annotations

from stillflow.ops.registry import Elementwise


def fuse_operations(plan):
    """Makes one node of them, where nothing else reads what is computed on the way."""
    readers = plan.readers()
    fetched = set(plan.fetch_values)

    def before(value, node_type, reader):
        """The node that computes the value, if it is of that type and only for `reader`."""
        node = value.producer
        is_inner = node is not None and node.type == node_type and node.guard == reader.guard
        return node if is_inner and value not in fetched and readers[value] == [reader] else None

    for node in list(plan.nodes):
        found = _FINDERS[node.type](node, before) if node.type in _FINDERS else None
        if found is None:
            continue
        name, node.inputs, inner = found
        node.lowering = Elementwise(name)
        node.parts = [node.op, *(other.op for other in inner)]
        for other in inner:
            plan.nodes.remove(other)


def _clip(node, before):
    """max(min(x, most), least) with two numbers."""
    bounded, least = node.inputs
    minimum = before(bounded, "Minimum", node)
    if minimum is None or minimum.inputs[1].dims != () or least.dims != ():
        return None
    return "clip", [*minimum.inputs, least], [minimum]


def _exclusive_or(node, before):
    """(x or y) and not (x and y): whether they differ."""
    for either, not_both in (node.inputs, node.inputs[::-1]):
        one = before(either, "LogicalOr", node)
        negation = before(not_both, "LogicalNot", node)
        both = negation and before(negation.inputs[0], "LogicalAnd", negation)
        if one and both and set(one.inputs) == set(both.inputs):
            return "not_equal", one.inputs, [one, negation, both]
    return None


_FINDERS = {"Maximum": _clip, "LogicalAnd": _exclusive_or}
