"""tf.*: elements masked, reversed, rolled, searched, counted and checked."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import histogram
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes

__all__ = [
    "bincount",
    "boolean_mask",
    "check_numerics",
    "diag",
    "diag_part",
    "ensure_shape",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "meshgrid",
    "reverse",
    "reverse_sequence",
    "reverse_v2",
    "roll",
    "searchsorted",
    "unravel_index",
]


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The parts of `tensor` along the dimensions of `mask`, from `axis` on, where it is true."""
    return ops.boolean_mask(tensor, mask, name, axis)


def reverse(tensor, axis, name=None):
    """`tensor` with the dimensions in the integer vector `axis` turned round."""
    return ops.reverse_v2(tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """`input` with the first seq_lengths[i] elements along `seq_axis` turned round, for each i along `batch_axis`."""
    seq_axis = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    return ops.reverse_sequence(input, seq_lengths, seq_axis, 0 if batch_axis is None else batch_axis, name)


def roll(input, shift, axis, name=None):
    """`input` moved along `axis` by `shift` places; what leaves at one end comes in at the other."""
    return ops.roll(input, shift, axis, name=name)


def diag(diagonal, name=None):
    """Zeros of the shape of `diagonal` twice over, with it on the diagonal."""
    return ops.diag(diagonal, name=name)


def diag_part(input, name=None):
    """The diagonal of a tensor whose shape is one shape twice over."""
    return ops.diag_part(input, name=name)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where each of `values` may be put into its sorted row: before equal elements, or after them (side='right')."""
    return ops.searchsorted(sorted_sequence, values, side, out_type, name)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each integer occurs in `arr`, or the sum of its `weights`."""
    return ops.bincount(arr, weights, minlength, maxlength, dtype)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values lie in each of `nbins` equal parts of `value_range`; those outside are in the first or last."""
    return ops.histogram_fixed_width(values, value_range, nbins, dtype, name)


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """Which of `nbins` equal parts of `value_range` each value lies in; those outside in the first or last."""
    return histogram.histogram_fixed_width_bins(values, value_range, nbins, dtype, name)


def unravel_index(indices, dims, name=None):
    """The coordinates, a row for each dimension, of places counted through an array of shape `dims`."""
    return ops.unravel_index(indices, dims, name=name)


def meshgrid(*args, **kwargs):
    """Tensors with the elements of each vector along its own dimension; `indexing` is "xy" (the default) or "ij".

    Raises TypeError for keyword arguments other than `indexing` and `name`.
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    return ops.meshgrid(*args, indexing=indexing, name=name)


def ensure_shape(x, shape, name=None):
    """`x`, of which `shape` is known from here on; a run in which it has another one fails."""
    return ops.ensure_shape(x, shape, name)


def check_numerics(tensor, message, name=None):
    """`tensor`; a run in which it holds infinities or NaN fails with `message`."""
    return ops.check_numerics(tensor, message, name=name)
