"""ConditionalAccumulator and its kin: sums of gradients that wait until there are enough of them.

Those of dense gradients come twice, as in TensorFlow: with a handle that is a reference to two strings, and with a
resource. Those of sparse ones have the first alone.
"""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle
from stillflow.ops.registry import define_op

_TYPES = (
    "dtype: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}"
)
_HANDLES = {"": "Ref(string)", "Resource": "resource"}


def _make(name, handle, version, is_sparse):
    op = define_op(
        f"{name}() -> (handle: {handle})",
        f"{_TYPES}; shape: shape; container: string = ''; shared_name: string = ''; "
        "reduction_type: {'MEAN', 'SUM'} = 'MEAN'",
        kernel=f"make_accumulator(| {HANDLES[version]}, container, shared_name, node_name, dtype, shape, "
        f"reduction_type, {str(is_sparse).lower()})",
        state="op",
        stateful=True,
        differentiable=None,
    )
    op.shape_rule(shape_of_handle)
    return op


conditional_accumulator = _make("ConditionalAccumulator", "Ref(string)", 1, False)
resource_conditional_accumulator = _make("ResourceConditionalAccumulator", "resource", 2, False)
sparse_conditional_accumulator = _make("SparseConditionalAccumulator", "Ref(string)", 1, True)


def _both(name, inputs, outputs, attrs, kernel, rule, traits=""):
    """The op for handles that are references, and that for resources."""
    found = []
    for prefix, handle in _HANDLES.items():
        op = define_op(
            f"{prefix}{name}(handle: {handle}{inputs}) -> ({outputs})",
            attrs,
            kernel=kernel,
            stateful=prefix == "Resource",
            differentiable=None,
            traits=traits,
        )
        op.shape_rule(rule)
        found.append(op)
    return found


def _check_step(context):
    plain.with_rank(context.shapes[1], 0)
    return []


def _check_count(context):
    """What the gradient's shape is, tf.ConditionalAccumulator sets."""
    plain.with_rank(context.shapes[1], 0)
    return


accumulator_apply_gradient, resource_accumulator_apply_gradient = _both(
    "AccumulatorApplyGradient",
    ", local_step: int64, gradient: dtype",
    "",
    _TYPES,
    "accumulator_apply(handle, local_step, gradient)",
    _check_step,
)
accumulator_take_gradient, resource_accumulator_take_gradient = _both(
    "AccumulatorTakeGradient",
    ", num_required: int32",
    "average: dtype",
    _TYPES,
    "accumulator_take(handle, num_required | dtype)",
    _check_count,
    traits="waits",
)
accumulator_set_global_step, resource_accumulator_set_global_step = _both(
    "AccumulatorSetGlobalStep",
    ", new_global_step: int64",
    "",
    "",
    "accumulator_set_step(handle, new_global_step)",
    _check_step,
)
accumulator_num_accumulated, resource_accumulator_num_accumulated = _both(
    "AccumulatorNumAccumulated",
    "",
    "num_accumulated: int32",
    "",
    "accumulator_count(handle)",
    lambda context: (),
)
sparse_accumulator_apply_gradient = define_op(
    "SparseAccumulatorApplyGradient(handle: Ref(string), local_step: int64, gradient_indices: int64, "
    "gradient_values: dtype, gradient_shape: int64) -> ()",
    f"{_TYPES}; has_known_shape: bool",
    kernel="sparse_accumulator_apply(handle, local_step, gradient_indices, gradient_values, gradient_shape | "
    "has_known_shape)",
    differentiable=None,
)
sparse_accumulator_apply_gradient.shape_rule(_check_step)
sparse_accumulator_take_gradient = define_op(
    "SparseAccumulatorTakeGradient(handle: Ref(string), num_required: int32) -> (indices: int64, values: dtype, "
    "shape: int64)",
    _TYPES,
    kernel="sparse_accumulator_take(handle, num_required | dtype)",
    differentiable=None,
    traits="waits",
)


@sparse_accumulator_take_gradient.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    return [None, None, None]
