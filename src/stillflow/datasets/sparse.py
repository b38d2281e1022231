"""Sparse tensors as components of elements: each travels as one variant tensor."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.specs import TensorSpec, TypeSpec, register_values
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue


@public("SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """A SparseTensor of a type and, as far as it is known, of a shape.

    Args:
      shape: a TensorShape or what converts to one; None for unknown.
      dtype: the type.
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value):
        """The specification of a SparseTensor or SparseTensorValue. Raises TypeError for anything else."""
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        if not isinstance(value, SparseTensor):
            raise TypeError("Expected SparseTensor or SparseTensorValue")
        return cls(value.shape, value.dtype)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def value_type(self):
        return SparseTensor

    def _is_compatible(self, other):
        return self._dtype.is_compatible_with(other.dtype) and self._shape.is_compatible_with(other.shape)

    def _common(self, other):
        if self._dtype is not other.dtype:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return SparseTensorSpec(self._shape.most_specific_compatible_shape(other.shape), self._dtype)

    def _key(self):
        return self._shape.rank, self._shape._dims, self._dtype

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [ops.serialize_sparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)]

    def _to_batched_tensor_list(self, value):
        if self._shape.merge_with(value.shape).rank == 0:
            raise ValueError("Unbatching a sparse tensor is only supported for rank >= 1")
        return [ops.serialize_many_sparse(value.indices, value.values, value.dense_shape, out_type=dtypes.variant)]

    def _from_tensor_list(self, tensors):
        indices, values, dense_shape = ops.deserialize_sparse(tensors[0], dtype=self._dtype)
        rank = self._shape.rank
        indices.set_shape([None, rank])
        dense_shape.set_shape([rank])
        return SparseTensor(indices, values, dense_shape)

    def _batch(self, size):
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return SparseTensor


register_values(SparseTensor, SparseTensorSpec.from_value)
register_values(SparseTensorValue, SparseTensorSpec.from_value)
