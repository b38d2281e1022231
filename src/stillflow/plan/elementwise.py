"""fuse_elementwise: elementwise nodes over one shape become one kernel that runs them tile by tile; see groups."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Elementwise
from stillflow.plan.columns import cut_before
from stillflow.plan.groups import Groups
from stillflow.plan.ir import Value, constant_of


def fuse_elementwise(plan, joins=True):
    """Replaces all elementwise nodes by nodes that run one or, if it `joins` them, several of them."""
    plan.nodes = [prepared for node in plan.nodes for prepared in _prepared(node)]
    if joins:
        cut_before(plan)
    plan.nodes = Groups(plan, joins).fused_nodes()


def _prepared(node):
    """What the node is to the engine: an operation of few operands, a chain of such, or a kernel."""
    lowering = node.lowering
    if not isinstance(lowering, Elementwise):
        return [node]
    if not is_elementwise(node):
        node.lowering = lowering.otherwise
        return [node]
    if lowering.attrs:
        node.inputs = node.inputs + [_scalar(node, attr) for attr in lowering.attrs]
        node.lowering = Elementwise(lowering.name)
    if lowering.name == "cast":
        return _cast(node)
    takes_list = node.op._op_def.inputs[0].is_list
    return _chain(node) if takes_list and len(node.inputs) > 2 else [node]


def is_elementwise(node):
    """Whether an elementwise op is so here: its kernel is for strings, variants, and shapes that need a look."""
    if not isinstance(node.lowering, Elementwise):
        return False
    if node.lowering.otherwise is None:
        return True
    if any(value.dtype in (dtypes.string, dtypes.variant) for value in (*node.inputs, *node.outputs)):
        return False
    if node.lowering.broadcasts and node.attrs.get("incompatible_shape_error", True):
        return True
    dims = node.outputs[0].dims
    return node.outputs[0].count is not None and all(value.dims in (dims, ()) for value in node.inputs)


def _scalar(node, attr):
    dtype = node.inputs[0].dtype
    number = node.attrs[attr] if isinstance(attr, str) else attr
    return constant_of(np.asarray(number).astype(dtype.as_numpy_dtype), dtype)


def _cast(node):
    """A conversion between a real and a complex type goes through the type of the complex number's parts."""
    (source,), (target,) = node.inputs, node.outputs
    if source.dtype.is_complex == target.dtype.is_complex:
        return [node]
    part = (source if source.dtype.is_complex else target).dtype.real_dtype
    if part in (source.dtype, target.dtype):
        return [node]
    first, last = node.copy([source]), node
    value = Value(part, target.dims, first, target.source)
    first.outputs = [value]
    last.inputs = [value]
    return [first, last]


def _chain(node):
    """An operation of two operands over more inputs, from left to right."""
    (result,) = node.outputs
    links = []
    left = node.inputs[0]
    for right in node.inputs[1:]:
        link = node.copy([left, right])
        left = Value(result.dtype, result.dims, link, result.source)
        link.outputs = [left]
        links.append(link)
    links[-1].outputs = [result]
    result.producer = links[-1]
    return links
