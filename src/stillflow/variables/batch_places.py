"""batch_places: from indices within each of a batch to index tuples."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops.convert import convert_to_tensor


def batch_places(indices):
    """A tensor of the index tuples (i, ..., indices[i, ..., j]), in its last dimension.

    Raises ValueError if the rank of `indices` is not known.
    """
    indices = convert_to_tensor(indices, name="indices")
    shape = ops.shape(indices)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    last = ops.expand_dims(indices, -1)
    columns = []
    for axis in range(rank - 1):
        size = shape[axis]
        sizes = [1] * (rank + 1)
        sizes[axis] = size
        places = ops.reshape(ops.range_op(0, size, 1), sizes)
        if places.dtype.base_dtype is not last.dtype:
            places = ops.cast_op(places, DstT=last.dtype)
        columns.append(places * ops.ones_like(last))
    return ops.concat([*columns, last], axis=-1)
