"""histogram_fixed_width_bins: the index of the bin that each value falls into."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value, of `nbins` equal parts of `value_range`; those outside are in the first or the last."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = ops.shape(values)
        values = ops.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        as_float = ops.cast(nbins, values.dtype)
        scaled = ops.truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        indices = ops.floor(as_float * scaled, name="indices")
        clipped = clip_by_value(indices, 0, as_float - 1)
        return ops.reshape(ops.cast(clipped, dtypes.int32), shape)
