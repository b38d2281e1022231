"""Composite reductions: logsumexp, variance, standard deviation, count_nonzero."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public("reduce_logsumexp", "math.reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """log(sum(exp(x))) over `axis`, or over everything, without overflow."""
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    tensor = convert_to_tensor(input_tensor)
    with name_scope(name, "ReduceLogSumExp", [tensor]):
        largest = ops.reduce_max(tensor, axis, keepdims=True)
        # Where the largest element is infinite, it must not be subtracted from itself.
        is_finite = ops.is_finite(largest)
        offset = ops.stop_gradient(ops.where(is_finite, largest, ops.zeros_like(largest)))
        result = ops.log(ops.reduce_sum(ops.exp(ops.sub(tensor, offset)), axis, keepdims=keepdims))
        if not keepdims:
            offset = ops.reshape(offset, ops.shape(result))
        result = ops.add(result, offset)
        if axis is None and not keepdims:
            result.set_shape(())
        return result


@public("math.reduce_variance")
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean square of the differences from the mean, over `axis`."""
    with name_scope(name or "reduce_variance"):
        means = ops.reduce_mean(input_tensor, axis, keepdims=True)
        deviations = ops.square(input_tensor - means)
        return ops.reduce_mean(deviations, axis, keepdims=keepdims)


@public("math.reduce_std")
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """Standard deviations over `axis`, or over everything."""
    with name_scope(name or "reduce_std"):
        return ops.sqrt(reduce_variance(input_tensor, axis, keepdims))


@public("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value, name=None):
    """The fraction of elements that are zero, a float32 scalar; NaN if there are none."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = ops.size(value, out_type=dtypes.int64)

        def count(dtype):
            with name_scope("count_nonzero", values=[value]):
                zero = ops.zeros([], value.dtype)
                return ops.reduce_sum(ops.cast(ops.not_equal(value, zero), dtype), name="nonzero_count")

        # A count in int32 is quicker, where it is enough.
        nonzero = cond(
            size <= dtypes.int32.max,
            lambda: ops.cast(count(dtypes.int32), dtypes.int64),
            lambda: count(dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = ops.cast(size - nonzero, dtypes.float32)
            fraction = zeros / ops.cast(size, dtypes.float32)
        return ops.identity(fraction, name="fraction")


@public("count_nonzero", "math.count_nonzero")
def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):
    """How many elements along `axis`, or of everything, are not zero, nor empty strings."""
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    input_tensor = renamed("input_tensor", input_tensor, "input", input)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "count_nonzero", [input_tensor]):
        tensor = convert_to_tensor(input_tensor, name="input")
        zero = ops.zeros([], tensor.dtype)
        is_counted = ops.cast(ops.not_equal(tensor, zero), dtypes.int64)
        return ops.cast(ops.reduce_sum(is_counted, axis, keepdims=bool(keepdims)), dtype)
