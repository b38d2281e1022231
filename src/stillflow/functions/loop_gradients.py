"""The gradient of While: a While that goes back through the rounds, with what each of them has computed.

A round does not run again: the node gets further variables, the number of rounds and a list for each tensor inside of
its body that the gradient reads, to which every round appends. The gradient's rounds take the last elements.
"""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.autodiff.reverse import BACKPROPAGATABLE, gradients
from stillflow.functions.function_graph import FunctionGraph
from stillflow.functions.gradient import copy_body, unused_name
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import forget
from stillflow.ops.convert import convert_to_tensor

_ANY_SHAPE = -1  # of a list's elements


def gradients_of_loop(op, grads, function):
    """The gradients of the inputs of a node While or StatelessWhile, None where there are none.

    The node gets further inputs, which have none, and results.

    Args:
      op: the node.
      grads: a gradient, or None, for each of its results.
      function: the class of functions of a graph.
    """
    body = _copy_of(op, "body")
    backward = _Backward(op, body, grads)
    if not backward.found:
        return [None] * len(op._inputs)
    kept = _extend(op, body, list(backward.round.lists), function)
    found = backward.add_node(kept, function)
    return [found.get(index) for index in range(len(op._inputs))]


def _copy_of(op, attr):
    """A copy of the body of one of the node's functions, to which more may be added."""
    original = op._graph.find_function(op._attrs[attr].name).body
    body = copy_body(original, FunctionGraph(unused_name(op._graph, f"{original.name}_rewritten"), op._graph))
    for argument, outside in zip(body.inputs, op._inputs, strict=True):
        argument._op._captured = outside  # which tells what a variable's handle is of
    return body


# ---- The way back ---------------------------------------------------------------------------------------------


class _Backward:
    """The gradient of a loop.

    `found` are the inputs of the node that have one, by their numbers: those of `active`, which is handed on from
    round to round, and variables, whose gradients add up.
    """

    def __init__(self, op, body, grads):
        self._op, self._body, self._grads = op, body, grads
        self._active = [index for index, grad in enumerate(grads) if grad is not None]
        while self._finds_more():
            pass
        self._variables = [index for index, grad in self._gradients.items() if _is_handle(body.inputs[index])]
        self.found = [*self._active, *self._variables]
        self._end_round()

    def _finds_more(self):
        """Differentiates one round. Returns whether variables turn out to be active that were not known to be so."""
        body = self._body
        self.round = _Round(unused_name(self._op._graph, f"{body.name}_grad"), body)
        with self.round.as_default():
            results = [body.outputs[index] for index in self._active]
            self._given = [ops.placeholder(y.dtype.base_dtype, y.shape, name="grad_ys") for y in results]
            found = gradients(results, body.inputs, self._given) if results else [None] * len(body.inputs)
            self._gradients = {index: convert_to_tensor(grad) for index, grad in enumerate(found) if grad is not None}
        more = {index for index in self._gradients if body.outputs[index].dtype.base_dtype in BACKPROPAGATABLE}
        more = {index for index in more if not _is_handle(body.inputs[index])}.difference(self._active)
        self._active = sorted({*self._active, *more})
        return bool(more)

    def _end_round(self):
        """Makes the arguments and results of the round but the lists and what never changes."""
        with self.round.as_default(), self.round.control_dependencies(None):
            left = ops.placeholder(dtypes.int32, [], name="rounds")
            totals = [ops.placeholder(self._gradients[index].dtype) for index in self._variables]
            results = [left - 1, *(self._next(index) for index in self._active)]
            results += [ops.add(a, self._gradients[index]) for a, index in zip(totals, self._variables, strict=True)]
        self.round.inputs = [left, *self._given, *totals]
        self.round.outputs = [self.round.capture(tensor) for tensor in results]

    def add_node(self, kept, function):
        """Adds the node While. Returns {number of an input: its gradient}.

        Args:
          kept: the node's further results: the number of rounds, and the lists.
        """
        rounds, *lists = kept
        begin = [rounds, *(self._begin(index) for index in self.found), *lists]
        body = self.round
        outside = [*(self._op._inputs[index] for index in body.invariants), *body._captures]
        constant = [*body.invariants.values(), *body._captures.values()]
        body.inputs = [*body.inputs, *(before for before, _ in body.lists.values()), *constant]
        body.outputs = [*body.outputs, *(after for _, after in body.lists.values()), *constant]
        found = self._node([*begin, *outside], function)
        return dict(zip(self.found, found[1:], strict=False))

    def _begin(self, index):
        """The gradient that comes from behind the loop."""
        grad = self._grads[index]
        if grad is not None:
            return convert_to_tensor(grad)
        if index in self._variables:
            return ops.zeros(ops.variable_shape(self._op._inputs[index]), self._gradients[index].dtype)
        return ops.zeros_like(self._op._outputs[index])

    def _next(self, index):
        """The gradient of a variable of the loop at the beginning of a round: zeros if nothing depends on it."""
        grad = self._gradients.get(index)
        if grad is not None:
            return grad
        x = self._body.inputs[index]
        if x.dtype is dtypes.variant or x.shape.is_fully_defined():
            return ops.zeros_like(x)
        with self._body.as_default(), self._body.control_dependencies(None):
            shape = ops.shape(x)
        return ops.zeros(shape, x.dtype.base_dtype)

    def _node(self, begin, function):
        graph = get_default_graph()
        types = [tensor.dtype.base_dtype for tensor in begin]
        condition = FunctionGraph(unused_name(self._op._graph, f"{self._body.name}_grad_cond"), graph)
        with condition.as_default():
            condition.inputs = [ops.placeholder(dtype) for dtype in types]
            condition.outputs = [ops.greater(condition.inputs[0], 0)]
        has_state = any(op._op_def.is_stateful for op in self.round.get_operations() if op.type != "Placeholder")
        return (ops.while_op if has_state else ops.stateless_while)(
            begin,
            cond=function(condition.name, graph, body=condition),
            body=function(self.round.name, graph, body=self.round),
        )


class _Round(FunctionGraph):
    """The body of the gradient, which reads tensors of the body: constants, what never changes, elements of lists.

    `lists` has, for a tensor of the body, the list before and after the round; `invariants`, for the number of a
    variable that never changes, the argument that stands for it.
    """

    def __init__(self, name, body):
        super().__init__(name, body)
        self._numbers = {
            x: index
            for index, (x, y) in enumerate(zip(body.inputs, body.outputs, strict=True))
            if _source(y) is x
        }  # fmt: skip
        self._known: dict = {}  # tensor of the body -> the tensor here
        self.lists: dict = {}
        self.invariants: dict = {}

    def capture(self, tensor):
        if tensor._op._graph is not self.outer_graph:
            return super().capture(tensor)
        if tensor not in self._known:
            with self.as_default(), self.control_dependencies(None):
                self._known[tensor] = self._read(_source(tensor))
        return self._known[tensor]

    def _read(self, tensor):
        if tensor in self._known:
            return self._known[tensor]
        if tensor._op.type == "Const":
            return ops.constant(tensor._op._attrs["value"].array(), tensor.dtype)
        dtype = tensor.dtype.base_dtype
        if tensor in self._numbers:
            index = self._numbers[tensor]
            if index not in self.invariants:
                self.invariants[index] = ops.placeholder(dtype, tensor.shape, name="invariant")
                self.invariants[index]._op._captured = tensor
            return self.invariants[index]
        before = ops.placeholder(dtypes.variant, [], name="computed")
        after, element = ops.tensor_list_pop_back_op(before, _ANY_SHAPE, element_dtype=dtype)
        element.set_shape(tensor.shape)
        self.lists[tensor] = before, after
        return element


def _source(tensor):
    """What an Identity hands on."""
    while tensor._op.type == "Identity":
        tensor = tensor._op._inputs[0]
    return tensor


def _is_handle(tensor):
    return tensor.dtype.base_dtype is dtypes.resource


# ---- The way there --------------------------------------------------------------------------------------------


def _extend(op, body, tensors, function):
    """Has the node count its rounds, and list the values of tensors of its body. Returns the further results."""
    graph = op._graph
    condition = _copy_of(op, "cond")
    types = [dtypes.int32, *(dtypes.variant for _ in tensors)]
    with body.as_default(), body.control_dependencies(None):
        arguments = [ops.placeholder(dtype, [], name="computed") for dtype in types]
        rounds, *lists = arguments
        body.inputs = [*body.inputs, *arguments]
        added = [ops.tensor_list_push_back(a, tensor) for a, tensor in zip(lists, tensors, strict=True)]
        body.outputs = [*body.outputs, rounds + 1, *added]
    with condition.as_default(), condition.control_dependencies(None):
        condition.inputs = [*condition.inputs, *(ops.placeholder(dtype, []) for dtype in types)]
    with graph.as_default(), graph.control_dependencies(None), _within(op._control_flow_context):
        begin = [ops.constant(0)]
        begin += [ops.empty_tensor_list_op(_ANY_SHAPE, -1, element_dtype=t.dtype.base_dtype) for t in tensors]
    for attr, changed in (("body", body), ("cond", condition)):
        function(changed.name, graph, body=changed).add_to_graph(graph)
        op._attrs[attr] = FunctionCall(changed.name)
    return _connect(op, begin)


def _within(context):
    return contextlib.nullcontext() if context is None else context


def _connect(op, begin):
    """Gives the node further variables. Returns its results for them."""
    types = [tensor.dtype.base_dtype for tensor in begin]
    first = len(op._outputs)
    op._attrs["T"] = (*op._attrs["T"], *types)
    if op._attrs["output_shapes"]:
        op._attrs["output_shapes"] = (*op._attrs["output_shapes"], *(TensorShape([]) for _ in types))
    for tensor in begin:
        op._inputs.append(tensor)
        tensor._consumers.append(op)
    op._outputs += [Tensor(op, first + index, dtype) for index, dtype in enumerate(types)]
    for tensor in op._outputs[first:]:
        tensor.set_shape([])
    op._graph._note_change()
    forget(op)
    return op._outputs[first:]
