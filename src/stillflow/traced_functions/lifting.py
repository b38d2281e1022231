"""lift: copies of a graph's nodes in another one, for the initial values of variables and for parts of a body."""

from __future__ import annotations

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph_def import fill_node_def
from stillflow.graph.operation import Operation
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public


@public("python.ops.op_selector.UnliftableError", "python.eager.lift_to_graph.UnliftableError")
class UnliftableError(Exception):
    """A tensor depends on arguments of the function."""


def lift(tensor, arguments=None):
    """The tensor of the default graph that is computed as `tensor` is in a function's body.

    Args:
      tensor: a tensor of a FuncGraph, whose captures are of the default graph.
      arguments: {argument of the body: tensor of the default graph}.

    Raises UnliftableError if it depends on other arguments.
    """
    body = tensor.graph
    known = dict(arguments or {})
    known.update((inside, outside) for outside, inside in body.captures)
    return _lifted(tensor, set(body.inputs), known)


def _lifted(tensor, placeholders, known):
    if tensor not in known:
        op = tensor.op
        if tensor in placeholders or op.type == "Placeholder":
            raise UnliftableError(
                f"Unable to lift tensor {tensor} because it depends transitively on placeholder {op}."
            )
        inputs = [_lifted(source, placeholders, known) for source in op._inputs]
        copy = get_default_graph()._add_node(op._op_def, inputs, dict(op._attrs), op._name)
        known.update(zip(op._outputs, copy._outputs, strict=True))
    return known[tensor]


@public("python.eager.lift_to_graph.lift_to_graph")
def lift_to_graph(tensors, graph, sources=None):
    """Copies nodes, loops too, to another graph: {operation or tensor: its copy}.

    Args:
      tensors: the tensors and operations to compute there, of one graph.
      graph: the graph to copy to.
      sources: tensors that are placeholders there, under the names of their operations.

    Raises UnliftableError if a placeholder is needed that is not among the sources.
    """
    if not tensors:
        return {}
    sources = list(sources or ())
    found = _operations_between(sources, tensors)
    graph_def = protobuf.message("GraphDef")(versions=tensors[0].graph.graph_def_versions)
    for op in found:
        fill_node_def(graph_def.node.add(), op)
        graph_def.node[-1].attr.pop("_class", None)
    known: dict = {}
    with graph.as_default():
        for function in tensors[0].graph._functions.values():
            function.add_to_graph(graph)
        for source in sources:
            if source.op.type == "PlaceholderWithDefault" and source.op._inputs[0].op._op_def.constant_value:
                default = ops.constant(source.op._inputs[0].op._attrs["value"].array(), source.dtype)
                copy = ops.placeholder_with_default(default, source.shape, name=source.op.name)
            else:
                copy = ops.placeholder(source.dtype.base_dtype, source.shape, name=source.op.name)
            copy.op._captured = source.op._captured  # says what a handle is one of
            known[source], known[source.op] = copy, copy.op
        needed = _read_from_outside(found)
        inputs = {source.name: copy for source, copy in known.items() if source in needed}
        inputs.update({f"^{op.name}": copy.outputs[0] for op, copy in known.items() if op in needed and _is_op(op)})
        elements = import_graph_def(graph_def, inputs, [op.name for op in found], name="")
    for op, copy in zip(found, elements, strict=True):
        known[op] = copy
        known.update(zip(op.outputs, copy.outputs, strict=True))
    return known


def _is_op(item):
    return isinstance(item, Operation)


def _operations_between(sources, targets):
    """The operations that targets need, but for those that make the sources, in the order in which they were "
    "added."""
    stops = {source.op for source in sources}
    found: dict = {}
    for target in targets:
        reached_by: dict = {getattr(target, "op", target): None}
        pending = list(reached_by)
        while pending:
            op = pending.pop()
            if op in stops or op in found:
                continue
            if op.type == "Placeholder":
                raise UnliftableError(
                    f"Unable to lift tensor {target!r} because it depends transitively on placeholder {op!r} via at "
                    f"least one path, e.g.: {_path(op, reached_by)}"
                )
            found[op] = None
            for other in (*(tensor.op for tensor in op._inputs), *op._control_inputs):
                if other not in reached_by:
                    reached_by[other] = op
                    pending.append(other)
    return sorted(found, key=lambda op: op._id)


def _path(op, reached_by):
    names = []
    while op is not None:
        names.append(f"{op.name} ({op.type})")
        op = reached_by[op]
    return " <- ".join(reversed(names))


def _read_from_outside(operations):
    """The tensors and operations that some operations need of others."""
    inside = set(operations)
    read = {tensor for op in operations for tensor in op._inputs if tensor.op not in inside}
    return read | {control for op in operations for control in op._control_inputs if control not in inside}
