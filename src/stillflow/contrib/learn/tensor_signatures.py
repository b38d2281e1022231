"""What is known of the features and labels of a model: their types and shapes, from which inputs are made again."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import FixedLenFeature, VarLenFeature, parse_example
from stillflow.composites.sparse import sparse_placeholder
from stillflow.graph import dtypes
from stillflow.graph.shape import as_shape
from stillflow.names import public_module
from stillflow.ops.array.placeholder import placeholder
from stillflow.ops.sparse_tensor import is_sparse

public_module("contrib.learn.python.learn.estimators.tensor_signature")

# What Examples hold of types that they cannot hold.
_IN_EXAMPLES = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}


class _Signature(NamedTuple):
    dtype: dtypes.DType
    shape: Any
    is_sparse: bool


class TensorSignature(_Signature):
    """The type and the shape of a tensor; of a sparse one the type."""

    __slots__ = ()

    def __new__(cls, tensor):
        if is_sparse(tensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.shape, False)

    def is_compatible_with(self, other):
        """Whether tensors of both can be the same, but for how many rows they have."""
        if self.is_sparse != other.is_sparse or not self.dtype.is_compatible_with(other.dtype):
            return False
        return self.is_sparse or _are_alike(self.shape, as_shape(other.shape))

    def get_placeholder(self):
        """A placeholder for it, with any number of rows."""
        if self.is_sparse:
            return sparse_placeholder(dtype=self.dtype)
        return placeholder(dtype=self.dtype, shape=[None, *self.shape[1:]])

    def get_feature_spec(self):
        """What tf.parse_example needs to know of it."""
        dtype = _IN_EXAMPLES.get(self.dtype, self.dtype)
        if self.is_sparse:
            return VarLenFeature(dtype=dtype)
        return FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def _are_alike(first, second):
    if first.dims is None or second.dims is None:
        return True
    if first.ndims != second.ndims:
        return False
    pairs = zip(first.dims[1:], second.dims[1:], strict=True)
    return all(one.is_compatible_with(other) for one, other in pairs)


def tensors_compatible(tensors, signatures):
    """Whether tensors (one, a dict, or None) have signatures; a dict may have more than these."""
    if tensors is None or signatures is None:
        return tensors is None and signatures is None
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if isinstance(tensors, dict):
        return all(
            key in tensors and TensorSignature(tensors[key]).is_compatible_with(signatures[key]) for key in signatures
        )
    return TensorSignature(tensors).is_compatible_with(signatures)


def create_signatures(tensors):
    """The signatures of tensors: one, a dict, or None."""
    if isinstance(tensors, dict):
        return {key: TensorSignature(tensor) for key, tensor in tensors.items()}
    return None if tensors is None else TensorSignature(tensors)


def create_placeholders_from_signatures(signatures):
    """Placeholders for tensors of signatures: one, a dict, or None."""
    if isinstance(signatures, dict):
        return {key: signature.get_placeholder() for key, signature in signatures.items()}
    return None if signatures is None else signatures.get_placeholder()


def create_example_parser_from_signatures(signatures, examples_batch, single_feature_name="feature"):
    """Tensors of signatures, one or a dict, out of serialized Examples.

    Args:
      signatures: the signatures.
      examples_batch: the Examples, a string vector.
      single_feature_name: the name in the Examples of what has none.
    """
    named = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    parsed = parse_example(examples_batch, {key: each.get_feature_spec() for key, each in named.items()})
    for key, signature in named.items():
        if not signature.dtype.is_compatible_with(parsed[key].dtype):
            parsed[key] = ops.cast(parsed[key], signature.dtype)
    return parsed if isinstance(signatures, dict) else parsed[single_feature_name]
