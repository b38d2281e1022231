"""tf.sets: the elements along the last dimension of tensors, as sets."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor, parts

_TYPES = "validate_indices: bool = true; T: {int8, int16, int32, int64, uint8, uint16, string}"
_OPERATION = f"set_operation: string; {_TYPES}"
_RESULT = "(result_indices: int64, result_values: T, result_shape: int64)"
_VALID_DTYPES = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string,
)  # fmt: skip

set_size_op = define_op(
    "SetSize(set_indices: int64, set_values: T, set_shape: int64) -> (size: int32)",
    _TYPES,
    kernel="set_size(set_indices, set_values, set_shape)",
    differentiable=False,
)
dense_to_dense_set_operation = define_op(
    f"DenseToDenseSetOperation(set1: T, set2: T) -> {_RESULT}",
    _OPERATION,
    kernel="set_operation(set1, set2 | set_operation)",
    differentiable=False,
)
dense_to_sparse_set_operation = define_op(
    f"DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) -> {_RESULT}",
    _OPERATION,
    kernel="set_operation_sparse(set1, set2_indices, set2_values, set2_shape | set_operation)",
    differentiable=False,
)
sparse_to_sparse_set_operation = define_op(
    "SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64) -> {_RESULT}",
    _OPERATION,
    kernel="set_operation_both(set1_indices, set1_values, set1_shape, set2_indices, set2_values, set2_shape | "
    "set_operation)",
    differentiable=False,
)


def _result_of(rank):
    return [(None, rank), (None,), (rank,)]


def _rank_of_sparse(context, first):
    """The rank of a sparse tensor whose parts begin at that input, or None."""
    indices = plain.with_rank(context.shapes[first], 2)
    values = plain.with_rank(context.shapes[first + 1], 1)
    shape = plain.with_rank(context.shapes[first + 2], 1)
    plain.merged_size(indices[0], values[0])
    return plain.merged_size(indices[1], shape[0])


@set_size_op.shape_rule
def _(context):
    return None


@dense_to_dense_set_operation.shape_rule
def _(context):
    a = plain.with_rank_at_least(context.shapes[0], 2)
    if a is None:
        b = plain.with_rank_at_least(context.shapes[1], 2)
        return _result_of(None if b is None else len(b))
    b = plain.with_rank(context.shapes[1], len(a))
    plain.merged(a[:-1], b[:-1])
    return _result_of(len(a))


@dense_to_sparse_set_operation.shape_rule
def _(context):
    rank = _rank_of_sparse(context, 1)
    a = plain.with_rank_at_least(context.shapes[0], 2)
    return _result_of(rank if a is None else plain.merged_size(rank, len(a)))


@sparse_to_sparse_set_operation.shape_rule
def _(context):
    ranks = _rank_of_sparse(context, 0), _rank_of_sparse(context, 3)
    for number, rank in enumerate(ranks):
        if rank is not None:
            if rank < 2:
                raise ShapeError(f"Input {number}, expected rank >= 2, got {rank}.")
            break
    return _result_of(plain.merged_size(*ranks))


# ---- Public functions -------------------------------------------------------------------------------------------


@public("sets.size", "sets.set_size", "contrib.metrics.set_size")
def set_size(a, validate_indices=True):
    """How many different elements there are along the last dimension of a SparseTensor: int32, one dimension less.

    Args:
      a: a SparseTensor of integers or strings, whose entries are in row-major order.
      validate_indices: accepted for compatibility; indices are always checked.

    Raises:
      TypeError: for a dense tensor, or other types.
    """
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.values.dtype.base_dtype not in _VALID_DTYPES:
        raise TypeError(f"Invalid dtype {a.values.dtype}.")
    return set_size_op(*parts(a), validate_indices=validate_indices)


@public("sets.intersection", "sets.set_intersection", "contrib.metrics.set_intersection")
def set_intersection(a, b, validate_indices=True):
    """The elements along the last dimension that are in a and in b; see `set_union`."""
    a, b, _ = _converted(a, b)
    return _operate(a, b, "intersection", validate_indices)


@public("sets.difference", "sets.set_difference", "contrib.metrics.set_difference")
def set_difference(a, b, aminusb=True, validate_indices=True):
    """The elements along the last dimension that are in a and not in b; in b and not in a unless `aminusb`.

    See `set_union`.
    """
    a, b, are_swapped = _converted(a, b)
    return _operate(a, b, "a-b" if bool(aminusb) != are_swapped else "b-a", validate_indices)


@public("sets.union", "sets.set_union", "contrib.metrics.set_union")
def set_union(a, b, validate_indices=True):
    """The elements along the last dimension that are in a or in b.

    Args:
      a, b: tensors or SparseTensors of integers or strings, of one type and one shape except for the last size. The
        entries of a SparseTensor must be in row-major order.
      validate_indices: accepted for compatibility; indices are always checked.

    Returns:
      A SparseTensor, whose last dimension has each row's elements in ascending order.

    Raises:
      TypeError: for other types, or two.
      At run time: tf.errors.InvalidArgumentError for shapes that do not match.
    """
    a, b, _ = _converted(a, b)
    return _operate(a, b, "union", validate_indices)


def _converted(a, b):
    """(a, b, whether they have been swapped so that a sparse one comes last)."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if a.dtype.base_dtype not in _VALID_DTYPES:
        raise TypeError(f"'a' invalid dtype {a.dtype}.")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if b.dtype.base_dtype != a.dtype.base_dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        return b, a, True
    return a, b, False


def _operate(a, b, set_operation, validate_indices):
    options = {"set_operation": set_operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor):
        result = sparse_to_sparse_set_operation(*parts(a), *parts(b), **options)
    elif isinstance(b, SparseTensor):
        result = dense_to_sparse_set_operation(a, *parts(b), **options)
    else:
        result = dense_to_dense_set_operation(a, b, **options)
    return SparseTensor(*result)
