"""Effects inside of branches and loops: what has them runs in program order."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.ops.control_flow.tensor_array import TensorArray


def has_effects(op):
    """Whether an operation must run, and in program order."""
    return op._op_def.is_stateful and not op._op_def.is_unordered


def context_around(op):
    """The branch or loop that an operation is in. The exit of a loop is outside of it."""
    context = op._control_flow_context
    return context.outer_context if op.type == "Exit" and context is not None else context


def is_carrier(op):
    """Whether an operation comes after a branch or a loop that has effects, and stands for them."""
    return op in op._graph.__dict__.get("_effect_carriers", ())


def _effects(graph, first):
    """The operations with effects of the default graph's present context, from a version of the graph on."""
    context = graph._control_flow_context
    return [
        op
        for op in graph.get_operations()[first:]
        if context_around(op) is context and (has_effects(op) or is_carrier(op))
    ]


def after_earlier():
    """A context whose operations run after those with effects that have been added so far."""
    graph = get_default_graph()
    return control_dependencies(_effects(graph, 0) if graph.building_function else [])


class Block:
    """What is added to a branch, or to the body of a loop."""

    def __init__(self):
        self._graph = get_default_graph()
        self._first = self._graph.version
        self.has_effects = False

    def result(self, values):
        """The values to return, which wait for all that has effects; that runs in order."""
        found = _effects(self._graph, self._first)
        self.has_effects = bool(found)
        if not found:
            return values
        self._order()
        with control_dependencies(found):
            return nest.map_structure(_passed_on, values, expand_composites=True)

    def _order(self):
        last: dict = {}  # handle, or None -> the last operation
        barrier = None
        context = self._graph._control_flow_context
        for op in self._graph.get_operations()[self._first :]:
            if context_around(op) is not context:
                continue
            if is_carrier(op):
                barrier, last = op, {}
                continue
            handles = [tensor for tensor in op._inputs if tensor._dtype is dtypes.resource]
            keys = handles or ([None] if has_effects(op) else [])
            before = dict.fromkeys(last[key] for key in keys if key in last)
            if barrier is not None and keys:
                before[barrier] = None
            op._wait_for(list(before))
            last.update(dict.fromkeys(keys, op))


def _passed_on(value):
    return value if isinstance(value, TensorArray) else ops.identity(value)


def carry(results, blocks):
    """Says that what came out of branches or loops stands for their effects, if they have any."""
    if any(block.has_effects for block in blocks):
        first = nest.flatten(results, expand_composites=True)[0]
        tensor = first.flow if isinstance(first, TensorArray) else first
        tensor.graph.__dict__.setdefault("_effect_carriers", set()).add(tensor.op)
