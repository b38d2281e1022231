"""cond_v2: a branch as an If node whose branches are functions."""

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
        branches = [
            _traced(function, label, pred) for function, label in zip((true_fn, false_fn), labels, strict=True)
        ]
        _make_indices_alike(branches)
        _check_same_outputs(branches)
        return _if(pred, branches, scope)


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


def _make_indices_alike(branches):
    """Has IndexedSlices whose indices are of two types return them as int64."""
    leaves = [nest.flatten(branch.structure) for branch in branches]
    if len(leaves[0]) != len(leaves[1]):
        return
    for position, pair in enumerate(zip(*leaves, strict=True)):
        are_slices = [isinstance(leaf, IndexedSlices) for leaf in pair]
        if any(are_slices) and not all(are_slices):
            raise TypeError(f"Cannot reconcile tf.cond {position}-th outputs:\n  branches returned: {pair}")
        if all(are_slices) and pair[0].indices.dtype is not pair[1].indices.dtype:
            for branch, slices in zip(branches, pair, strict=True):
                _cast_indices(branch, slices)


def _cast_indices(branch, slices):
    before = branch.capture(slices.indices)
    with branch.building():
        slices._indices = ops.cast(before, dtypes.int64)
    branch.outputs = [slices._indices if output is before else output for output in branch.outputs]


def _check_same_outputs(branches):
    true, false = branches
    try:
        nest.assert_same_structure(true.structure, false.structure, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise _different(true.structure, false.structure) from error
    for ours, theirs in zip(true.outputs, false.outputs, strict=True):
        if ours.dtype != theirs.dtype:
            raise _different(ours, theirs)


def _different(true, false):
    return TypeError(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
        f"return values.\n\ntrue_fn output:  {true}\nfalse_fn output: {false}"
    )


def _if(pred, branches, scope):
    graph = get_default_graph()
    inputs = match_captures(branches)
    has_state = any(op._op_def.is_stateful for branch in branches for op in branch.get_operations())
    functions = [Function(branch.name, graph, body=branch) for branch in branches]
    shapes = [
        ours.shape.most_specific_compatible_shape(theirs.shape)
        for ours, theirs in zip(branches[0].outputs, branches[1].outputs, strict=True)
    ]
    with control_dependencies([op for branch in branches for op in branch.control_captures]):
        outputs = (ops.if_op if has_state else ops.stateless_if)(
            pred,
            inputs,
            Tout=[output.dtype for output in branches[0].outputs],
            then_branch=functions[0],
            else_branch=functions[1],
            output_shapes=shapes,
            name=scope,
        )
    flat = iter(results_of(outputs))
    results = branches[0].results
    packed = with_arrays(results, [None if value is None else next(flat) for value in results])
    return nest.pack_sequence_as(branches[0].structure, packed, expand_composites=True)
