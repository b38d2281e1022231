"""Strings split into rows of parts: as SparseTensors, or as ragged tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


def _check_result_type(result_type):
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def _sparse(parts):
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def _ragged(parts):
    rowids, count = parts.indices[:, 0], parts.dense_shape[0]
    return RaggedTensor.from_value_rowids(parts.values, rowids, count, validate=False)


@public("string_split")
def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """Strings cut at each character of `sep`, by default at spaces; `delimiter` is its older name.

    Returns a row of parts for each string of the vector `source`, as a SparseTensor, or as a RaggedTensor if
    `result_type` is "RaggedTensor"; "" cuts them into bytes.

    Raises ValueError for another result_type.
    """
    delimiter = renamed("sep", sep, "delimiter", delimiter)
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [source]):
        parts = _split_at_characters(source, delimiter, skip_empty)
        return _ragged(parts) if result_type == "RaggedTensor" else parts


@public("python.ops.string_ops.string_split")
def _split_at_characters(source, sep=None, skip_empty=True, delimiter=None):
    """`string_split` into a SparseTensor, in the scope that there is."""
    delimiter = renamed("sep", sep, "delimiter", delimiter)
    delimiter = convert_to_tensor(" " if delimiter is None else delimiter, dtypes.string)
    source = convert_to_tensor(source, dtypes.string)
    return _sparse(ops.string_split_op(source, delimiter, skip_empty=skip_empty))


@public("strings.split")
def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Strings cut at `sep`, or at white space, as Python's str.split does; `source` is an older name of `input`.

    Returns the parts of each string in one more dimension, as a SparseTensor, or as a RaggedTensor if `result_type`
    is "RaggedTensor": then a vector, for a scalar `input`.

    Raises:
      AttributeError: for a scalar that is to be split into a SparseTensor, as in TensorFlow.
      ValueError: for another result_type.
    """
    input = renamed("input", input, "source", source)
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
        if result_type == "SparseTensor" and input.shape.rank == 1:
            return _parts(input, sep, maxsplit)
        result = _split(input, sep, maxsplit)
        return result if result_type == "RaggedTensor" else result.to_sparse()


@public("python.ops.string_ops.string_split_v2")
def _parts(source, sep=None, maxsplit=-1):
    """`split` of a vector into a SparseTensor, in the scope that there is."""
    sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
    return _sparse(ops.string_split_v2(convert_to_tensor(source, dtypes.string), sep, maxsplit=maxsplit))


def _split(input, sep, maxsplit):
    with name_scope(None, "StringSplit", [input]):
        if is_ragged(input):
            return input.with_flat_values(_split(input.flat_values, sep, maxsplit))
        if input.shape.rank == 0:
            return _split(ops.stack([input]), sep, maxsplit)[0]
        if input.shape.rank in (None, 1):
            return _ragged(_parts(input, sep, maxsplit))
        return _split(RaggedTensor.from_tensor(input), sep, maxsplit)
