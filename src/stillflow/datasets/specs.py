"""DatasetSpec: data sets as components of elements."""

from __future__ import annotations

from typing import Any

from stillflow.graph import dtypes
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import BatchableTypeSpec
from stillflow.ops.convert import convert_to_tensor


class NestedVariant(CompositeTensor):
    """Several data sets in a tensor."""

    def __init__(self, variant_tensor, element_spec, dataset_shape):
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._dataset_shape = dataset_shape

    @property
    def _type_spec(self):
        return DatasetSpec(self._element_spec, self._dataset_shape)


class DatasetSpec(BatchableTypeSpec):
    """A data set, or a tensor of them. A variant carries it.

    Args:
      element_spec: what its elements are.
      dataset_shape: the shape of the tensor that holds data sets.
    """

    __slots__ = ("_dataset_shape", "_element_spec")
    CLASS_IN_MESSAGES = "DATA_DATASET_SPEC"

    # The class of the data set in a tensor, made of (variant, element_spec). The module `dataset`, which has the
    # methods of data sets, sets it.
    _value_type: Any = None

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = as_shape(dataset_shape)

    @staticmethod
    def from_value(value):
        """The specification of a data set."""
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self):
        return self._value_type

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self):
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        if self._dataset_shape.rank == 0:
            return self._value_type(components, self._element_spec)
        return NestedVariant(components, self._element_spec, self._dataset_shape)

    def _to_tensor_list(self, value):
        variants = [each._variant_tensor for each in value] if isinstance(value, list) else value._variant_tensor
        return [convert_to_tensor(variants)]

    def _to_batched_tensor_list(self, value):
        if self._dataset_shape.rank == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return self._to_tensor_list(value)

    def _batch(self, batch_size):
        return DatasetSpec(self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self):
        if self._dataset_shape.rank == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_legacy_output_types(self):
        return self

    def _to_legacy_output_shapes(self):
        return self

    def _to_legacy_output_classes(self):
        return self
