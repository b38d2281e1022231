"""Gradients of If and Case: nodes whose branches go back through those of the first, with what these have computed.

A branch of the node does not run again: the node gets more results, one for each tensor inside of a branch that the
gradient reads. The branch that does not have such a tensor returns an empty one, which nothing reads.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.functions.function_graph import FunctionGraph
from stillflow.functions.gradient import copy_body, unused_name
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.ops.convert import convert_to_tensor

_BRANCHES = ("then_branch", "else_branch")  # of If; Case has a list


def gradients_of_branches(op, grads, function):
    """[None, gradients of the inputs...] of a node If, StatelessIf or Case; it gets the results that they need.

    Args:
      op: the node.
      grads: a gradient, or None, for each of its results.
      function: the class of functions of a graph.
    """
    given = [grad for grad in grads if grad is not None]
    calls = op._attrs["branches"] if op.type == "Case" else [op._attrs[attr] for attr in _BRANCHES]
    branches = [_Branch(op, call.name, grads) for call in calls]
    found = [_match(branches, index) for index in range(len(op._inputs) - 1)]
    kept = [tensor for branch in branches for tensor in branch.read_inside()]
    for branch in branches:
        branch.body.outputs = [*branch.body.outputs, *branch.results_for(kept)]
    _set_branches(op, branches, kept, function)
    results = iter(_gradient_node(op, branches, kept, given, function) if any(found) else ())
    return [None, *(next(results) if exists else None for exists in found)]


class _Branch:
    """A copy of a branch's body, and the body that computes its gradient, which reads tensors of the first."""

    def __init__(self, op, function_name, grads):
        original = op._graph.find_function(function_name).body
        name = unused_name(op._graph, f"{original.name}_rewritten")
        self.body = copy_body(original, FunctionGraph(name, op._graph))
        for argument, outside in zip(self.body.inputs, op._inputs[1:], strict=True):
            argument._op._captured = outside  # which tells what a variable's handle is of
        self.gradient = FunctionGraph(unused_name(op._graph, f"{original.name}_grad"), self.body)
        with self.gradient.as_default():
            self.grad_ys = [
                None if grad is None else ops.placeholder(grad.dtype.base_dtype, grad.shape, name="grad_ys")
                for grad in grads
            ]
            pairs = [(y, grad) for y, grad in zip(self.body.outputs, self.grad_ys, strict=True) if grad is not None]
            self.found = gradients([y for y, _ in pairs], self.body.inputs, [grad for _, grad in pairs])

    def returns(self, index, dtype):
        """Makes the gradient of an input a result: zeros of that type if nothing depends on the input."""
        x, grad = self.body.inputs[index], self.found[index]
        with self.gradient.as_default():
            if grad is None and dtype is dtypes.variant:
                grad = ops.zeros_like(x)
            elif grad is None:
                shape = ops.variable_shape_op(x) if x.dtype is dtypes.resource else ops.shape(x)
                grad = ops.zeros(shape, dtype)
            self.gradient.outputs.append(self.gradient.capture(convert_to_tensor(grad)))

    def read_inside(self):
        """The tensors of the body that the gradient reads, but the arguments."""
        inputs = set(self.body.inputs)
        return [tensor for tensor in self.gradient.external_captures if tensor not in inputs]

    def results_for(self, kept):
        """The further results: the tensors that are of this branch, and empty ones."""
        with self.body.as_default(), self.body.control_dependencies(None):
            return [tensor if tensor.graph is self.body else _nothing(tensor.dtype.base_dtype) for tensor in kept]

    def argument(self, tensor, like):
        """The argument of the gradient for a tensor of the body: one that is not used if it does not read it."""
        with self.gradient.as_default(), self.gradient.control_dependencies(None):
            argument = self.gradient._captures.get(tensor)
            return ops.placeholder(like.dtype.base_dtype, like.shape) if argument is None else argument


def _match(branches, index):
    """Has all branches return the gradient of an input, if one of them has it. Returns whether they do."""
    grad = next((branch.found[index] for branch in branches if branch.found[index] is not None), None)
    if grad is None:
        return False
    for branch in branches:
        branch.returns(index, grad.dtype.base_dtype)
    return True


def _nothing(dtype):
    if dtype is dtypes.variant:
        return ops.optional_none()
    return ops.zeros([], dtype)


def _set_branches(op, branches, kept, function):
    """Has the node call the copies, and gives it the further results."""
    for branch in branches:
        function(branch.body.name, op._graph, body=branch.body).add_to_graph(op._graph)
    calls = [FunctionCall(branch.body.name) for branch in branches]
    op._attrs.update({"branches": tuple(calls)} if op.type == "Case" else zip(_BRANCHES, calls, strict=True))
    types = [tensor.dtype.base_dtype for tensor in kept]
    op._attrs["Tout"] = (*op._attrs["Tout"], *types)
    if op._attrs["output_shapes"]:
        op._attrs["output_shapes"] = (*op._attrs["output_shapes"], *(TensorShape(None) for _ in kept))
    op._outputs += [Tensor(op, len(op._outputs) + index, dtype) for index, dtype in enumerate(types)]


def _gradient_node(op, branches, kept, grads, function):
    """Adds the node whose branches compute the gradients."""
    graph = get_default_graph()
    results = op._outputs[len(op._outputs) - len(kept) :]
    # What the node was given, its further results, and the tensor that stands for each in each branch.
    inside = [
        *zip(*(branch.body.inputs for branch in branches), strict=True),
        *([tensor] * len(branches) for tensor in kept),
    ]
    used = [
        (outside, tensors)
        for outside, tensors in zip((*op._inputs[1:], *results), inside, strict=True)
        if any(tensor in branch.gradient._captures for branch, tensor in zip(branches, tensors, strict=True))
    ]
    functions = []
    for index, branch in enumerate(branches):
        arguments = [branch.argument(tensors[index], outside) for outside, tensors in used]
        body = branch.gradient
        body.inputs = [*(grad for grad in branch.grad_ys if grad is not None), *arguments]
        functions.append(function(body.name, graph, body=body))
    has_state = any(inner._op_def.is_stateful for branch in branches for inner in branch.gradient.get_operations())
    shapes = [output.shape for output in branches[0].gradient.outputs]
    for branch in branches[1:]:
        pairs = zip(shapes, branch.gradient.outputs, strict=True)
        shapes = [shape.most_specific_compatible_shape(output.shape) for shape, output in pairs]
    inputs = [*grads, *(outside for outside, _ in used)]
    attrs = {"Tout": [output.dtype for output in branches[0].gradient.outputs], "output_shapes": shapes}
    if op.type == "Case":
        found = ops.case_op(op._inputs[0], inputs, branches=functions, **attrs)
    else:
        builder = ops.if_op if has_state else ops.stateless_if
        found = builder(op._inputs[0], inputs, then_branch=functions[0], else_branch=functions[1], **attrs)
    return found if isinstance(found, (list, tuple)) else [found]
