"""The ways to say where rows begin and end: each makes a ragged tensor of values.

These are class methods of RaggedTensor, which is their first argument.
"""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks, rank_checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.convert import convert_to_tensor
from stillflow.ragged.segments import SPLITS_TYPES


def _check_validate(validate):
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _row_count(values, out_type=dtypes.int32):
    return values.nrows(out_type=out_type) if hasattr(values, "nrows") else ops.shape(values, out_type=out_type)[0]


def _assert_ascending(tensor, message):
    return checks.assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _assert_zero(tensor, message):
    return checks.assert_equal(tensor, ops.constant(0, dtype=tensor.dtype), message=message)


def _checked(cls, values, partition, made):
    """The partition, once the assertions and one about the values hold."""
    if not isinstance(values, cls):
        made.append(rank_checks.assert_rank_at_least(values, 1))
    return ops.with_dependencies(made, partition)


def _converted(cls, values, partition, name):
    """Values and what divides them, as tensors. Raises ValueError for types that do not fit."""
    if isinstance(values, cls):
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, values.row_splits.dtype, name=name)
        if partition.dtype not in SPLITS_TYPES:
            raise ValueError(f"{name} must have dtype int32 or int64")
        if values.row_splits.dtype != partition.dtype:
            raise ValueError(
                f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits ({values.row_splits.dtype})"
            )
        return values, partition
    values = convert_to_tensor(values, name="values")
    if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        partition = convert_to_tensor(partition, name=name)
    else:
        partition = convert_to_tensor(partition, preferred_dtype=dtypes.int64, name=name)
    if partition.dtype not in SPLITS_TYPES:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return values, partition


def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
    """Rows of values, each of which says what row it is in.

    Args:
      values: a tensor or ragged tensor, [n, ...].
      value_rowids: int32 or int64 [n], in ascending order.
      nrows: how many rows there are; by default up to the last one that has values.
      validate: whether to check that when it runs.

    Raises:
      TypeError: for types that cannot be those of a partition.
      ValueError: for rows that do not fit.
    """
    _check_validate(validate)
    with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
        values, value_rowids = _converted(cls, values, value_rowids, "value_rowids")
        nrows, known_count = _count_of_rows(value_rowids, nrows)
        value_rowids.shape.assert_has_rank(1)
        nrows.shape.assert_has_rank(0)
        values.shape[:1].assert_is_compatible_with(value_rowids.shape)
        if validate:
            message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
            counts = _row_count(values), _row_count(value_rowids)
            made = [
                rank_checks.assert_rank(value_rowids, 1, message=message),
                rank_checks.assert_rank(nrows, 0, message=message),
                checks.assert_equal(*counts, message=message),
                checks.assert_non_negative(value_rowids[:1], message=message),
                _assert_ascending(value_rowids, message),
                checks.assert_less(value_rowids[-1:], nrows, message=message),
            ]
            value_rowids = _checked(cls, values, value_rowids, made)
        rowids, count = ops.cast(value_rowids, dtypes.int32), ops.cast(nrows, dtypes.int32)
        lengths = ops.bincount(rowids, minlength=count, maxlength=count, dtype=value_rowids.dtype)
        splits = ops.concat([[0], ops.cumsum(lengths)], axis=0)
        if known_count is not None:
            lengths.set_shape([known_count])
            splits.set_shape([known_count + 1])
        return cls(values, splits, lengths, value_rowids, nrows, internal=True)


def _count_of_rows(value_rowids, nrows):
    """How many rows there are, as a tensor and, where it is known, as a number."""
    rows = constant_value(value_rowids)
    if nrows is None:
        if rows is None:
            return ops.concat([value_rowids[-1:], [-1]], axis=0)[0] + 1, None
        known = int(rows[-1]) + 1 if rows.size else 0
        return convert_to_tensor(known, value_rowids.dtype, name="nrows"), known
    nrows = convert_to_tensor(nrows, value_rowids.dtype, "nrows")
    known = constant_value(nrows)
    if known is None:
        return nrows, None
    if np.ndim(known) == 0:
        if known < 0:
            raise ValueError(f"Expected nrows >= 0; got {known}")
        if rows is not None and rows.size and known <= rows[-1]:
            raise ValueError(
                f"Expected nrows >= value_rowids[-1] + 1; got nrows={known}, value_rowids[-1]={rows[-1]}"
            )
        known = int(known)
        return nrows, known
    return nrows, None  # which is refused for its rank


def from_row_splits(cls, values, row_splits, name=None, validate=True):
    """Rows of values: row i is values[row_splits[i]:row_splits[i + 1]].

    Args:
      values: a tensor or ragged tensor, [n, ...].
      row_splits: int32 or int64 [rows + 1], in ascending order from 0 to n.
      validate: whether to check that when it runs.

    Raises:
      TypeError: for types that cannot be those of splits.
      ValueError: for no splits, and splits that are no vector.
    """
    _check_validate(validate)
    if isinstance(row_splits, (list, tuple)) and not row_splits:
        raise ValueError("row_splits tensor may not be empty.")
    with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
        values, row_splits = _converted(cls, values, row_splits, "row_splits")
        row_splits.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_splits do not form a valid RaggedTensor"
            count = _row_count(values, row_splits.dtype)
            made = [
                rank_checks.assert_rank(row_splits, 1, message=message),
                _assert_zero(row_splits[0], message),
                _assert_ascending(row_splits, message),
                checks.assert_equal(row_splits[-1], count, message=message),
            ]
            row_splits = _checked(cls, values, row_splits, made)
        return cls(values, row_splits, internal=True)


def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
    """Rows of values, of these lengths: int32 or int64 [rows], that add up to the number of values.

    Raises:
      TypeError: for types that cannot be those of lengths.
      ValueError: for lengths that are no vector.
    """
    _check_validate(validate)
    with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
        values, row_lengths = _converted(cls, values, row_lengths, "row_lengths")
        row_lengths.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_lengths do not form a valid RaggedTensor"
            total, count = ops.reduce_sum(row_lengths), _row_count(values, row_lengths.dtype)
            made = [
                rank_checks.assert_rank(row_lengths, 1, message=message),
                checks.assert_non_negative(row_lengths, message=message),
                checks.assert_equal(total, count, message=message),
            ]
            row_lengths = _checked(cls, values, row_lengths, made)
        splits = ops.concat([[0], ops.cumsum(row_lengths)], axis=0)
        return cls(values, splits, row_lengths, internal=True)


def from_row_starts(cls, values, row_starts, name=None, validate=True):
    """Rows of values that begin at these places: int32 or int64 [rows], in ascending order from 0 on.

    Raises:
      TypeError: for types that cannot be those of places.
      ValueError: for places that are no vector.
    """
    _check_validate(validate)
    with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
        values, row_starts = _converted(cls, values, row_starts, "row_starts")
        row_starts.shape.assert_has_rank(1)
        count = _row_count(values, row_starts.dtype)
        if validate:
            message = "Arguments to from_row_starts do not form a valid RaggedTensor"
            made = [
                rank_checks.assert_rank(row_starts, 1, message=message),
                _assert_zero(row_starts[:1], message),
                _assert_ascending(row_starts, message),
                checks.assert_less_equal(row_starts[-1:], count, message=message),
            ]
            row_starts = _checked(cls, values, row_starts, made)
        return cls(values, ops.concat([row_starts, [count]], axis=0), internal=True)


def from_row_limits(cls, values, row_limits, name=None, validate=True):
    """Rows of values that end before these places: int32 or int64 [rows], in ascending order.

    Raises:
      TypeError: for types that cannot be those of places.
      ValueError: for places that are no vector.
    """
    _check_validate(validate)
    with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
        values, row_limits = _converted(cls, values, row_limits, "row_limits")
        row_limits.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_limits do not form a valid RaggedTensor"
            count = _row_count(values, row_limits.dtype)
            made = [
                rank_checks.assert_rank(row_limits, 1, message=message),
                checks.assert_non_negative(row_limits[:1], message=message),
                _assert_ascending(row_limits, message),
                checks.assert_equal(row_limits[-1:], count, message=message),
            ]
            row_limits = _checked(cls, values, row_limits, made)
        zero = ops.zeros([1], row_limits.dtype)
        return cls(values, ops.concat([zero, row_limits], axis=0), internal=True)


# ---- Several dimensions at once -------------------------------------------------------------------------------


def _check_list(values, name):
    if isinstance(values, Tensor):
        raise TypeError(f"{name} must be a list of Tensors")


def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
    """Rows of rows: from_value_rowids once for each of the lists, the last one innermost.

    Raises:
      TypeError: for what is no list.
      ValueError: for lists of different lengths.
    """
    _check_validate(validate)
    _check_list(nested_value_rowids, "nested_value_rowids")
    if nested_nrows is None:
        nested_nrows = [None] * len(nested_value_rowids)
    _check_list(nested_nrows, "nested_nrows")
    if len(nested_nrows) != len(nested_value_rowids):
        raise ValueError("nested_nrows must have the same length as nested_value_rowids")
    with name_scope(name, "RaggedFromNestedValueRowIds", [flat_values, *nested_value_rowids, *nested_nrows]):
        result = flat_values
        for rowids, count in reversed(list(zip(nested_value_rowids, nested_nrows, strict=True))):
            result = cls.from_value_rowids(result, rowids, count, validate=validate)
        return result


def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
    """Rows of rows: from_row_splits once for each of the list, the last one innermost.

    Raises TypeError for what is no list.
    """
    _check_validate(validate)
    _check_list(nested_row_splits, "nested_row_splits")
    with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)


def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
    """Rows of rows: from_row_lengths once for each of the list, the last one innermost.

    Raises TypeError for what is no list.
    """
    _check_validate(validate)
    _check_list(nested_row_lengths, "nested_row_lengths")
    with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)


def _nested(make, values, parts, validate):
    for part in reversed(parts):
        values = make(values, part, validate=validate)
    return values
