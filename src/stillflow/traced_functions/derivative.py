"""Derivatives: the gradients of a traced function, functions of its arguments and of what it computed."""

from __future__ import annotations

import contextlib
import itertools

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.functions import numbers
from stillflow.functions.branch_places import EVERYWHERE, BranchPlaces
from stillflow.functions.function_graph import outermost
from stillflow.graph import dtypes, nest, recording
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.operation import Tensor
from stillflow.ops.convert import convert_to_tensor
from stillflow.traced_functions.parts import BodyPart, CallableFunction


class DifferentiableFunction:
    """A function that is called such that its gradient can be had of the call."""

    def __init__(self, name, base_name, part, attrs):
        self.derivatives = Derivatives(part, base_name, attrs)
        self.inference = CallableFunction(name, part, attrs, self.derivatives)

    @property
    def name(self):
        return self.inference.name

    @property
    def function(self):
        return self.inference.function

    def call(self, inputs):
        """The results, as a list; see `call_with_node`."""
        return self.call_with_node(inputs)[1]

    def call_with_node(self, inputs):
        """(the node of a call without results, else None; the results as a list).

        While tapes record what depends on `inputs`, what gradients need is kept.
        """
        callee = self.inference
        if recording.wanted(inputs):
            with contextlib.suppress(LookupError, NotImplementedError):  # asking for the gradient raises it again
                callee = self.derivatives.forward
        node, results = callee.call_with_node(inputs)
        return node, results[: len(self.inference.part.outputs)]


class Derivatives:
    """The gradients of a part of a body.

    They are built among the nodes of the body itself, so that those of loops find the stacks of their rounds. What a
    gradient needs of the part is returned by another function that calls are changed to (`forward`); what lies inside
    of loops and branches is computed again.
    """

    def __init__(self, part, name, attrs):
        self._part = part
        self._name = name
        self._attrs = attrs
        self._backward: dict = {}  # number of outputs that gradients are given for -> _Backward
        self._forward: CallableFunction | None = None

    @property
    def forward(self):
        """The function that also returns what gradients need. Raises LookupError for what has no gradient."""
        if self._forward is None:
            backward = self._of_outputs(len(self._part.outputs))
            part = self._part
            extra = [tensor for tensor in backward.needed if tensor not in set(part.outputs)]
            known = set(part.outputs) | set(part.inputs) | set(extra)
            extra += [tensor for tensor in _results_of_state(part) if tensor not in known]
            forward = BodyPart(
                part.body,
                part.name,
                part.inputs,
                [*part.outputs, *extra],
                part.control_outputs,
                part.get_operations(),
            )
            number = numbers.next_number(outermost(part.body))
            self._forward = CallableFunction(f"__forward_{self._name}_{number}", forward, self._attrs, self)
        return self._forward

    def __call__(self, op, *grads):
        """The gradients of a node that calls the part, or its `forward`, to which it is changed."""
        forward = self.forward
        if len(op._outputs) < len(forward.part.outputs):
            _rewrite(op, forward)
        count = len(grads)
        while count > len(self._part.outputs) and grads[count - 1] is None:
            count -= 1
        backward = self._of_outputs(count)
        filled = [
            ops.zeros_like(y) if grad is None and y.dtype.base_dtype is not dtypes.resource else grad
            for y, grad in zip(op._outputs[:count], grads[:count], strict=True)
        ]
        known = dict(zip(forward.part.outputs, op._outputs, strict=True))
        known.update(zip(self._part.inputs, op._inputs, strict=True))
        return backward(known, filled)

    def functions(self):
        """The Functions of the part with what gradients need, and of the gradient."""
        forward = self.forward
        backward = self._of_outputs(len(self._part.outputs)).function
        return [forward.function, *([] if backward is None else [backward.function])]

    def _of_outputs(self, count):
        if count not in self._backward:
            ys = self._part.outputs if count == len(self._part.outputs) else self.forward.part.outputs[:count]
            available = [] if self._forward is None else self._forward.part.outputs
            self._backward[count] = _Backward(self._part, ys, available, self._name, self._attrs)
        return self._backward[count]


class _Backward:
    """The gradient of some of a part's outputs.

    `needed` are the tensors of the part that it is a function of, besides the gradients of the outputs.
    """

    def __init__(self, part, ys, available, name, attrs):
        body = part.body
        self._body = body
        self._positions = [i for i, y in enumerate(ys) if y.dtype.is_floating or y.dtype.is_complex]
        xs = part.inputs
        ys = [ys[i] for i in self._positions]
        old = set(body.get_operations())
        captured = len(body.inputs)
        with body.as_default(), body.control_dependencies(None):
            self._grads = [ops.placeholder(y.dtype.base_dtype, y.shape) for y in ys]
            found = gradients(ys, xs, self._grads, stop_gradients=xs) if ys else [None] * len(xs)
            self._structure = [None if grad is None else nest.map_structure(_same, grad) for grad in found]
            flat = [body.capture(t) for grad in found if grad is not None for t in nest.flatten(grad, True)]
            outputs = [ops.identity(tensor) for tensor in flat]
        self._captures = body.inputs[captured:]  # what the gradient functions take from outside of the body
        given = set(self._grads) | set(self._captures)
        self.needed, operations = _frontier(outputs, old, given, set(xs), set(available))
        self.function: DifferentiableFunction | None = None
        if outputs:
            inputs = [*self._grads, *self.needed, *self._captures]
            base_name = f"__backward_{name}_{numbers.next_number(outermost(body))}"
            backward = BodyPart(body, base_name, inputs, outputs, (), operations)
            function_name = f"__inference_{base_name}_{numbers.next_number(outermost(body))}"
            self.function = DifferentiableFunction(function_name, base_name, backward, attrs)

    def __call__(self, known, grads):
        """The gradients of the part's inputs: Tensors, IndexedSlices, or None.

        `known` has the tensors outside for those of the part.
        """
        if self.function is None:
            return [None] * len(self._structure)
        given = [convert_to_tensor(grads[i]) for i in self._positions]
        outside = {inside: tensor for tensor, inside in self._body.captures}
        needed = [known[tensor] if tensor in known else outside[tensor] for tensor in self.needed]
        results = iter(self.function.call([*given, *needed, *(outside[tensor] for tensor in self._captures)]))
        return [
            None if grad is None
            else nest.pack_sequence_as(grad, list(itertools.islice(results, len(nest.flatten(grad, True)))), True)
            for grad in self._structure
        ]  # fmt: skip


def _same(leaf):
    return leaf


def _results_of_state(part):
    """What nodes with state return, outside of loops and branches: it cannot be computed again."""
    return [
        tensor
        for op in part.get_operations()
        if op._op_def.is_stateful and op._control_flow_context is None
        for tensor in op._outputs
        if tensor._dtype not in (dtypes.resource, dtypes.variant)
    ]


def _frontier(outputs, old, given, inputs, available):
    """(the tensors of the part that new nodes read, the nodes between them and `outputs`).

    Nodes of the part inside of loops and branches, and constants, are among those nodes: they are run again. Where
    what calls return is settled, `available`, so are all others. What gradients have added is in no context, but may
    be in a branch, and not be computed.

    Raises NotImplementedError if one of them has effects, or draws random numbers.
    """
    needed: dict = {}
    members: dict = {}
    places = BranchPlaces(first=0)
    pending = [tensor._op for tensor in outputs]
    while pending:
        op = pending.pop()
        if op in members:
            continue
        members[op] = None
        if op in old and _differs_when_repeated(op):
            raise NotImplementedError(
                f"The gradient of a function needs what '{op.name}' (op type: {op.type}) gives inside of a loop or a "
                "branch. Call tf.gradients or tf.GradientTape inside of the function."
            )
        for tensor in op._inputs:
            if tensor in given:
                continue
            source = tensor._op
            if tensor in inputs or tensor in available or (
                not available and source in old and _is_returned(source, tensor, places)
            ):  # fmt: skip
                needed[tensor] = None
            else:
                pending.append(source)
        pending.extend(
            control for control in op._control_inputs if control not in old or not _differs_when_repeated(control)
        )
    return list(needed), sorted(members, key=lambda op: op._id)


def _is_returned(op, tensor, places):
    if op._control_flow_context is not None or op._op_def.constant_value is not None:
        return False
    if places.of_output(tensor) != EVERYWHERE:
        return False
    return tensor._dtype is not dtypes.resource and not _is_flow(tensor)


def _is_flow(tensor):
    """Whether a tensor only stands for the state of a TensorArray, which ends with the call."""
    while tensor._op.type in _PASSING:
        tensor = tensor._op._inputs[0]
    op = tensor._op
    return op.type.startswith("TensorArray") and op._op_def.outputs[tensor.value_index].name in ("flow", "flow_out")


_PASSING = ("Enter", "Exit", "Identity", "Merge", "Switch")

# Nodes with state that give the same again as long as nothing else changes it.
_REPEATABLE = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp", "VariableShape")


def _differs_when_repeated(op):
    op_def = op._op_def
    if getattr(op_def.lowering, "state", None) == "random":
        return True
    if not op_def.is_stateful or op_def.is_unordered or op_def.is_check:
        return False
    return op.type not in _REPEATABLE and not op.type.startswith(("TensorArray", "Stack"))


def _rewrite(op, forward):
    """Makes a node that calls the part call `forward`, which returns more."""
    forward.function.add_to_graph(op._graph)
    op._attrs["f"] = FunctionCall(forward.name)
    op._attrs["Tout"] = tuple(tensor.dtype.base_dtype for tensor in forward.part.outputs)
    for like in forward.part.outputs[len(op._outputs) :]:
        tensor = Tensor(op, len(op._outputs), like.dtype.base_dtype)
        tensor._dims = like._dims
        op._outputs.append(tensor)
    op._graph._note_change()
