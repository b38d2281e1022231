"""meshgrid: coordinates in one dimension each, repeated over all others."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _meshgrid(*args, indexing="xy", name="meshgrid"):
    """A list of tensors, one for each vector, that hold its elements along its own dimension of the grid.

    With "xy", the first two dimensions are exchanged. Raises ValueError for any other `indexing` than "xy" and "ij".
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        rank = len(args)
        parts = []
        for i, arg in enumerate(args):
            parts.append(ops.reshape(ops.stack(arg), (1,) * i + (-1,) + (1,) * (rank - i - 1)))
        shapes = [ops.size(arg) for arg in args]
        output_dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and rank > 1:
            parts[0] = ops.reshape(parts[0], (1, -1) + (1,) * (rank - 2))
            parts[1] = ops.reshape(parts[1], (-1, 1) + (1,) * (rank - 2))
            shapes[0], shapes[1] = shapes[1], shapes[0]
        everywhere = ops.ones(shapes, output_dtype)
        return [part * everywhere for part in parts]


@public("meshgrid")
def meshgrid(*args, **kwargs):
    """Tensors with the elements of each vector along its own dimension; `indexing` is "xy" (the default) or "ij".

    Raises TypeError for keyword arguments other than `indexing` and `name`.
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    return _meshgrid(*args, indexing=indexing, name=name)
