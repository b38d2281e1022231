"""fuse_scaled_scatter: rows multiplied by a number (a learning rate) on their way into a variable."""

from __future__ import annotations

from stillflow.ops.registry import Kernel

_OPERATIONS = ("ScatterAdd", "ScatterSub")


def fuse_scaled_scatter(plan):
    """Lets scatters that add or subtract multiply their updates themselves."""
    readers = plan.readers()
    fetched = set(plan.fetch_values)
    for node in list(plan.nodes):
        if node.type not in _OPERATIONS or not node.inputs[2].dtype.is_floating:
            continue
        updates = node.inputs[2]
        factors = _factors(updates)
        is_free = factors is not None and updates not in fetched and readers[updates] == [node]
        if is_free and updates.producer.guard == node.guard:
            plan.nodes.remove(updates.producer)
            node.inputs = [*node.inputs[:2], *factors]
            node.lowering = Kernel("scaled_scatter", ("ref", "indices", "updates", "scale"), node.lowering.attrs)
            node.parts = [node.op, updates.producer.op]


def _factors(product):
    """(rows, number) whose product the value is, or None."""
    producer = product.producer
    if producer is None or producer.type != "Mul" or product.dims in (None, ()):
        return None
    for rows, number in (producer.inputs, producer.inputs[::-1]):
        if rows.dims == product.dims and number.dims == ():
            return rows, number
    return None
