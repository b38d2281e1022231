"""fuse_elementwise: chains of elementwise nodes become one kernel that runs them tile by tile.

A node joins the node that reads it if nobody else does and the shapes say that nothing is computed more
often than before. The text of the joined program is described in csrc/arithmetic/elementwise/program.h.
"""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Elementwise, Kernel
from stillflow.plan.ir import Node, Value, constant_of

_KERNEL = Kernel("elementwise", ("inputs",), ("program", "input_count"))
_MOST_INPUTS = 64
_MOST_INSTRUCTIONS = 512


def fuse_elementwise(plan, joins=True):
    """Replaces all elementwise nodes by nodes that run one or, if it `joins` chains, several of them."""
    plan.nodes = [prepared for node in plan.nodes for prepared in _prepared(node)]
    readers = plan.readers()
    fetched = set(plan.fetch_values)
    group_of: dict = {}  # Node -> _Group that it is in
    for node in reversed(plan.nodes):
        if not isinstance(node.lowering, Elementwise):
            continue
        group = _group_to_join(node, readers, fetched, group_of) if joins else None
        if group is None:
            group = _Group()
        group.add(node)
        group_of[node] = group
    nodes = []
    for node in plan.nodes:
        group = group_of.get(node)
        if group is None:
            nodes.append(node)
        elif node is group.last:
            nodes.append(group.fused())
    plan.nodes = nodes


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
    """Whether an elementwise op is so here.

    Its kernel is for strings, variants, quantized numbers, casts that truncate, and shapes that need a look.
    """
    if not isinstance(node.lowering, Elementwise):
        return False
    if node.lowering.otherwise is None:
        return True
    values = (*node.inputs, *node.outputs)
    if any(value.dtype in (dtypes.string, dtypes.variant) or value.dtype.is_quantized for value in values):
        return False
    if node.attrs.get("Truncate"):
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


def _group_to_join(node, readers, fetched, group_of):
    """The group of all the node's readers, if there is one and the node may be computed within it."""
    (value,) = node.outputs
    if value in fetched or value not in readers:
        return None
    groups = {group_of.get(reader) for reader in readers[value]}
    group = groups.pop()
    if groups or group is None or value.count is None or value.dims != group.dims:
        return None
    if node.guard != group.last.guard:
        return None
    return group if group.has_room_for(node) else None


class _Group:
    """Elementwise nodes that become one; collected from the last to the first."""

    def __init__(self):
        self.nodes = []
        self.dims = None
        self.inputs = {}  # values that come from outside, in the order in which they were met

    @property
    def last(self):
        return self.nodes[0]

    def add(self, node):
        if not self.nodes:
            self.dims = node.outputs[0].dims
        self.nodes.append(node)
        self.inputs.pop(node.outputs[0], None)
        self.inputs.update(dict.fromkeys(node.inputs))

    def has_room_for(self, node):
        new = sum(value not in self.inputs for value in node.inputs)
        return len(self.nodes) < _MOST_INSTRUCTIONS and len(self.inputs) + new <= _MOST_INPUTS

    def fused(self):
        """The node that runs all of them, at the place of the last."""
        last = self.last
        # Operands as large as the result first: one of them may give its memory to the result.
        inputs = sorted(self.inputs, key=lambda value: value.dims != self.dims)
        registers = {value: i for i, value in enumerate(inputs)}
        instructions = []
        members = list(reversed(self.nodes))
        for node in members:
            operands = " ".join(str(registers[value]) for value in node.inputs)
            (value,) = node.outputs
            registers[value] = len(registers)
            operand = node.inputs[-1] if node.lowering.name == "select" else node.inputs[0]
            instructions.append(
                f"{node.lowering.name} {operand.dtype._c_name} {value.dtype._c_name} {registers[value]} {operands}"
            )
        program = f"{'; '.join(instructions)} | {registers[last.outputs[0]]}"
        attrs = {"program": program.encode(), "input_count": len(inputs)}
        fused = Node(last.op, "_Elementwise", _KERNEL, inputs, attrs, last.position, is_pure=True)
        fused.guard = last.guard
        fused.outputs = last.outputs
        fused.outputs[0].producer = fused
        fused.parts = [node.op for node in members]
        return fused
