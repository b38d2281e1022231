"""Strings joined along dimensions."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched


@public("reduce_join", "strings.reduce_join", "python.ops.string_ops.reduce_join")
@dispatched
def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Strings joined over the dimensions `axis`, the first of them fastest; by default over all.

    `keepdims` keeps them with size 1; `keep_dims` and `reduction_indices` are older names.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(keepdims)
    with name_scope(None, "ReduceJoin", [inputs]):
        inputs = convert_to_tensor(inputs)
        if axis is None:
            axis = _all_dimensions(inputs)
        return ops.reduce_join_op(inputs, axis, keep_dims=bool(keepdims), separator=separator, name=name)


def _all_dimensions(inputs):
    """The last one first."""
    rank = inputs.shape.rank
    if rank is not None:
        return ops.constant(list(range(rank - 1, -1, -1)), dtypes.int32)
    return ops.range(ops.rank(inputs) - 1, -1, -1)
