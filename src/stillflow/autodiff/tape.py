"""Tape: the ops applied to watched tensors, and reverse-mode differentiation over them."""

from __future__ import annotations

import collections
from typing import Any

from stillflow import ops
from stillflow.autodiff.registry import get_gradient_function
from stillflow.autodiff.reverse import BACKPROPAGATABLE, UnconnectedGradients, gradients, sum_indexed_slices
from stillflow.graph import dtypes, recording
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import variable_dtype
from stillflow.ops import formula


class Tape:
    """Records operations that depend on what it watches, in the order in which they are made or run.

    Trainable variables are watched from their first use on if `watches_variables`.
    """

    def __init__(self, watches_variables=True):
        self._watches_variables = watches_variables
        self._tracked: dict = {}  # id -> tensor that depends on what is watched
        self._variables: dict = {}  # id of the handle -> variable
        self._operations: list = []

    def watch(self, tensor):
        self._tracked[id(tensor)] = tensor

    def watch_variable(self, variable):
        self.watch(variable.handle)
        self._variables[id(variable.handle)] = variable

    def watched_variables(self):
        """The variables that are watched, in the order in which they were made."""
        return tuple(sorted(self._variables.values(), key=lambda variable: variable.handle._number))

    def record(self, op):
        if self._watches_variables:
            self._watch_variables_of(op)
        tracked = self._tracked
        if any(id(tensor) in tracked for tensor in op._inputs):
            outputs = [tensor for tensor in op._outputs if tensor._dtype.base_dtype in BACKPROPAGATABLE]
            if outputs:
                self._operations.append(op)
                tracked.update((id(tensor), tensor) for tensor in outputs)

    def wants(self, tensors):
        """Whether an operation on these tensors would be recorded."""
        tracked = self._tracked
        return any(
            id(tensor) in tracked
            or (self._watches_variables and getattr(tensor, "_trainable_variable", lambda: None)() is not None)
            for tensor in tensors
        )

    def _watch_variables_of(self, op):
        if not op._outputs:
            return  # it changes the variable
        for tensor in op._inputs:
            if tensor._dtype is dtypes.resource and id(tensor) not in self._tracked:
                variable = getattr(tensor, "_trainable_variable", lambda: None)()
                if variable is not None:  # a handle may outlive its variable
                    self.watch_variable(variable)

    def gradient(self, targets, sources, output_gradients, unconnected):
        """The derivatives of the sum of `targets` with respect to each of `sources`: Tensor, IndexedSlices or None.

        `output_gradients` has a tensor, or None for ones, for each target; it may be None itself.
        """
        path, reached = self._path_from(sources)
        if any(op._control_flow_context is not None for op in path) and get_default_graph().building_function:
            return self._through_control_flow(targets, sources, output_gradients, unconnected)
        known = reached.union(map(id, sources))
        collected: dict = {}  # id of a tensor -> the gradients collected for it
        for i, target in enumerate(targets):
            if id(target) in known and target._dtype in _NUMBERS:
                given = None if output_gradients is None else output_gradients[i]
                collected.setdefault(id(target), []).append(_filled(target, 1) if given is None else given)
        for op in _from_targets(targets, path):
            self._go_through(op, collected, reached)
        found = [_sum(collected.get(id(source), [])) for source in sources]
        if unconnected is UnconnectedGradients.ZERO:
            return [_zeros(source) if grad is None else grad for source, grad in zip(sources, found, strict=True)]
        return found

    @staticmethod
    def _through_control_flow(targets, sources, output_gradients, unconnected):
        """The derivatives by tf.gradients in a function's graph: a tape cannot go through loops and branches."""
        graph: Any = get_default_graph()
        inside = [graph.capture(source) for source in sources]
        return gradients([graph.capture(target) for target in targets], inside, output_gradients,
                         unconnected_gradients=unconnected)  # fmt: skip

    def _path_from(self, sources):
        """The operations that depend on those of `sources` that are watched, and the ids of the tensors that do."""
        reached = {id(source) for source in sources if id(source) in self._tracked}
        path = []
        for op in self._operations:
            if any(id(tensor) in reached for tensor in op._inputs):
                path.append(op)
                reached.update(id(tensor) for tensor in op._outputs if id(tensor) in self._tracked)
        return path, reached

    @staticmethod
    def _enters_this_loop(op):
        """Whether the gradients are added within the loop that the operation brings a tensor into."""
        return op.type in ("Enter", "RefEnter") and get_default_graph()._control_flow_context is not None

    def _go_through(self, op, gradients, reached):
        collected = [gradients.get(id(tensor)) for tensor in op._outputs]
        if not any(collected):
            return
        if op.type in _OF_CONTROL_FLOW and not self._enters_this_loop(op):
            raise NotImplementedError(
                "tf.GradientTape.gradients() does not support graph control flow operations like tf.cond or tf.while "
                "at this time. Use tf.gradients() instead."
            )
        for grads in collected:
            if grads:
                grads[:] = [_sum(grads)]
        function = getattr(op, "differentiate", None) or get_gradient_function(op)
        if function is None:
            return
        takes_missing = getattr(function, "takes_missing", False)
        out_grads = [
            grads[0] if grads else _filled(tensor, 0) if tensor._dtype in _NUMBERS and not takes_missing else None
            for tensor, grads in zip(op._outputs, collected, strict=True)
        ]
        tracked = self._tracked
        unwanted = frozenset(
            i for i, tensor in enumerate(op._inputs) if id(tensor) not in tracked and id(tensor) not in reached
        )
        in_grads = recording.differentiate(function, op, out_grads, unwanted)
        in_grads = in_grads if isinstance(in_grads, (list, tuple)) else [in_grads]
        if len(in_grads) != len(op._inputs):
            raise ValueError(
                f"Num gradients {len(in_grads)} generated for op {op.type} do not match num inputs {len(op._inputs)}"
            )
        for tensor, grad in zip(op._inputs, in_grads, strict=True):
            if grad is not None and id(tensor) in reached:
                gradients.setdefault(id(tensor), []).append(grad)


def _from_targets(targets, path):
    """The operations of `path` that `targets` depend on, each after all that use its outputs.

    Of several gradients of one tensor this decides which is added first, and so the bits: as in TensorFlow an
    operation gets into line when the last that uses its outputs has been gone through. Those that wait for nothing
    come in the order in which TensorFlow's hash table of operations has them.
    """
    producers = {id(tensor): op for op in path for tensor in op._outputs}
    uses: dict = {}  # id of a tensor -> how often operations on the way to the targets use it
    found: dict = {}  # id of such an operation -> the operation
    pending = [id(target) for target in targets]
    while pending:
        op = producers.get(pending.pop())
        if op is None or id(op) in found:
            continue
        found[id(op)] = op
        for key in map(id, op._inputs):
            if key in producers:
                if key not in uses:
                    pending.append(key)
                uses[key] = uses.get(key, 0) + 1
    unfinished = {key: sum(id(tensor) in uses for tensor in op._outputs) for key, op in found.items()}
    numbers = {id(op): number for number, op in enumerate(path)}
    ordered = reversed(_order_in_hash_table([numbers[key] for key in found]))
    line = collections.deque(path[number] for number in ordered if not unfinished[id(path[number])])
    while line:
        op = line.popleft()
        yield op
        for key in map(id, op._inputs):
            if key in uses:
                uses[key] -= 1
                if not uses[key]:
                    producer = producers[key]
                    unfinished[id(producer)] -= 1
                    if not unfinished[id(producer)]:
                        line.append(producer)


def _order_in_hash_table(numbers):
    """The order in which TensorFlow's std::unordered_map has numbers that were put into it one after the other.

    Its elements are a list, of which each bucket has a part. A new one goes to the front of the part of its bucket,
    and where the bucket is empty to the front of the list. When the table grows, all are put in anew, from the front.
    """
    size, larger = _TABLE_SIZES[0], iter(_TABLE_SIZES[1:])
    buckets: dict = {}  # number of a bucket -> what is in it; both have last what is at the front
    for count, number in enumerate(numbers, 1):
        if count >= size:
            size = next(larger)
            elements, buckets = _from_the_front(buckets), {}
            for element in elements:
                buckets.setdefault(element % size, []).append(element)
        buckets.setdefault(number % size, []).append(number)
    return _from_the_front(buckets)


def _from_the_front(buckets):
    return [element for bucket in reversed(buckets.values()) for element in reversed(bucket)]


# Each is the first in libstdc++'s list of primes that is not less than twice the one before.
_TABLE_SIZES = (
    3, 7, 17, 37, 79, 167, 337, 709, 1493, 3209, 6427, 12983, 26267, 53201, 107897, 218971, 444487, 902483,
)  # fmt: skip

# Their gradients ask for the branch or loop that they are in, which a tape does not have.
_OF_CONTROL_FLOW = frozenset(("Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter", "Exit", "RefExit"))
_NUMBERS = BACKPROPAGATABLE - {dtypes.resource, dtypes.variant}


def _sum(grads):
    if len(grads) < 2:
        return grads[0] if grads else None
    if all(isinstance(grad, Tensor) for grad in grads):
        return ops.add_n(grads)
    if not all(isinstance(grad, (Tensor, IndexedSlices)) for grad in grads):
        raise TypeError("gradients have to be either all Tensors or all IndexedSlices")
    return sum_indexed_slices(grads)


def _filled(tensor, value):
    """Ones or zeros as gradient of a tensor."""
    if tensor.shape.is_fully_defined():
        return (ops.ones if value else ops.zeros)(tensor._dims, tensor._dtype)
    return (ops.ones_like if value else ops.zeros_like)(tensor)


def _zeros(source):
    if source._dtype is dtypes.resource:
        return ops.zeros(ops.variable_shape(source), variable_dtype(source))
    return ops.zeros_like(source)


formula.install(Tape)
