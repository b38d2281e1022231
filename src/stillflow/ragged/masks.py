"""Values of ragged tensors chosen by what is true, and rows put into partitions."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.sort import argsort
from stillflow.composites.statistics import count_nonzero
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ragged.arithmetic import reduce_sum
from stillflow.ragged.concatenation import concat
from stillflow.ragged.elementwise import assert_splits_match, map_flat_values
from stillflow.ragged.gathers import gather
from stillflow.ragged.segments import lengths_to_splits, row_splits_to_segment_ids
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, match_row_splits_dtypes


@public("ragged.boolean_mask")
def boolean_mask(data, mask, name=None):
    """What of `data` stands where `mask` is true, in ragged rows: unlike tf.boolean_mask, dimensions are kept.

    Args:
      data: a tensor or ragged tensor, of any type.
      mask: booleans, whose shape is the first dimensions of that of `data`.

    Raises ValueError for a mask that is a scalar, of unknown rank or with other rows.
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool_, name="mask")
        splits_dtype, (data, mask) = match_row_splits_dtypes(data, mask, return_dtype=True)
        rank = mask.shape.rank
        if rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if isinstance(mask, RaggedTensor):
            return _masked_by_ragged(data, mask, splits_dtype)
        if not isinstance(data, RaggedTensor):
            return _masked_dense(data, mask, splits_dtype)
        if rank == 1:
            return _masked_rows(data, mask)
        mask = RaggedTensor.from_tensor(
            mask, ragged_rank=min(data.ragged_rank, rank - 1), row_splits_dtype=data.row_splits.dtype
        )
        return boolean_mask(data, mask)


def _masked_by_ragged(data, mask, splits_dtype):
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=mask.row_splits.dtype)
    pair = [mask.nested_row_splits, data.nested_row_splits[: mask.ragged_rank]]
    with get_default_graph().control_dependencies(assert_splits_match(pair)):
        splits = []
        while isinstance(mask, RaggedTensor):
            if mask.shape.rank > 2:
                splits.append(mask.row_splits)
            else:
                numbers = map_flat_values(ops.cast, mask, dtype=splits_dtype)
                splits.append(lengths_to_splits(reduce_sum(numbers, axis=1)))
            mask, data = mask.values, data.values
        values = boolean_mask(data, mask)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _masked_rows(data, mask):
    splits = lengths_to_splits(ops.boolean_mask(data.row_lengths(), mask))
    of_values = ops.gather(mask, row_splits_to_segment_ids(data.row_splits))
    return RaggedTensor.from_row_splits(boolean_mask(data.values, of_values), splits, validate=False)


def _masked_dense(data, mask, splits_dtype):
    values = ops.boolean_mask(data, mask)
    rank = mask.shape.rank
    if rank < 2:
        return values
    lengths = ops.reshape(count_nonzero(mask, axis=-1, dtype=splits_dtype), [-1])
    values = RaggedTensor.from_row_lengths(values, lengths, validate=False)
    if rank > 2:
        shape = ops.shape(mask, out_type=splits_dtype)
        sizes = ops.cumprod(shape) + 1
        for dim in range(rank - 3, -1, -1):
            splits = ops.range(sizes[dim]) * shape[dim + 1]
            values = RaggedTensor.from_row_splits(values, splits, validate=False)
    return values


@public("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """A ragged tensor of `num_partitions` rows: row i has what of `data` is in partition i.

    Args:
      data: a tensor or ragged tensor.
      partitions: integers from 0 to num_partitions - 1, whose shape is the first dimensions of that of `data`.
      num_partitions: an integer.

    Raises:
      ValueError: for partitions of unknown rank or a shape that does not fit.
      InvalidArgumentError: for partitions out of range, when it runs.
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        splits_dtype = data.row_splits.dtype if isinstance(data, RaggedTensor) else None
        partitions = convert_to_tensor_or_ragged_tensor(partitions, name="partitions", preferred_dtype=splits_dtype)
        num_partitions = convert_to_tensor(num_partitions, name="num_partitions", preferred_dtype=partitions.dtype)
        if splits_dtype is not None:
            partitions = ops.cast(partitions, splits_dtype)
        num_partitions = ops.cast(num_partitions, partitions.dtype)
        rank = partitions.shape.rank
        if rank is None:
            raise ValueError("partitions must have known rank.")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            values, rows = ops.stack([data]), ops.stack([partitions])
            return RaggedTensor.from_value_rowids(values, rows, num_partitions, validate=False)
        if rank == 1:
            return _partitioned_rows(data, partitions, num_partitions)
        return _partitioned_values(data, partitions, num_partitions, rank)


def _partitioned_rows(data, partitions, num_partitions):
    order = argsort(partitions, stable=True)
    rows = ops.gather(partitions, order)
    values = ops.gather(data, order)
    message = "partitions must be less than num_partitions"
    check = checks.assert_less(rows[-1:], num_partitions, message=message)
    with get_default_graph().control_dependencies([check]):
        return RaggedTensor.from_value_rowids(values, rows, num_partitions, validate=False)


def _partitioned_values(data, partitions, num_partitions, rank):
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=partitions.dtype, ragged_rank=1)
    if not isinstance(partitions, RaggedTensor):
        partitions = RaggedTensor.from_tensor(
            partitions, row_splits_dtype=partitions.dtype, ragged_rank=max(data.ragged_rank, rank - 1)
        )
    message = "data and partitions have incompatible ragged shapes"
    check = checks.assert_equal(data.row_splits, partitions.row_splits, message=message)
    with get_default_graph().control_dependencies([check]):
        return stack_dynamic_partitions(data.values, partitions.values, num_partitions)


@public("python.ops.ragged.ragged_where_op.where")
def where(condition, x=None, y=None, name=None):
    """The places of what is true in `condition`; given x and y, values of x where it is true, and of y elsewhere.

    Raises ValueError for one of x and y without the other, and shapes that do not match.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope("RaggedWhere", name, [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _places(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        return _chosen(*match_row_splits_dtypes(condition, x, y))


def _chosen(condition, x, y):
    are_ragged = [isinstance(each, RaggedTensor) for each in (condition, x, y)]
    if not any(are_ragged):
        return ops.where(condition, x, y)
    if all(are_ragged):
        return map_flat_values(ops.where, condition, x, y)
    if are_ragged[0]:
        raise ValueError("Input shapes do not match.")
    # Rows of x and y are chosen, which lie one after the other.
    condition.shape.assert_has_rank(1)
    both = concat([x, y], axis=0)
    splits_dtype = both.row_splits.dtype
    x_rows, y_rows = (
        each.nrows(out_type=splits_dtype)
        if isinstance(each, RaggedTensor)
        else ops.shape(each, out_type=splits_dtype)[0]
        for each in (x, y)
    )
    return gather(both, ops.where(condition, ops.range(x_rows), x_rows + ops.range(y_rows)))


def _places(condition):
    if not isinstance(condition, RaggedTensor):
        return ops.where(condition)
    inner = _places(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    first = inner[:, 0]
    rows = ops.gather(condition.value_rowids(), first)
    columns = first - ops.gather(condition.row_splits, rows)
    return ops.concat([ops.expand_dims(rows, 1), ops.expand_dims(columns, 1), inner[:, 1:]], axis=1)
