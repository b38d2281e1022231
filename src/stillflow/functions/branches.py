"""cond_v2: a branch as an If node whose branches are functions."""

from __future__ import annotations

from stillflow import ops
from stillflow.functions import numbers
from stillflow.functions.function import Function
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Operation
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class _BranchGraph(FunctionGraph):
    """The body of a branch, which adds to the collections of the graph around it."""

    def __init__(self, name):
        super().__init__(name)
        self._collections = self.outer_graph._collections
        self.structure = None
        self.control_captures = {}  # operations outside that the branch waits for

    def control_dependencies(self, control_inputs):
        for item in control_inputs or ():
            op = getattr(item, "op", item)
            if op is not None and not self._is_inside(item):
                self.control_captures[op] = None
        return super().control_dependencies(control_inputs)


@public("python.ops.cond_v2.cond_v2")
def cond_v2(pred, true_fn, false_fn, name="cond"):
    """What one of two functions returns, as `pred` says; only that one's operations run.

    Args:
      pred: a bool scalar tensor.
      true_fn, false_fn: functions without arguments that return the same structure of tensors. An operation in it
        becomes `pred`, after the operation has run.
      name: of the node.

    Raises:
      TypeError: for a Python bool, or results of different types.
      ValueError: for different structures.
    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        # Both names are chosen before anything is added.
        labels = [
            f"{scope}{branch}_{numbers.next_of_name(get_default_graph())}".replace("/", "_")
            for branch in ("true", "false")
        ]
        pred = convert_to_tensor(pred)
        if pred.shape.ndims != 0:
            pred = ops.squeeze(pred)
        branches = [
            _traced(function, label, pred) for function, label in zip((true_fn, false_fn), labels, strict=True)
        ]
        _check_same_outputs(branches)
        return _if(pred, branches, scope)


def _traced(function, name, pred):
    """The body that a branch's function adds."""
    body = _BranchGraph(name)
    with body.as_default():
        structure = nest.map_structure(lambda value: _converted(value, pred), function(), expand_composites=True)
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
    return convert_to_tensor(value)


def _check_same_outputs(branches):
    true, false = branches
    nest.assert_same_structure(true.structure, false.structure, expand_composites=True)
    for ours, theirs in zip(true.outputs, false.outputs, strict=True):
        if ours.dtype != theirs.dtype:
            raise TypeError(
                "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of "
                f"return values.\n\ntrue_fn output:  {ours}\nfalse_fn output: {theirs}"
            )


def _match_inputs(branches):
    """Gives all branches the same arguments; returns the tensors outside that they stand for."""
    tensors = list(dict.fromkeys(tensor for branch in branches for tensor in branch.external_captures))
    for branch in branches:
        for tensor in tensors:
            if tensor not in branch._captures:
                with branch.as_default(), branch.control_dependencies(None):
                    branch._captures[tensor] = ops.placeholder(tensor.dtype.base_dtype, tensor.shape)
        branch._captures = {tensor: branch._captures[tensor] for tensor in tensors}
        branch.inputs = list(branch._captures.values())
        numbers.end_function(branch)
    return tensors


def _if(pred, branches, scope):
    graph = get_default_graph()
    inputs = _match_inputs(branches)
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
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    op = outputs[0].op
    op._attrs["_lower_using_switch_merge"] = True
    # What is fetched should not run all of the branch, as fetching the node would.
    results = [ops.identity(output) for output in outputs]
    graph.prevent_fetching(op)
    structure = branches[0].structure
    flat = iter(results)
    packed = [None if value is None else next(flat) for value in nest.flatten(structure, expand_composites=True)]
    return nest.pack_sequence_as(structure, packed, expand_composites=True)
