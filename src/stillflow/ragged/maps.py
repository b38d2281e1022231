"""map_fn over ragged tensors: a function of each row, whose results are rows of any length."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.functional import variables_cached_outside
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, match_row_splits_dtypes


@public("python.ops.ragged.ragged_tensor.RaggedTensorType")
class RaggedTensorType:
    """What a function of `map_fn` returns where that is ragged once the rows are put together.

    Args:
      dtype: the type of the values.
      ragged_rank: of the result, one more than that of a row.
      row_splits_dtype: int32 or int64.
    """

    def __init__(self, dtype, ragged_rank, row_splits_dtype=dtypes.int64):
        self.dtype = dtype
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)


class _Parts(NamedTuple):
    """A ragged tensor's parts: tensors, the arrays that collect those of all rows, or their types."""

    flat_values: Any
    nested_row_lengths: tuple
    outer_row_length: Any


@public("python.ops.ragged.ragged_map_ops.map_fn")
def map_fn(
    fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None
):
    """fn(row) for the rows of `elems`, tensors or ragged tensors, side by side; otherwise as tf.map_fn.

    `dtype` has a RaggedTensorType for each result whose rows differ in length; for them `infer_shape` has to be
    False.

    Raises:
      TypeError: for what cannot be called, and for sparse tensors.
      ValueError: for scalars, and results that are not what `dtype` says.
    """
    if not callable(fn):
        raise TypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise TypeError(
            "To perform a map on the values of a sparse tensor use either  SparseTensor(input.indices, "
            "fn(input.values), input.dense_shape) or  SparseTensor(input.indices, map_fn(fn, input.values), "
            "input.dense_shape)"
        )
    is_nested = nest.is_nested(elems)

    def pack(values):
        return nest.pack_sequence_as(elems, values) if is_nested else values[0]

    flat = match_row_splits_dtypes(*(nest.flatten(elems) if is_nested else [elems]))
    with name_scope(name, "map", flat), variables_cached_outside():
        flat = [convert_to_tensor_or_ragged_tensor(elem, name="elem") for elem in flat]
        dtype = dtype or pack([elem.dtype for elem in flat])
        count = _row_count(flat)
        types = nest.flatten(dtype)
        parts = [_parts_of_type(each) for each in types]
        arrays = [
            TensorArray(each, count, dynamic_size=False, infer_shape=infer_shape) for each in nest.flatten(parts)
        ]

        def compute(i, arrays):
            results = nest.flatten(fn(pack([elem[i] for elem in flat])))
            _check_results(results, types)
            tensors = nest.flatten([_parts_of(result, each) for result, each in zip(results, types, strict=True)])
            return i + 1, [array.write(i, tensor) for array, tensor in zip(arrays, tensors, strict=True)]

        _, arrays = while_loop(
            lambda i, _: i < count, compute, (ops.constant(0), arrays), parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=count,
        )  # fmt: skip
        collected = nest.pack_sequence_as(parts, arrays)
        return nest.pack_sequence_as(dtype, [_together(each) for each in collected])


def _row_count(flat):
    if isinstance(flat[0], RaggedTensor):
        return flat[0].nrows(out_type=dtypes.int32)
    if flat[0].shape.rank == 0:
        what = "elems must be a 1+ dimensional Tensor, not a scalar"
        many = "elements in elems must be 1+ dimensional Tensors, not scalars"
        raise ValueError(what if len(flat) == 1 else many)
    return ops.cast(dimension_value(flat[0].shape[0]) or ops.shape(flat[0])[0], dtypes.int32)


def _check_results(results, types):
    if len(results) != len(types):
        raise ValueError(f"Expected {len(types)} results as dtype says, and fn returned {len(results)}")
    for result, wanted in zip(results, types, strict=True):
        if not isinstance(wanted, RaggedTensorType):
            if isinstance(result, RaggedTensor):
                raise ValueError(
                    "The declared return type is not a RaggedTensorType, but fn returned a RaggedTensor. "
                    f"dtype={wanted}, result={result}"
                )
            continue
        rank = result.ragged_rank if isinstance(result, RaggedTensor) else 0
        if rank + 1 != wanted.ragged_rank:
            raise ValueError(f"The declared ragged rank ({wanted.ragged_rank}) mismatches the result ({rank + 1})")


def _parts_of_type(dtype):
    """The types of the parts that results of a type consist of."""
    if not isinstance(dtype, RaggedTensorType):
        return dtype
    return _Parts(dtype.dtype, (dtype.row_splits_dtype,) * (dtype.ragged_rank - 1), dtype.row_splits_dtype)


def _parts_of(result, dtype):
    if not isinstance(dtype, RaggedTensorType):
        return result
    splits_dtype = dtype.row_splits_dtype
    if not isinstance(result, RaggedTensor):
        rows = ops.expand_dims(ops.shape(result, out_type=splits_dtype)[0], 0)
        return _Parts(result, (), rows)
    result = result.with_row_splits_dtype(splits_dtype)
    lengths = tuple(splits[1:] - splits[:-1] for splits in result.nested_row_splits)
    return _Parts(result.flat_values, lengths, ops.expand_dims(result.nrows(), 0))


def _together(arrays):
    """What arrays hold as one tensor or ragged tensor."""
    if not isinstance(arrays, _Parts):
        return arrays.stack()
    values = arrays.flat_values.concat()
    for lengths in reversed((arrays.outer_row_length, *arrays.nested_row_lengths)):
        values = RaggedTensor.from_row_lengths(values, lengths.concat(), validate=False)
    return values
