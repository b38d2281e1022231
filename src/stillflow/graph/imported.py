"""Nodes that come from a GraphDef: they keep their names, and a graph that refuses one is as it was before."""

from __future__ import annotations

from stillflow.graph.operation import Operation
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import infer_shapes


class Snapshot:
    """What a graph was, to go back to it."""

    def __init__(self, graph):
        self._graph = graph
        self._count = len(graph._operations)
        self._names_in_use = dict(graph._names_in_use)
        self._versions = graph._producer, graph._min_consumer

    def restore(self):
        """Takes out the nodes that have been added since, and what was noted of their versions."""
        graph = self._graph
        for op in reversed(graph._operations[self._count :]):
            for tensor in op._inputs:
                tensor._consumers.remove(op)
            for control in op._control_inputs:
                control._control_outputs.remove(op)
            del graph._by_name[op._name]
        del graph._operations[self._count :]
        graph._names_in_use = self._names_in_use
        graph._producer, graph._min_consumer = self._versions


def scopes_of(names):
    """The scopes that names of nodes lie in, "a" and "a/b" of "a/b/c"."""
    found = set()
    for name in names:
        scope = name.rpartition("/")[0]
        while scope and scope not in found:
            found.add(scope)
            scope = scope.rpartition("/")[0]
    return found


class ImportNames:
    """The names that imported nodes get: their own, with "_1", "_2", ... where the graph has a node or scope of it.

    `names` are those of all nodes to be imported.
    """

    def __init__(self, graph, names):
        self._in_graph = graph._by_name.keys()
        self._scopes_in_graph = scopes_of(graph._by_name)
        self._imported = {*names, *scopes_of(names)}

    def unique(self, name):
        """The name that a node of this name gets."""
        found, number = name, 0
        while found in self._in_graph or found in self._scopes_in_graph or (number and found in self._imported):
            number += 1
            found = f"{name}_{number}"
        return found


def add_imported_node(graph, op_def, name, inputs, control_inputs, attrs, output_dims):
    """Adds a node as it is, but for the control dependencies of the scopes it is imported in.

    `output_dims` are plain shapes that are known of its outputs, or None. Raises ValueError for shapes that do not
    fit, and for a name that is taken.
    """
    if name in graph._by_name:
        raise ValueError(f"Node name '{name}' already exists in the Graph")
    controls = dict.fromkeys((*control_inputs, *graph._control_inputs_for(inputs)))
    op = Operation._made(graph, op_def, name, len(graph._operations) + 1, inputs, list(controls), attrs)
    op._control_flow_context = graph._control_flow_context
    graph._operations.append(op)
    graph._by_name[name] = op
    graph._names_in_use.setdefault(name.lower(), 1)
    for controller in graph._control_stack:
        controller.add_op(op)
    infer_shapes(op)
    for index, (tensor, dims) in enumerate(zip(op._outputs, output_dims or (), strict=False)):
        merged = merge(tensor._dims, dims)
        if merged is False and tensor._dtype._is_ref_dtype:
            continue  # old files say that handles of two strings are scalars
        if merged is False:
            raise ValueError(
                f"Node '{name}' has an _output_shapes attribute inconsistent with the GraphDef for output #{index}"
            )
        tensor._dims = merged
    return op


def add_to_context(graph, operations):
    """Makes imported nodes part of the branch that is being built."""
    context = graph._control_flow_context
    if context is not None:
        for op in operations:
            context.AddOp(op)


def place_imported_nodes(graph, operations):
    """Gives nodes the devices of the scopes they are imported in; nodes placed with others get those' devices."""
    for op in operations:
        if _placed_with(graph, op):
            op._device = ""
        else:
            graph._apply_devices(op)
    for op in operations:
        op._device = next((other._device for other in _placed_with(graph, op) if other._device), op._device)


def _placed_with(graph, op):
    """The other operations that one is to be placed with."""
    groups = [group[5:].decode() for group in op._attrs.get("_class", ()) if group.startswith(b"loc:@")]
    return [graph._by_name[name] for name in groups if name != op._name and name in graph._by_name]
