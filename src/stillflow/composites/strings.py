"""Strings split into SparseTensors, and joined along dimensions."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
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


@public("string_split")
def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """Strings cut at each character of `sep`, by default at spaces; `delimiter` is its older name.

    Returns a SparseTensor with a row of parts for each string of the vector `source`; "" cuts them into bytes.
    """
    sep = renamed("sep", sep, "delimiter", delimiter)
    delimiter = " " if sep is None else sep
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [source]):
        delimiter = convert_to_tensor(delimiter, dtypes.string)
        source = convert_to_tensor(source, dtypes.string)
        return _sparse(ops.string_split_op(source, delimiter, skip_empty=skip_empty))


@public("strings.split")
def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Strings cut at `sep`, or at white space, as Python's str.split does; `source` is an older name of `input`.

    Returns a SparseTensor with a row of parts for each string of the vector `input`.
    """
    input = renamed("input", input, "source", source)
    _check_result_type(result_type)
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor(input, dtypes.string, name="input")
        if input.shape.rank not in (None, 1):
            raise ValueError(f"input must be a vector of strings, got shape {input.shape}")
        sep = convert_to_tensor("" if sep is None else sep, dtypes.string)
        return _sparse(ops.string_split_v2(input, sep, maxsplit=maxsplit))


@public("reduce_join", "strings.reduce_join")
@dispatched
def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None, reduction_indices=None, keepdims=None):
    """Strings joined over the dimensions `axis`, the first of them fastest; by default over all.

    `keepdims` keeps them with size 1; `keep_dims` and `reduction_indices` are older names.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keepdims = bool(keepdims)
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
