"""Ragged tensors from and to dense tensors, sparse tensors and variants.

The functions that begin with "from" are class methods of RaggedTensor, the others its methods.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse
from stillflow.ragged.segments import as_int_tensor


def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
    """The rows of a dense tensor, as long as they are, or without what stands at their ends.

    Args:
      tensor: of more than `ragged_rank` dimensions.
      lengths: how long each row is, or a list of the lengths in each dimension.
      padding: what stands after a row's own values: one value.
      ragged_rank: how many dimensions are ragged.
      row_splits_dtype: int32 or int64.

    Raises:
      TypeError: for a ragged rank that is no integer.
      ValueError: for both lengths and padding, and ranks that do not fit.
    """
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify lengths or padding, but not both")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")
    with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
        tensor = convert_to_tensor(tensor, name="tensor")
        tensor.shape.with_rank_at_least(ragged_rank + 1)
        shape = ops.shape(tensor, out_type=row_splits_dtype)
        if ragged_rank > 1:
            return _from_inner_rows(cls, tensor, shape, lengths, padding, ragged_rank, row_splits_dtype)
        columns = shape[1]
        if padding is not None:
            lengths = _lengths_before(tensor, padding, columns, row_splits_dtype)
        if lengths is not None:
            is_nested = isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float))
            if is_nested:
                return _from_nested_lengths(cls, tensor, lengths)
            return _from_lengths(cls, tensor, lengths, columns, row_splits_dtype)
        row_count = shape[0]
        count = row_count * columns
        splits = ops.range(row_count + 1) * columns
        values = ops.reshape(tensor, ops.concat([[count], shape[2:]], axis=0))
        return cls.from_row_splits(values, splits, validate=False)


def _from_inner_rows(cls, tensor, shape, lengths, padding, ragged_rank, row_splits_dtype):
    """The outer dimensions become one, whose rows are cut, and are put around again."""
    whole = ops.concat([ops.constant([-1], row_splits_dtype), shape[ragged_rank:]], axis=0)
    values = cls.from_tensor(ops.reshape(tensor, whole), lengths, padding, row_splits_dtype=row_splits_dtype)
    counts = ops.cumprod(shape)
    splits = [ops.range(0, counts[dim - 1] + 1) * shape[dim] for dim in range(1, ragged_rank)]
    return cls.from_nested_row_splits(values, splits, validate=False)


def _lengths_before(tensor, padding, columns, row_splits_dtype):
    """How many values of each row there are up to the last one that is no padding."""
    padding = convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    is_equal = ops.equal(padding, tensor)
    rank = ops.rank(tensor)
    inner = ops.range(2, rank)
    is_padding = ops.cond(rank > 2, lambda: ops.reduce_all(is_equal, axis=inner), lambda: is_equal)
    is_padding.set_shape([None, None])
    is_padding.set_shape(tensor.shape[:2])
    is_value = ops.cast(ops.logical_not(is_padding), row_splits_dtype)
    ends = is_value * ops.expand_dims(ops.range(1, columns + 1), 0)
    return ops.reduce_max(ends, axis=1)


def _from_nested_lengths(cls, tensor, lengths):
    tensor.shape.with_rank_at_least(len(lengths) + 1)
    ones = ops.ones([ops.reduce_sum(lengths[-1])], dtype=dtypes.bool_)
    mask = cls.from_nested_row_lengths(ones, lengths, validate=False).to_tensor(default_value=False)
    return cls.from_nested_row_lengths(ops.boolean_mask(tensor, mask), lengths, validate=False)


def _from_lengths(cls, tensor, lengths, columns, row_splits_dtype):
    lengths = as_int_tensor(lengths, "lengths", row_splits_dtype)
    lengths.shape.assert_has_rank(1)
    lengths = ops.maximum(ops.minimum(lengths, columns), 0)
    splits = ops.concat([ops.zeros([1], row_splits_dtype), ops.cumsum(lengths)], axis=0)
    values = ops.boolean_mask(tensor, ops.sequence_mask(lengths, maxlen=columns))
    return cls.from_row_splits(values, splits, validate=False)


def to_tensor(self, default_value=None, name=None):
    """A dense tensor, as wide as the longest rows, with `default_value`, by default zero or "", after shorter ones.

    Raises ValueError for a default value of another type or of a shape that does not fit.
    """
    with name_scope(name, "RaggedToTensor", [self, default_value]):
        if default_value is not None:
            default_value = convert_to_tensor(default_value, name="default_value", dtype=self.dtype)
        values = self.values
        if isinstance(values, type(self)):
            values = values.to_tensor(default_value)
        if default_value is not None:
            default_value = _of_inner_shape(default_value, values)
        splits_dtype = self.row_splits.dtype
        lengths = self.row_splits[1:] - self.row_splits[:-1]
        rows = ops.shape(self.row_splits, out_type=splits_dtype)[0] - 1
        columns = ops.maximum(ops.reduce_max(lengths), 0)
        shape = ops.shape(values, out_type=splits_dtype)
        if default_value is None:
            default_value = ops.zeros(shape[1:], dtype=values.dtype)
        default_value.shape.assert_is_compatible_with(values.shape[1:])
        default_value.set_shape(values.shape[1:])
        starts = ops.expand_dims(self.row_splits[:-1], 1)
        limits = ops.expand_dims(self.row_splits[1:], 1)
        places = starts + ops.expand_dims(ops.range(0, columns), 0)
        # The default stands behind all values.
        with_default = ops.concat([values, ops.stack([default_value])], axis=0)
        is_value = places < limits
        behind = ops.fill(ops.stack([rows, columns]), shape[0])
        return ops.gather(with_default, ops.where(is_value, places, behind))


def _of_inner_shape(default_value, values):
    """The default value with the shape that values have below their first dimension."""
    rank, own = values.shape.rank, default_value.shape.rank
    if rank is not None:
        default_value.shape.with_rank_at_most(rank - 1)
    if rank is None or own is None or rank != own + 1:
        default_value = ops.broadcast_to(default_value, ops.shape(values)[1:])
    default_value.shape.assert_is_compatible_with(values.shape[1:])
    return default_value


def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
    """The rows of a SparseTensor of two dimensions, whose elements stand at the front of their rows, in order.

    Raises:
      TypeError: for what is no SparseTensor.
      ValueError: for another rank.
    """
    row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if not is_sparse(st_input):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    with name_scope(name, "RaggedFromSparse", [st_input]):
        st_input = convert_to_tensor_or_sparse_tensor(st_input, name="st_input")
        shape, indices = st_input.dense_shape.shape, st_input.indices.shape
        rank_of_shape = None if shape.rank is None else dimension_value(shape[0])
        rank_of_indices = None if indices.rank is None else dimension_value(indices[1])
        if rank_of_shape != 2 and rank_of_indices != 2:
            raise ValueError("rank(st_input) must be 2")
        with get_default_graph().control_dependencies([_assert_in_front(st_input.indices)]):
            rows = ops.cast(st_input.indices[:, 0], row_splits_dtype)
            count = ops.cast(st_input.dense_shape[0], row_splits_dtype)
            return cls.from_value_rowids(st_input.values, rows, count, validate=False)


def _assert_in_front(indices):
    """Asserts that columns count from 0 in each row."""
    rows, columns = indices[:, :-1], indices[:, -1]
    is_new_row = ops.reduce_any(ops.not_equal(rows[1:], rows[:-1]), axis=1)
    is_next = ops.where(is_new_row, ops.equal(columns[1:], 0), ops.equal(columns[1:], columns[:-1] + 1))
    is_right = ops.logical_and(ops.reduce_all(ops.equal(columns[:1], 0)), ops.reduce_all(is_next))
    return checks.assert_that(is_right, ["SparseTensor is not right-ragged", "SparseTensor.indices =", indices])


def to_sparse(self, name=None):
    """A SparseTensor of the values at their places."""
    with name_scope(name, "RaggedToSparse", [self]):
        result = ops.ragged_tensor_to_sparse(list(self.nested_row_splits), self.flat_values, name=name)
        return SparseTensor(*result)


def from_variant(cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, name=None):
    """The ragged tensor that variants, which `to_variant` made, hold, stacked along their dimensions."""
    variant = convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
    rank = variant.shape.rank
    if None not in (rank, input_ragged_rank) and output_ragged_rank != input_ragged_rank + rank:
        raise ValueError(
            "output_ragged_rank must be equal to input_ragged_rank +variant.shape.ndims, found "
            f"variant.shape.ndims: {rank}, input_ragged_rank: {input_ragged_rank}, output_ragged_rank: "
            f"{output_ragged_rank}"
        )
    input_ragged_rank = -1 if input_ragged_rank is None else input_ragged_rank
    with name_scope(name, "RaggedFromVariant", [variant]):
        splits, values = ops.ragged_tensor_from_variant(
            variant, input_ragged_rank, output_ragged_rank, dtype, dtypes.int64, name=name
        )
        return cls.from_nested_row_splits(values, splits, validate=False)


def to_variant(self, batched_input=False, name=None):
    """A variant that holds the ragged tensor; if `batched_input`, one for each row."""
    with name_scope(name, "RaggedToVariant", [self]):
        return ops.ragged_tensor_to_variant(list(self.nested_row_splits), self.flat_values, batched_input, name=name)
