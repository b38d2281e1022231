"""Sparse tensors kept in the session under numbers, so that queues can hold them."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_NAMES = "container: string = ''; shared_name: string = ''"


def _define_add(name, kernel, output, dims):
    op = define_op(
        f"{name}(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> ({output}: int64)",
        f"T: type; {_NAMES}",
        kernel=f"{kernel}(sparse_indices, sparse_values, sparse_shape | container, shared_name, node_name)",
        stateful=True,
        differentiable=False,
    )

    @op.shape_rule
    def _(context):
        for shape, rank in zip(context.shapes, (2, 1, 1), strict=True):
            plain.with_rank(shape, rank)
        return dims

    return op


add_sparse_to_tensors_map = _define_add("AddSparseToTensorsMap", "add_sparse_to_tensors_map", "sparse_handle", ())
add_many_sparse_to_tensors_map = _define_add(
    "AddManySparseToTensorsMap", "add_many_sparse_to_tensors_map", "sparse_handles", (None,)
)
take_many_sparse_from_tensors_map = define_op(
    "TakeManySparseFromTensorsMap(sparse_handles: int64) -> "
    "(sparse_indices: int64, sparse_values: dtype, sparse_shape: int64)",
    f"dtype: type; {_NAMES}",
    kernel="take_many_sparse_from_tensors_map(sparse_handles | container, shared_name, node_name, dtype)",
    stateful=True,
    differentiable=False,
)


@take_many_sparse_from_tensors_map.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    return [(None, None), (None,), (None,)]
