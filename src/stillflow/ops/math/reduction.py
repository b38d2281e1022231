"""Reductions: sums, means, products, extrema, all and any over some axes."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import ShapeError, constant_value
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

_NUMBERS = (
    "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64"
)


def _reduction(name, operation, types=_NUMBERS, **options):
    declared = f"T: {{{types}}}; " if types else ""
    dtype = "T" if types else "bool"
    return define_op(
        f"{name}(input: {dtype}, reduction_indices: Tidx) -> (output: {dtype})",
        f"keep_dims: bool = false; {declared}Tidx: {{int32, int64}} = int32",
        kernel=f"reduce(input, reduction_indices | keep_dims, '{operation}')",
        **options,
    )


sum_op = _reduction("Sum", "sum")
mean_op = _reduction("Mean", "mean")
prod_op = _reduction("Prod", "prod")
max_op = _reduction("Max", "max")
min_op = _reduction("Min", "min")
euclidean_norm = _reduction("EuclideanNorm", "euclidean_norm", differentiable=False)
all_op = _reduction("All", "all", types=None, differentiable=False)
any_op = _reduction("Any", "any", types=None, differentiable=False)


def reduced_dims(dims, axes, keep_dims):
    """The plain shape that is left of `dims`; `axes` is an array of axes, or None when they are unknown.

    Raises ShapeError for an axis that is not there.
    """
    if dims is None:
        return None
    if axes is None:
        return (None,) * len(dims) if keep_dims else None
    rank = len(dims)
    reduced = set()
    for axis in np.atleast_1d(axes).tolist():
        if not -rank <= axis < rank:
            raise ShapeError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
        reduced.add(axis % rank)
    if keep_dims:
        return tuple(1 if i in reduced else size for i, size in enumerate(dims))
    return tuple(size for i, size in enumerate(dims) if i not in reduced)


def reduction_rule(context):
    """The shape rule of reductions: axes are the second input."""
    plain.with_rank_at_most(context.shapes[1], 1)
    return reduced_dims(context.shapes[0], context.value(1), context.attrs["keep_dims"])


for _op in (sum_op, mean_op, prod_op, max_op, min_op, euclidean_norm, all_op, any_op):
    _op.shape_rule(reduction_rule)


@prod_op.folded_value
def _(context):
    return _folded(context, lambda value, **how: np.prod(value, dtype=value.dtype, **how))


@sum_op.folded_value
def _(context):
    return _folded(context, lambda value, **how: np.sum(value, dtype=value.dtype, **how))


@max_op.folded_value
def _(context):
    return _folded(context, np.max)  # there is none of nothing, of which numpy makes an error


@min_op.folded_value
def _(context):
    return _folded(context, np.min)


def _folded(context, function):
    value, axes = context.value(0), context.value(1)
    if value is None or axes is None or not context.attrs["T"].is_integer:
        return None
    axes = tuple(np.atleast_1d(axes).tolist())
    return np.asarray(function(value, axis=axes, keepdims=context.attrs["keep_dims"]))


# ---- Functions --------------------------------------------------------------------------------------------


def reduction_axes(tensor, axis):
    """`axis`, or all axes of `tensor` where it is None."""
    if axis is not None:
        return axis
    if isinstance(tensor, Tensor) and tensor._dims is not None:
        return ops.constant(np.arange(len(tensor._dims)), dtypes.int32)
    return ops.range(0, ops.rank(tensor))  # also for variables and lists of known rank


def _reduced(op, input_tensor, axis, keepdims, name, reduction_indices=None, keep_dims=None):
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    result = op(input_tensor, reduction_axes(input_tensor, axis), keep_dims=keepdims, name=name)
    if not keepdims and axis is None:
        result.set_shape(())
    return result


@public("reduce_sum", "math.reduce_sum")
@dispatched
def reduce_sum(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Sums of elements along axes.

    Args:
      input_tensor: a tensor of numbers.
      axis: an integer, or a list or tensor of integers, in [-rank, rank); None stands for all axes.
      keepdims: whether axes that are summed over stay, with size 1.
      name: a name for the operation.
      reduction_indices, keep_dims: the old names of `axis` and `keepdims`.

    Returns:
      A tensor of the type of `input_tensor`, without the axes; sums of nothing are 0. The order of additions is
      fixed by the shape, so that the number of threads cannot change a bit.

    Raises:
      ValueError: for an axis that is out of range; for an old name beside the new one.
    """
    return _reduced(sum_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("reduce_mean", "math.reduce_mean")
@dispatched
def reduce_mean(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Means of elements along axes; see `reduce_sum` for the arguments.

    The result has the type of `input_tensor`: means of integers are rounded towards zero. Means of nothing are NaN.
    """
    return _reduced(mean_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("reduce_prod", "math.reduce_prod")
@dispatched
def reduce_prod(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Products of elements along axes; see `reduce_sum` for the arguments. Products of nothing are 1."""
    return _reduced(prod_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("reduce_max", "math.reduce_max")
@dispatched
def reduce_max(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The largest elements along axes; see `reduce_sum` for the arguments.

    `input_tensor` holds real numbers. NaN is passed over; of nothing it is the lowest value of the type, -infinity
    of floats.
    """
    return _reduced(max_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("reduce_min", "math.reduce_min")
@dispatched
def reduce_min(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """The smallest elements along axes; see `reduce_sum` for the arguments.

    `input_tensor` holds real numbers. NaN is passed over; of nothing it is the highest value of the type, infinity of
    floats.
    """
    return _reduced(min_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """Roots of the sums of squares over `axis`, or over everything. Has no gradient."""
    return _reduced(euclidean_norm, input_tensor, axis, keepdims, name)


@public("reduce_all", "math.reduce_all")
@dispatched
def reduce_all(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether all elements along axes are true; see `reduce_sum` for the arguments.

    `input_tensor` and the result are bool; of nothing it is True.
    """
    return _reduced(all_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


@public("reduce_any", "math.reduce_any")
@dispatched
def reduce_any(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """Whether any element along axes is true; see `reduce_sum` for the arguments.

    `input_tensor` and the result are bool; of nothing it is False.
    """
    return _reduced(any_op, input_tensor, axis, keepdims, name, reduction_indices, keep_dims)


# ---- Gradients --------------------------------------------------------------------------------------------


@public("python.ops.math_ops.reduced_shape")
def reduced_shape(input_shape, axes):
    """The shape that is left with 1 in the place of each of `axes`, as a tensor computed by the graph."""
    input_shape = ops.cast(input_shape, dtypes.int32)
    axes = ops.cast(axes, dtypes.int32)
    rank = ops.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = ops.shape(axes)
    return ops.dynamic_stitch([ops.range(rank), axes], [input_shape, ops.fill(axes_shape, 1)])


def _safe_shape_div(x, y):
    """x // y for sizes, where 0 // 0 is 0."""
    return x // ops.maximum(y, 1)


@sum_op.gradient
def _(op, grad):
    return _sum_gradient(op, grad), None


def _sum_gradient(op, grad):
    """The gradient repeated over what was summed."""
    source, axes = op._inputs
    dims = source._dims
    known_axes = None if dims is None else constant_value(axes)
    if known_axes is not None:
        if np.array_equal(known_axes, np.arange(len(dims))):
            grad = ops.reshape(grad, [1] * len(dims))
            shape = ops.constant(dims, dtypes.int32) if None not in dims else ops.shape(source)
            return ops.tile(grad, shape)
        if None not in dims:
            kept, repeats = _kept_and_repeated(dims, known_axes)
            return ops.tile(ops.reshape(grad, kept), repeats)
    shape = ops.shape(source)
    with get_default_graph().colocate_with(shape):
        kept = reduced_shape(shape, axes)
        repeats = _safe_shape_div(shape, kept)
    return ops.tile(ops.reshape(grad, kept), repeats)


def _kept_and_repeated(dims, axes):
    """Sizes with 1 in the place of reduced ones, and how often each is repeated; remembered by the graph."""
    cache = get_default_graph().__dict__.setdefault("_reduced_shapes", {})
    key = dims, tuple(axes.reshape(-1).tolist())
    if key not in cache:
        # TensorFlow adds the nodes that compute these to look at their values, once for each key.
        reduced_shape(dims, key[1])
        reduced = {axis % len(dims) for axis in key[1]}
        sizes = tuple(1 if i in reduced else size for i, size in enumerate(dims))
        repeats = tuple(size // max(left, 1) for size, left in zip(dims, sizes, strict=True))
        _safe_shape_div(dims, sizes)
        cache[key] = sizes, repeats
    return cache[key]


@mean_op.gradient
def _(op, grad):
    total = _sum_gradient(op, grad)
    dims, left = op._inputs[0].shape, op._outputs[0].shape
    if dims.is_fully_defined() and left.is_fully_defined():
        factor = ops.constant(dims.num_elements() // max(left.num_elements(), 1), total.dtype)
    else:
        shape, left_shape = ops.shape(op._inputs[0]), ops.shape(op._outputs[0])
        factor = _safe_shape_div(reduce_prod(shape), reduce_prod(left_shape))
    return ops.truediv(total, ops.cast(factor, total.dtype)), None


@max_op.gradient
@min_op.gradient
def _(op, grad):
    """Elements that are equal share the gradient equally."""
    source, axes = op._inputs
    kept = reduced_shape(ops.shape(source), axes)
    extremum = ops.reshape(op._outputs[0], kept)
    grad = ops.reshape(grad, kept)
    chosen = ops.cast(ops.equal(extremum, source), grad.dtype)
    count = ops.reshape(reduce_sum(chosen, axes), kept)
    return ops.divide(chosen, count) * grad, None


@prod_op.gradient
def _(op, grad):
    """The product of all other elements, from running products on both sides: right for zeros too."""
    source, axes = op._inputs
    shape = ops.shape(source)
    axes = ops.reshape(axes, [-1])
    kept = reduced_shape(shape, op._inputs[1])
    repeats = _safe_shape_div(shape, kept)
    grad = ops.tile(ops.reshape(grad, kept), repeats)
    with get_default_graph().device("/cpu:0"):
        rank = ops.rank(source)
        axes = (axes + rank) % rank
        reduced = ops.cast(axes, dtypes.int32)
        index = ops.range(0, rank)
        others, _ = ops.setdiff1d(index, reduced)
        order = ops.concat([reduced, others], 0)
        reduced_count = reduce_prod(ops.gather(shape, reduced))
        other_count = reduce_prod(ops.gather(shape, others))
    permuted = ops.transpose(source, order)
    permuted_shape = ops.shape(permuted)
    columns = ops.reshape(permuted, (reduced_count, other_count))
    left = ops.cumprod(columns, axis=0, exclusive=True)
    right = ops.cumprod(columns, axis=0, exclusive=True, reverse=True)
    products = ops.reshape(ops.conj(left) * ops.conj(right), permuted_shape)
    result = grad * ops.transpose(products, ops.invert_permutation(order))
    return ops.reshape(result, shape), None
