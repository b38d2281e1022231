"""TensorArraySpec: TensorArrays as components of elements."""

from __future__ import annotations

from stillflow.datasets.specs import TensorSpec, TypeSpec, register_values
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.names import public
from stillflow.ops.control_flow.list_tensor_array import ListTensorArray
from stillflow.ops.control_flow.tensor_array import TensorArray


@public("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """A TensorArray of a type and, as far as it is known, of elements of a shape.

    Args:
      element_shape: the shape of the elements; None for unknown.
      dtype: their type.
      dynamic_size: whether writing beyond the end makes it longer.
      infer_shape: whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @staticmethod
    def from_value(value):
        """The specification of a TensorArray. Raises TypeError for anything else."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    @property
    def value_type(self):
        return TensorArray

    @property
    def _rest(self):
        return self._dtype, self._dynamic_size, self._infer_shape

    def is_compatible_with(self, other):
        """Whether a TensorArray, or one of a specification, may be one of this."""
        return super().is_compatible_with(other)

    def _is_compatible(self, other):
        return self._rest == other._rest and self._element_shape.is_compatible_with(other._element_shape)

    def _common(self, other):
        if self._rest != other._rest:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        shape = self._element_shape.most_specific_compatible_shape(other._element_shape)
        return TensorArraySpec(shape, *self._rest)

    def _key(self):
        return self._element_shape.rank, self._element_shape._dims, *self._rest

    def __repr__(self):
        shape, rest = self._element_shape, self._rest
        return f"TensorArraySpec({shape!r}, {rest[0]!r}, {rest[1]!r}, {rest[2]!r})"

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(TensorShape([]), dtypes.variant)]

    def _to_tensor_list(self, value):
        """Its list. Raises ValueError for a TensorArray that does not live longer than its run."""
        if not isinstance(value, ListTensorArray):
            raise ValueError("Legacy style TensorArrays may not be elements of data sets.")
        return [value.flow]

    def _from_tensor_list(self, tensors):
        array = ListTensorArray(
            self._dtype, flow=tensors[0], dynamic_size=self._dynamic_size, infer_shape=self._infer_shape
        )
        array._element_shape = [self._element_shape]
        return array

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)

    def _to_legacy_output_classes(self):
        return TensorArray


register_values(TensorArray, TensorArraySpec.from_value)
