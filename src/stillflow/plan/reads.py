"""Reads of variables: nodes of their own, which stand right before what takes the value."""

from __future__ import annotations

from stillflow.ops.registry import Kernel
from stillflow.plan.guards import ALWAYS
from stillflow.plan.ir import Node, Value

_READ = Kernel("read_variable", ("ref",), ())


def read(plan, op, reference, order, guard=ALWAYS):
    """Adds the read of a variable for `op`, the operation at `order`; returns what is read."""
    node = Node(op, "_Read", _READ, [reference], {}, (order, 0), is_pure=False)
    node.guard = guard
    value = Value(reference.dtype, reference.dims, node, reference.source)
    node.outputs.append(value)
    plan.nodes.append(node)
    return value
