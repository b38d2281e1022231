"""Sparse tensors on their way through a queue: it holds the numbers under which the session keeps them."""

from __future__ import annotations

from dataclasses import dataclass

from stillflow import ops
from stillflow.composites.sparse import sparse_retain
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation
from stillflow.graph.shape import dimension_value
from stillflow.ops.control_flow.cond import cond, smart_constant_value
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse, parts


@dataclass
class Stored:
    """How the sparse tensors of a component are kept."""

    store_op: Operation  # the first that keeps one: the others have its map
    rank: int | None  # of a batch


def store_sparse(tensors_list, enqueue_many, keep_input):
    """The tensors with numbers in the places of sparse ones, and a Stored, or None, for each component.

    Raises TypeError for a component that is sparse in some of the lists alone.
    """
    first = tensors_list[0]
    for tensors in tensors_list[1:]:
        for tensor, other in zip(tensors, first, strict=False):
            if is_sparse(tensor) != is_sparse(other):
                raise TypeError(f"Expected all or none to be sparse: {tensor} and {other}.")
    stored: list = [None] * len(first)
    result = []
    for tensors in tensors_list:
        numbered = []
        for i, tensor in enumerate(tensors):
            if is_sparse(tensor):
                number, op = _store(tensor, enqueue_many, keep_input, stored[i])
                if stored[i] is None:
                    rank = dimension_value(tensor.dense_shape.shape.with_rank(1)[0])
                    batch_rank = rank if enqueue_many or rank is None else rank + 1
                    stored[i] = Stored(op, batch_rank)
                tensor = ops.expand_dims(number, [-1])
            numbered.append(tensor)
        result.append(numbered)
    return result, stored


def _store(sparse, enqueue_many, keep_input, known):
    """The number of a sparse tensor, or those of its rows, and the operation that keeps it."""
    shared_name = None if known is None else known.store_op.name
    store_ops = []

    def store():
        build = ops.add_many_sparse_to_tensors_map if enqueue_many else ops.add_sparse_to_tensors_map
        number = build(*parts(sparse), shared_name=shared_name)
        store_ops.append(number.op)
        return number

    if keep_input.shape.ndims == 1:
        rows = ops.gather(keep_input, sparse.indices[:, 0])
        sparse = sparse_retain(sparse, rows)
        return store(), store_ops[0]
    if smart_constant_value(keep_input) is not None:
        return store(), store_ops[0]

    def nothing():
        if not enqueue_many:
            return ops.constant(-1, dtypes.int64)
        return -1 * ops.ones(ops.shape(sparse)[0:1], dtypes.int64)

    return cond(keep_input, store, nothing), store_ops[0]


def restore_sparse(tensors, stored):
    """A batch with sparse tensors in the places of their numbers."""
    return [tensor if kept is None else _restore(tensor, kept) for tensor, kept in zip(tensors, stored, strict=True)]


def _restore(numbers, kept):
    return take_sparse(kept.store_op, ops.squeeze(numbers, [1]), kept.rank)


def take_sparse(store_op, numbers, rank=None):
    """The sparse tensor of rank `rank` whose rows the operation `store_op` keeps under these numbers, a vector."""
    with get_default_graph().colocate_with(store_op):
        indices, values, shape = ops.take_many_sparse_from_tensors_map(
            numbers,
            dtype=store_op.get_attr("T"),
            container=store_op.get_attr("container"),
            shared_name=store_op.get_attr("shared_name") or store_op.name,
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
