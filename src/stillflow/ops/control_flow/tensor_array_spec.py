"""TensorArraySpec: TensorArrays of a type and of elements of a shape."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec, register_type_spec_from_value_converter, type_spec_from_value
from stillflow.names import public
from stillflow.ops.control_flow.list_tensor_array import ListTensorArray
from stillflow.ops.control_flow.tensor_array import TensorArray


@public("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """A TensorArray of a type and, as far as it is known, of elements of a shape. Its list carries it.

    Args:
      element_shape: the shape of the elements; None for unknown.
      dtype: their type.
      dynamic_size: whether writing beyond the end makes it longer.
      infer_shape: whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")
    CLASS_IN_MESSAGES = "TENSOR_ARRAY_SPEC"

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

    def is_compatible_with(self, other):
        """Whether a TensorArray, or one of a specification, may be one of this."""
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_compatible_type(self, other):
        """What is true of both. Raises ValueError if nothing is."""
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        shape = self._element_shape.most_specific_compatible_shape(other._element_shape)
        infer_shape = self._infer_shape and other._infer_shape
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infer_shape)

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        """Its list, which is made of what it holds if it has none. Raises TypeError for no TensorArray."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        if value.flow is not None and value.flow.dtype is dtypes.variant:
            return [value.flow]
        with name_scope("convert_tensor_array"):
            return [ops.tensor_list_from_tensor(value.stack(), value.element_shape)]

    def _from_components(self, components):
        array = ListTensorArray(
            self._dtype, flow=components[0], dynamic_size=self._dynamic_size, infer_shape=self._infer_shape
        )
        array._element_shape = [self._element_shape]
        return array

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)

    def _to_legacy_output_classes(self):
        return TensorArray


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)
