"""Sparse sequences and contexts on their way through a barrier, which holds numbers for their rows."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse, parts
from stillflow.training.stored_sparse import take_sparse

# Begins the name of a sequence that is a sparse context.
_CONTEXT = "_context_in_seq_"


def contexts_as_sequences(context, sequences, num_unroll):
    """(context, sequences): the dictionaries with sparse contexts among the sequences, one copy for each segment."""
    length = ops.constant(1)
    if sequences:
        first = next(iter(sequences.values()))
        if is_sparse(first):
            length = first.dense_shape[0]
        else:
            with control_dependencies([first]):
                length = ops.shape(first)[0]
    length = ops.cast(length, dtypes.int64)
    sparse = {key: as_sparse_tensor(context[key]) for key in sorted(context) if is_sparse(context[key])}
    moved = {_CONTEXT + key: _repeated(value, length, num_unroll) for key, value in sparse.items()}
    return {key: value for key, value in context.items() if key not in sparse}, {**sequences, **moved}


def _repeated(sparse, length, num_unroll):
    """A sparse tensor of shape [length, ...] that has `sparse` in the first row of each segment."""
    count = ops.cast(length // num_unroll, dtypes.int32)
    values = ops.tile(sparse.values, ops.expand_dims(count, 0))
    shape = ops.concat([ops.expand_dims(length, 0), sparse.dense_shape], 0)
    copies = ops.tile(ops.expand_dims(sparse.indices, 0), ops.stack([count, 1, 1]))
    rows, columns = ops.shape(sparse.indices)[0], ops.shape(sparse.indices)[1]
    begins = ops.range(0, length, num_unroll)
    begins = ops.tile(ops.expand_dims(ops.expand_dims(begins, 1), 2), [1, rows, 1])
    indices = ops.reshape(ops.concat([begins, copies], 2), [rows * count, columns + 1])
    return SparseTensor(indices, values, shape)


def sequences_as_contexts(context, sequences):
    """Moves what `contexts_as_sequences` moved back, in the dictionaries of a batch."""
    for key in sorted(key for key in sequences if key.startswith(_CONTEXT)):
        sparse = sequences.pop(key)
        # All is in the first of the steps, so that there may be a single one.
        batch, rest = sparse.dense_shape[0], sparse.dense_shape[2:]
        sparse = SparseTensor(sparse.indices, sparse.values, ops.concat([[batch], [1], rest], 0))
        shape = ops.concat([[sparse.dense_shape[0]], sparse.dense_shape[2:]], 0)
        context[key.removeprefix(_CONTEXT)] = ops.sparse_reshape(sparse, shape)


@public("contrib.training.python.training.sequence_queueing_state_saver._deconstruct_sparse_tensor_seq")
def store(input_sequence, shared_name=None):
    """(sequences, keys, operations): sequences with numbers for the rows of sparse ones, and which these are.

    Args:
      input_sequence: a dictionary of tensors and sparse ones.
      shared_name: the name under which the session keeps them; that of the operation if there is none.
    """
    keys = [key for key in sorted(input_sequence) if is_sparse(input_sequence[key])]
    if not keys:
        return input_sequence, None, []
    numbers = {
        key: ops.add_many_sparse_to_tensors_map(
            *parts(as_sparse_tensor(input_sequence[key])), shared_name=shared_name
        )
        for key in keys
    }
    return {**input_sequence, **numbers}, keys, [number.op for number in numbers.values()]


@public("contrib.training.python.training.sequence_queueing_state_saver._reconstruct_sparse_tensor_seq")
def restore(sequence, sparse_tensor_keys, tensor_op_list, batch_size, num_unroll):
    """Puts sparse tensors [batch, steps, ...] in the places of their numbers, in the dictionary `sequence`.

    Args:
      sequence: the dictionary; numbers are tensors [batch, steps].
      sparse_tensor_keys, tensor_op_list: what `store` gave.
      batch_size: how many segments there are, a number or an int32 scalar.
      num_unroll: how many steps a segment has.
    """
    if not sparse_tensor_keys:
        return
    rows = [
        take_sparse(op, ops.reshape(sequence[key], [-1]))
        for op, key in zip(tensor_op_list, sparse_tensor_keys, strict=True)
    ]
    steps = convert_to_tensor(num_unroll, dtype=dtypes.int64, name="num_unroll_int64")
    for key, sparse in zip(
        sparse_tensor_keys, [_with_steps(sparse, batch_size, steps) for sparse in rows], strict=True
    ):
        sequence[key] = sparse


def _with_steps(sparse, batch_size, steps):
    """A sparse tensor [batch * steps, ...] as [batch, steps, ...]."""
    batch = ops.cast(ops.floor(sparse.indices[:, 0] / steps), dtypes.int64)
    step = ops.floor_mod(sparse.indices[:, 0], steps)
    indices = ops.concat([ops.expand_dims(batch, 1), ops.expand_dims(step, 1), sparse.indices[:, 1:]], axis=1)
    sizes = [[ops.cast(batch_size, dtypes.int64)], [ops.cast(steps, dtypes.int64)], sparse.dense_shape[1:]]
    return SparseTensor(indices, sparse.values, ops.concat(sizes, axis=0))
