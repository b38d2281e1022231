"""tf.gradients: adds the nodes that compute derivatives, walking back from ys to xs."""

from __future__ import annotations

import collections
import contextlib
import enum

from stillflow import ops
from stillflow.autodiff.places import Places
from stillflow.autodiff.registry import get_gradient_function
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import variable_dtype
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import tuple_of
from stillflow.ops.control_flow.gradient_loops import loops_between
from stillflow.ops.control_flow.kinds import is_loop_exit, is_loop_switch
from stillflow.ops.convert import convert_n_to_tensor_or_indexed_slices


@public("AggregationMethod")
class AggregationMethod:
    """How several gradients of one tensor are added up: all at once (ADD_N), or in pairs as they come."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


@public("python.ops.gradients_impl.UnconnectedGradients")
@public("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is with respect to an x that no y depends on."""

    NONE = "none"
    ZERO = "zero"


# ---- Gradient functions -----------------------------------------------------------------------------------


# ---- The public function ----------------------------------------------------------------------------------

_TRAINABLE = frozenset(
    (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128, dtypes.resource,
     dtypes.variant)
)  # fmt: skip
BACKPROPAGATABLE = _TRAINABLE | {dtypes.bfloat16}


@public("gradients")
def gradients(
    ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
    aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE,
):  # fmt: skip
    """The derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
      ys: a tensor or a list of tensors.
      xs: a tensor or variable, or a list of them.
      grad_ys: the gradients to start from, shaped as `ys`; ones by default. None stands for ones.
      name: the scope of the new nodes.
      colocate_gradients_with_ops: whether to place gradients with the ops they belong to.
      gate_gradients: whether the gradients of one op become available only together.
      aggregation_method: a member of AggregationMethod.
      stop_gradients: tensors to treat as constants.
      unconnected_gradients: what to return for an x that no y depends on.

    Returns:
      A list with a Tensor, IndexedSlices or None for each of `xs`.

    Raises:
      LookupError: if an op on the way has no gradient.
      ValueError: if arguments do not match each other.
      TypeError: if a gradient is of a type that its tensor cannot have.
      RuntimeError: while operations are executed eagerly.
    """
    require_graph("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    ys, xs = _as_list(ys), _as_list(xs)
    stop_gradients = [] if stop_gradients is None else _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    with name_scope(name, "gradients", [*ys, *xs, *stop_gradients, *grad_ys]):
        graph = get_default_graph()
        graph.unique_name("uid")  # TensorFlow takes this name, and later names depend on it
        ys = convert_n_to_tensor_or_indexed_slices(ys, name="y")
        # A resource variable is known by its handle.
        xs, stop_gradients = ([getattr(x, "_handle", x) for x in group] for group in (xs, stop_gradients))
        xs = convert_n_to_tensor_or_indexed_slices(xs, name="x", as_ref=True)
        if graph.building_function:
            ys, xs, stop_gradients = (
                [each._in_function(graph) if hasattr(each, "_in_function") else each for each in group]
                for group in (ys, xs, stop_gradients)
            )
        backward = _Backward(ys, xs, stop_gradients, colocate_gradients_with_ops, gate_gradients, aggregation_method)
        backward.start(ys, _default_grad_ys(grad_ys, ys, backward))
        backward.walk()
    with graph.as_default():
        backward.finish()
    return [backward.gradient_of(x, unconnected) for x in xs]


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _default_grad_ys(grad_ys, ys, backward):
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    grad_ys = convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
    result = []
    for i, (y, grad_y) in enumerate(zip(ys, grad_ys, strict=True)):
        with backward.colocated(y.op):
            if grad_y is None:
                if y.dtype.is_complex:
                    raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
                shape = ops.shape(y)
                result.append(ops.fill(shape, ops.constant(1, dtype=y.dtype, name=f"grad_ys_{i}")))
                continue
            _check_grad_type(y, grad_y)
            if isinstance(grad_y, IndexedSlices):
                parts = {"indices": grad_y.indices, "values": grad_y.values, "shape": grad_y.dense_shape}
                named = {
                    key: None if part is None else ops.identity(part, name=f"grad_ys_{i}_{key}")
                    for key, part in parts.items()
                }
                result.append(IndexedSlices(named["values"], named["indices"], named["shape"]))
            else:
                result.append(ops.identity(grad_y, name=f"grad_ys_{i}"))
    return result


def _check_grad_type(y, grad_y):
    def is_real(dtype):
        return dtype.is_floating or dtype.is_integer

    if is_real(y.dtype):
        if not is_real(grad_y.dtype):
            raise TypeError(
                f"Gradient type {grad_y.dtype.name} generated for real or integer-valued tensor {y} with type "
                f"{y.dtype.name} must be real or integer"
            )
    elif y.dtype.is_complex:
        if not grad_y.dtype.is_complex:
            raise TypeError(
                f"Gradient type {grad_y.dtype.name} generated for complex-valued tensor {y} with type "
                f"{y.dtype.name} must be real"
            )
    elif y.dtype.base_dtype not in (dtypes.variant, dtypes.resource):
        raise TypeError(f"Tensor {y} with type {y.dtype.name} must be numeric to obtain a default gradient")


# ---- The walk ---------------------------------------------------------------------------------------------


class _Backward:
    """One call of gradients: the ops between xs and ys, and the gradients collected for their outputs."""

    def __init__(self, ys, xs, stop_gradients, colocate, gate, aggregation_method):
        methods = (
            AggregationMethod.ADD_N,
            AggregationMethod.EXPERIMENTAL_TREE,
            AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
        )
        if aggregation_method is None:
            aggregation_method = AggregationMethod.DEFAULT
        if aggregation_method not in methods:
            raise ValueError(f"Invalid aggregation_method specified {aggregation_method}.")
        self._graph = get_default_graph()
        self._scope = self._graph.get_name_scope()
        self._colocates = colocate
        self._gates = gate
        self._aggregation_method = aggregation_method
        self._to_ops = [y.op for y in ys]
        self._from_ops = [x.op for x in xs]
        self._places = Places(self._graph, xs)
        self._stop_ops = {tensor.op for tensor in stop_gradients}
        self._grads: dict = {}  # op -> for each output a list of gradients, or their sum once it has been made
        self._loops = None
        self._pending: dict = {}  # op -> how many of its consumers' gradients are to come
        self._queue: collections.deque = collections.deque()

    def colocated(self, op):
        """The scope in which the gradient of `op` is built."""
        return self._graph.colocate_with(op) if self._colocates else contextlib.nullcontext()

    def start(self, ys, grad_ys):
        """Finds out what lies between, and begins with the gradients of `ys`."""
        reached = _reached_from(self._from_ops, self._places)
        between = _between(self._to_ops, reached, self._places)
        members = set(between)
        self._loops = loops_between(between, members, self.colocated)
        self._pending = _pending_counts(between, members, self._places)
        for y, grad_y in zip(ys, grad_ys, strict=True):
            self._add(y, grad_y)
        ready = dict.fromkeys(op for op in self._to_ops if self._pending[op] == 0 and op in reached)
        self._queue.extend(ready)
        for tensor in () if self._loops is None else self._loops.unused_exits(self._pending, ready):
            if _is_trainable(tensor):
                self._queue_unused_exit(tensor)
        for op in self._from_ops:
            if not any(self._pending[tensor._op] > 0 for tensor in self._places.inputs(op)):
                self._stop_ops.add(op)

    def walk(self):
        """Builds the gradient of every op between, each when those of all its consumers are there."""
        while self._queue:
            op = self._queue.popleft()
            with self.colocated(op):
                self._visit(op)
            for tensor in self._places.inputs(op):
                self._pending[tensor._op] -= 1
                if self._is_ready(tensor._op):
                    self._enqueue(tensor)

    def finish(self):
        """Adds what loops still miss; TensorFlow does so outside of the scope of gradients."""
        if self._loops is not None:
            self._loops.finish()

    def _is_ready(self, op):
        count = self._pending[op]
        # A loop's variable is gone through at the end of the loop, and again at the end of its rounds.
        return count == 0 or (self._loops is not None and count > 0 and is_loop_switch(op))

    def _enqueue(self, tensor):
        if self._loops is None or not is_loop_exit(tensor._op):
            self._queue.append(tensor._op)
            return
        # A loop is gone through when the gradients of all that leaves it are there.
        state = self._loops.state_of(tensor._op)
        state.deferred_exits.append(tensor)
        state.pending_exits_count -= 1
        if state.pending_exits_count:
            return
        used = [y for y in state.deferred_exits if self._has_gradient(y._op)]
        self._queue.extend(y._op for y in used)
        state.unused_exits.extend(y for y in state.deferred_exits if y not in used)
        for y in state.unused_exits:
            if used and _is_trainable(y):
                self._queue_unused_exit(y)
            else:
                self._queue.append(y._op)

    def _queue_unused_exit(self, tensor):
        """Nothing depends on what leaves a loop there, but the loop is gone through: its gradient is zero."""
        assert self._loops is not None
        self._add(tensor, self._loops.zeros_for_exit(tensor))
        self._queue.append(tensor._op)

    def _has_gradient(self, op):
        return any(grads is not None and (not isinstance(grads, list) or any(grad is not None for grad in grads))
                   for grads in self._grads.get(op, ()))  # fmt: skip

    def _in_loop(self, op, before=False):
        return contextlib.nullcontext() if self._loops is None else self._loops.backward(op, before)

    def _visit(self, op):
        with self._in_loop(op, before=True):
            out_grads = self._aggregated(op)
        has_grads = any(grad is not None for grad in out_grads)
        function = get_gradient_function(op) if has_grads and op not in self._stop_ops else None
        with self._in_loop(op):
            context = op._control_flow_context
            if op._op_def.special == "switch" and context is not None and context.IsWhileContext() and (
                context is self._graph._control_flow_context
            ):  # fmt: skip
                raise self._through_first_value()
            if function is not None:
                self._differentiate(op, function, out_grads)

    def _through_first_value(self):
        """The error for gradients inside of a loop that would go through the rounds before."""
        names = " or ".join(f"'{op.name}'" for op in self._from_ops)
        return ValueError(
            f"Cannot compute gradient inside while loop with respect to op {names}. We do not support taking the "
            "gradient wrt or through the initial value of a loop variable. Gradients can be computed through loop "
            "invariants or wrt the input parameters to the loop body."
        )

    def _differentiate(self, op, function, out_grads):
        takes_zeros, takes_none = (getattr(function, name, False) for name in ("takes_zeros", "takes_none"))
        for i, grad in enumerate(out_grads):
            if grad is None and not takes_none and (takes_zeros or _is_trainable(op._outputs[i])):
                zeros = ops.zeros_like_output if self._loops is None else self._loops.zeros_like_output
                out_grads[i] = zeros(op, i)
        with name_scope(f"{op._name}_grad"), self._graph._original_op(op):
            in_grads = _as_list(self._called(op, function, out_grads))
            if len(in_grads) != len(op._inputs):
                raise ValueError(
                    f"Num gradients {len(in_grads)} generated for op {op.node_def} do not match num inputs "
                    f"{len(op._inputs)}"
                )
            if self._gates and sum(grad is not None for grad in in_grads) > 1:
                with self._graph.device(None), self._graph.colocate_with(None, ignore_existing=True):
                    in_grads = tuple_of(in_grads)
        for i, (tensor, grad) in enumerate(zip(op._inputs, in_grads, strict=True)):
            if grad is not None:
                self._check_shape(op, i, tensor, grad)
                self._add(self._places.outside(tensor), grad)

    def _called(self, op, function, out_grads):
        """What the gradient function returns. Nodes and functions that TensorFlow is to compile pass that on."""
        called = self._graph._functions.get(op.type)
        attrs = op._attrs if called is None else called.attrs
        scope = attrs.get("_XlaScope")
        if scope is None or not attrs.get("_XlaCompile"):
            return function(op, *out_grads)
        if attrs.get("_XlaSeparateCompiledGradients"):
            scope += f"_grad_{self._scope}".encode()
        with self._graph._attr_scope_of({"_XlaCompile": True, "_XlaScope": scope}):
            return function(op, *out_grads)

    @staticmethod
    def _check_shape(op, index, tensor, grad):
        if not isinstance(grad, Tensor) or tensor._dtype.base_dtype is dtypes.resource:
            return
        try:
            grad.set_shape(tensor.shape)
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient.  "
                f"Forward operation: {op.name}.  Input index: {index}. Original input shape: {tensor.shape}.  "
                f"Calculated input gradient shape: {grad.shape}"
            ) from None

    def _add(self, tensor, grad):
        op = tensor.op
        if op not in self._grads:
            self._grads[op] = [[] for _ in op._outputs]
        collected = self._grads[op]
        if isinstance(collected[tensor.value_index], list):
            collected[tensor.value_index].append(grad)
        else:
            collected[tensor.value_index] = grad  # of a loop's variable, at the end of a round

    def gradient_of(self, x, unconnected):
        grads = self._grads.get(x.op)
        if grads is None:
            return _zeros_for(x) if unconnected is UnconnectedGradients.ZERO else None
        return grads[x.value_index]

    # ---- Adding up ------------------------------------------------------------------------------------------

    def _aggregated(self, op):
        """For each output of `op` the sum of its gradients, or None; remembered for gradient_of."""
        collected = self._grads.get(op, [[] for _ in op._outputs])
        for i, grads in enumerate(collected):
            if not isinstance(grads, list):
                continue  # the Switch of a loop's variable, for the second time
            if not all(isinstance(g, (Tensor, IndexedSlices)) for g in grads if g is not None):
                raise TypeError("gradients have to be either all Tensors or all IndexedSlices")
            collected[i] = self._sum(op, grads)
        return list(collected)

    def _sum(self, op, grads):
        if len(grads) < 2:
            return grads[0] if grads else None
        if not all(isinstance(grad, Tensor) for grad in grads if grad is not None):
            return sum_indexed_slices(grads)
        method = self._aggregation_method
        if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and len(grads) > 2 and _has_known_shape(grads):
            return ops.accumulate_n(grads)
        if method != AggregationMethod.EXPERIMENTAL_TREE:
            return self._sum_by_device(grads)
        with name_scope(f"{op._name}_gradient_sum"):
            total = grads[0]
            for grad in grads[1:]:
                total = ops.add_n([total, grad])
            return total

    def _sum_by_device(self, grads):
        by_device = collections.defaultdict(list)
        for grad in grads:
            by_device[grad.device].append(grad)
        sums = []
        for device in sorted(by_device):
            with self._graph.colocate_with(by_device[device][0].op, ignore_existing=True):
                sums.append(ops.add_n(by_device[device]))
        return ops.add_n(sums)


def _is_trainable(tensor):
    return tensor._dtype.base_dtype in _TRAINABLE


def _has_known_shape(grads):
    """Whether the shapes of the gradients, taken together, are fully known."""
    shape = grads[0].shape
    for grad in grads[1:]:
        shape = shape.merge_with(grad.shape)
    return shape.is_fully_defined()


def _zeros_for(x):
    """Zeros shaped as a tensor, or as the variable that it is a handle of."""
    if x._dtype is not dtypes.resource:
        return ops.zeros_like(x)
    return ops.zeros(ops.variable_shape(x), variable_dtype(x))


def sum_indexed_slices(grads):
    """The sum of gradients of which some are IndexedSlices: concatenated, or dense if one is a Tensor."""
    grads = [grad for grad in grads if grad is not None]
    if len(grads) < 2:
        return grads[0] if grads else None
    if any(isinstance(grad, Tensor) for grad in grads):
        return ops.add_n(grads)
    grads = _with_equal_index_types(grads)
    return IndexedSlices(
        ops.concat([grad.values for grad in grads], axis=0),
        ops.concat([grad.indices for grad in grads], axis=0),
        grads[0].dense_shape,
    )


def _with_equal_index_types(slices):
    """The slices with all indices int64 if some are."""
    if all(s.indices.dtype is slices[0].indices.dtype for s in slices):
        return slices
    return [
        IndexedSlices(s.values, ops.cast(s.indices, dtypes.int64), s.dense_shape)
        if s.indices.dtype is dtypes.int32
        else s
        for s in slices
    ]


def _reached_from(from_ops, places):
    """The ops that depend on `from_ops` through tensors that can carry a gradient."""
    reached = set()
    queue = collections.deque(from_ops)
    while queue:
        op = queue.popleft()
        if op not in reached:
            reached.add(op)
            for tensor in op._outputs:
                if tensor._dtype.base_dtype in BACKPROPAGATABLE:
                    queue.extend(places.consumers(tensor))
    return reached


def _between(to_ops, reached, places):
    """The ops between, from the end."""
    between = []
    queue = collections.deque(to_ops)
    left = set(reached)
    while queue:
        op = queue.popleft()
        if op in left:
            between.append(op)
            left.remove(op)
            queue.extend(t._op for t in places.inputs(op))
    return between


def _pending_counts(between, members, places):
    """For each op between, how many of its consumers' gradients are to come."""
    counts: collections.defaultdict = collections.defaultdict(int)
    for op in between:
        for tensor in places.inputs(op):
            if tensor._op in members:
                counts[tensor._op] += 1
    return counts
