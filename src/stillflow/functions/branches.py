"""cond_v2 and indexed_case: nodes If and Case, whose branches are functions."""

from __future__ import annotations

from stillflow import ops
from stillflow.functions.function import Function
from stillflow.functions.node_body import NodeBody, match_captures, names_of_bodies, results_of
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation
from stillflow.ops.control_flow.tensor_array import as_tensor, with_arrays
from stillflow.ops.convert import convert_to_tensor


def cond_v2(pred, true_fn, false_fn, name="cond"):
    """What one of two functions returns, as `pred` says; only that one's operations run.

    Args:
      pred: a bool scalar tensor.
      true_fn, false_fn: functions without arguments that return the same structure of tensors. An operation in it
        becomes `pred`, after the operation has run.
      name: of the node.

    Raises:
      TypeError: for a Python bool, or results of different types or structure.
    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        labels = names_of_bodies(scope, "true", "false")
        pred = convert_to_tensor(pred)
        if pred.shape.ndims != 0:
            pred = ops.squeeze(pred)
        functions = zip((true_fn, false_fn), labels, strict=True)
        branches = [_traced(function, label, pred) for function, label in functions]
        _make_alike(branches, "cond", ("true_fn", "false_fn"))
        has_state = any(op._op_def.is_stateful for branch in branches for op in branch.get_operations())

        def add_node(inputs, called, **attrs):
            builder = ops.if_op if has_state else ops.stateless_if
            return builder(pred, inputs, then_branch=called[0], else_branch=called[1], name=scope, **attrs)

        return _results(branches, add_node)


def indexed_case(branch_index, branch_fns, name="indexed_case"):
    """What the function of that number returns, the last one for other numbers; only its operations run.

    Args:
      branch_index: an int32 scalar tensor.
      branch_fns: functions as those of `cond_v2`.
      name: of the node.

    Raises TypeError for a Python int, or results of different types or structure.
    """
    if isinstance(branch_index, int):
        raise TypeError("branch_index must not be a Python int", branch_index)
    with name_scope(name) as scope:
        labels = names_of_bodies(scope, *(f"branch{number}" for number in range(len(branch_fns))))
        branch_index = convert_to_tensor(branch_index, name="branch_index")
        functions = zip(branch_fns, labels, strict=True)
        branches = [_traced(function, label, branch_index) for function, label in functions]
        _make_alike(branches, "switch_case", [f"branches[{number}]" for number in range(len(branches))])

        def add_node(inputs, called, **attrs):
            return ops.case_op(branch_index, inputs, branches=called, name=scope, **attrs)

        return _results(branches, add_node)


def _traced(function, name, pred):
    """The body that a branch's function adds."""
    body = NodeBody(name)
    with body.building():
        results = function()
        body.results = nest.flatten(results, expand_composites=True)
        structure = nest.map_structure(lambda value: _converted(value, pred), results, expand_composites=True)
        body.structure = structure
        flat = nest.flatten(structure, expand_composites=True)
        body.outputs = [body.capture(value) for value in flat if value is not None]
    return body


def _converted(value, pred):
    if value is None:
        return None
    if isinstance(value, Operation):
        with control_dependencies([value]):
            return ops.identity(pred)
    return convert_to_tensor(as_tensor(value))


def _make_alike(branches, op_name, names):
    """Raises TypeError unless all branches return the same; indices of IndexedSlices of two types become int64."""
    for branch in branches:
        if len(nest.flatten(branch.structure)) != len(nest.flatten(branches[0].structure)):
            break  # which is said below
    else:
        for position, leaves in enumerate(zip(*(nest.flatten(branch.structure) for branch in branches), strict=True)):
            _make_indices_alike(branches, leaves, f"Cannot reconcile tf.{op_name} {position}-th outputs")
    for branch, name in zip(branches[1:], names[1:], strict=True):
        _check_same_outputs(branches[0], branch, (op_name, names[0], name))


def _make_indices_alike(branches, leaves, complaint):
    are_slices = [isinstance(leaf, IndexedSlices) for leaf in leaves]
    if any(are_slices) and not all(are_slices):
        raise TypeError(f"{complaint}:\n  branches returned: {leaves}")
    if all(are_slices) and len({leaf.indices.dtype for leaf in leaves}) > 1:
        for branch, slices in zip(branches, leaves, strict=True):
            before = branch.capture(slices.indices)
            with branch.building():
                slices._indices = ops.cast(before, dtypes.int64)
            branch.outputs = [slices._indices if output is before else output for output in branch.outputs]


def _check_same_outputs(first, other, names):
    try:
        nest.assert_same_structure(first.structure, other.structure, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise _different(names, first.structure, other.structure, error) from error
    for ours, theirs in zip(first.outputs, other.outputs, strict=True):
        if ours.dtype != theirs.dtype:
            raise _different(names, ours, theirs, f"{ours} and {theirs} have different types")


def _different(names, first, other, details):
    op_name, first_name, other_name = names
    return TypeError(
        f"{first_name} and {other_name} arguments to tf.{op_name} must have the same number, type, and overall "
        f"structure of return values.\n\n{first_name} output: {first}\n{other_name} output: {other}\n\n"
        f"Error details:\n{details}"
    )


def _results(branches, add_node):
    """The results of the node that `add_node(inputs, functions, Tout, output_shapes)` adds, in their structure."""
    graph = get_default_graph()
    first, *others = branches
    inputs = match_captures(branches)
    shapes = [output.shape for output in first.outputs]
    for branch in others:
        pairs = zip(shapes, branch.outputs, strict=True)
        shapes = [shape.most_specific_compatible_shape(output.shape) for shape, output in pairs]
    with control_dependencies([op for branch in branches for op in branch.control_captures]):
        outputs = add_node(
            inputs,
            [Function(branch.name, graph, body=branch) for branch in branches],
            Tout=[output.dtype for output in first.outputs],
            output_shapes=shapes,
        )
    flat = iter(results_of(outputs))
    packed = with_arrays(first.results, [None if value is None else next(flat) for value in first.results])
    return nest.pack_sequence_as(first.structure, packed, expand_composites=True)
