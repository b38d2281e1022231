"""Strings split into SparseTensors, and joined along dimensions."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor

_RESULT_TYPES = ("SparseTensor", "RaggedTensor")


def _check_result_type(result_type):
    if result_type not in _RESULT_TYPES:
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    if result_type == "RaggedTensor":
        raise ValueError("There are no ragged tensors here: take result_type='SparseTensor'.")


def _sparse(parts):
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_split(source, delimiter=" ", skip_empty=True, result_type="SparseTensor", name=None):
    """Strings cut at each character of `delimiter`, or into bytes if that is empty.

    Args:
      source: a string vector.
      delimiter: a string scalar.
      skip_empty: whether to leave out parts without characters.
      result_type: "SparseTensor".

    Returns:
      A SparseTensor with a row of parts for each string.

    Raises ValueError for another `result_type`, and for a `source` that is no vector.
    """
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [source]):
        delimiter = convert_to_tensor(delimiter, dtypes.string)
        source = convert_to_tensor(source, dtypes.string)
        return _sparse(ops.string_split_op(source, delimiter, skip_empty=skip_empty))


def split(input, sep=None, maxsplit=-1, result_type="SparseTensor", name=None):
    """Strings cut at `sep`, or at white space, as Python's str.split does.

    Args:
      input: a string vector.
      sep: a string scalar; None or "" for white space.
      maxsplit: how many cuts at most; any number if negative.
      result_type: "SparseTensor".

    Returns:
      A SparseTensor with a row of parts for each string.

    Raises ValueError for another `result_type`, and for an `input` that is no vector.
    """
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor(input, dtypes.string, name="input")
        if input.shape.rank not in (None, 1):
            raise ValueError(f"input must be a vector of strings, got shape {input.shape}")
        sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
        return _sparse(ops.string_split_v2(input, sep, maxsplit=maxsplit))


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Strings joined over dimensions.

    Args:
      inputs: a string tensor.
      axis: the dimensions to join over, the first of them fastest; by default all, the last of them fastest.
      keepdims: whether to keep them, with size 1.
      separator: what to put between two strings.

    Raises ValueError for dimensions that are not there; at run time tf.errors.InvalidArgumentError for one twice.
    """
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
