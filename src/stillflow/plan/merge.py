"""merge: common subexpression elimination."""

from __future__ import annotations

from stillflow.graph.tensor_value import TensorValue
from stillflow.plan.guards import implies
from stillflow.plan.uniform import uniform_value


def merge(plan):
    """Merges equal pure nodes; equal known values become one value first, so that their readers can merge."""
    replacements: dict = {}
    known: dict = {}
    seen: dict = {}
    kept = []

    def final(value):
        value = replacements.get(value, value)
        if value.constant is None:
            return value
        return known.setdefault(_constant_key(value), value)

    for node in plan.nodes:
        node.inputs = [final(value) for value in node.inputs]
        if node.is_pure and not node.conditions:
            key = node.type, tuple(node.inputs), attrs_key(node.attrs)
            twin = seen.get(key)
            if twin is not None and implies(node.guard, twin.guard):
                replacements.update(zip(node.outputs, twin.outputs, strict=True))
                continue
            seen[key] = node
        kept.append(node)
    plan.nodes = kept
    plan.replace(replacements)


def _constant_key(value):
    array = value.constant
    one = uniform_value(value)
    if one is not None:
        return value.dtype, array.shape, one.tobytes()
    if array.size > 1024 or array.dtype == object:
        return id(value)
    return value.dtype, array.shape, array.tobytes()


def attrs_key(attrs):
    """A node's attributes as something hashable that is equal for equal ones; marks do not count."""
    return tuple(
        (name, value.key() if isinstance(value, TensorValue) else value)
        for name, value in attrs.items()
        if not name.startswith("_")
    )
