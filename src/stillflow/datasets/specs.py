"""What the components of elements are: TensorSpec, SparseTensorSpec, DatasetSpec, and the tensors that carry them."""

from __future__ import annotations

from typing import Any

from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class TypeSpec:
    """What is known of a value before there is one.

    A component travels through a pipeline as tensors, those of `_flat_tensor_specs`.
    """

    __slots__ = ()

    def _key(self):
        """What makes two specifications of a class equal."""
        raise NotImplementedError

    def _is_compatible(self, other) -> bool:
        raise NotImplementedError

    def _common(self, other) -> TypeSpec:
        """What is true of both."""
        raise NotImplementedError

    @property
    def value_type(self):
        """The type of the values."""
        raise NotImplementedError

    def is_compatible_with(self, spec_or_value):
        """Whether there may be a value of both."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return type(self) is type(other) and self._is_compatible(other)

    def most_specific_compatible_type(self, other):
        """What is true of both. Raises ValueError if they are of different types."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._common(other)

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash((type(self), repr(self)))


@public("TensorSpec", "contrib.eager.TensorSpec", "contrib.framework.TensorSpec")
class TensorSpec(TypeSpec):
    """A tensor of a type and, as far as it is known, of a shape.

    Args:
      shape: a TensorShape or what converts to one; None for unknown.
      dtype: the type.
      name: a name for it, or None.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec, name=None):
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The specification of a tensor. Raises ValueError for what is none."""
        if not isinstance(tensor, Tensor):
            raise ValueError("`tensor` should be a tf.Tensor")
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def value_type(self):
        return Tensor

    def is_compatible_with(self, spec_or_tensor):
        """Whether a tensor, or one of a specification, may be one of this."""
        other = spec_or_tensor
        return self._dtype.is_compatible_with(other.dtype) and self._shape.is_compatible_with(other.shape)

    def _common(self, other):
        if self._dtype is not other.dtype:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return TensorSpec(self._shape.most_specific_compatible_shape(other.shape), self._dtype)

    def _key(self):
        return self._shape.rank, self._shape._dims, self._dtype, self._name

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        return [convert_to_tensor(value, self._dtype)]

    def _to_batched_tensor_list(self, value):
        if self._shape.rank == 0:
            raise ValueError(f"Value {value!s} has insufficient rank for batching.")
        return [convert_to_tensor(value, self._dtype)]

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        tensor.set_shape(self._shape)
        return tensor

    def _batch(self, size):
        return TensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return Tensor


class NestedVariant:
    """Several data sets in a tensor."""

    def __init__(self, variant_tensor, element_spec, dataset_shape):
        self._variant_tensor = variant_tensor
        self.element_spec = element_spec
        self.dataset_shape = dataset_shape


class DatasetSpec(TypeSpec):
    """A data set, or a tensor of them.

    Args:
      element_spec: what its elements are.
      dataset_shape: the shape of the tensor that holds data sets.
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    # The class of the data set in a tensor, made of (variant, element_spec). The module `dataset`, which has the
    # methods of data sets, sets it.
    _value_type: Any = None

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = as_shape(dataset_shape)

    @staticmethod
    def from_value(value):
        return DatasetSpec(value.element_spec)

    @property
    def value_type(self):
        return self._value_type

    def _is_compatible(self, other):
        return (
            self._dataset_shape.is_compatible_with(other._dataset_shape) and self._element_spec == other._element_spec
        )

    def _common(self, other):
        if self != other:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self

    def _key(self):
        return self._element_spec, self._dataset_shape.rank, self._dataset_shape._dims

    def __repr__(self):
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(self._dataset_shape, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [value._variant_tensor]

    def _to_batched_tensor_list(self, value):
        if self._dataset_shape.rank == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return self._to_tensor_list(value)

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        if self._dataset_shape.rank == 0:
            return self._value_type(tensor, self._element_spec)
        return NestedVariant(tensor, self._element_spec, self._dataset_shape)

    def _batch(self, size):
        return DatasetSpec(self._element_spec, TensorShape([size]).concatenate(self._dataset_shape))

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


# {type of values: function that gives the specification of one}
_SPEC_OF: dict = {Tensor: lambda tensor: TensorSpec(tensor.shape, tensor.dtype.base_dtype)}


def register_values(kind, spec_of):
    """Makes values of `kind` components of their own, specified by `spec_of(value)`."""
    _SPEC_OF[kind] = spec_of


register_values(NestedVariant, lambda nested: DatasetSpec(nested.element_spec, nested.dataset_shape))


def spec_of_component(value):
    """The specification of a value that is a component as it is; None for what has to become a tensor first."""
    for kind, spec_of in _SPEC_OF.items():
        if isinstance(value, kind):
            return spec_of(value)
    return None


def type_spec_from_value(element):
    """The specification of an element: of what converts to tensors, in tuples and dictionaries.

    Raises TypeError for what does not.
    """
    spec = spec_of_component(element)
    if spec is not None:
        return spec
    if isinstance(element, dict):
        found = element.copy()
        for key in element:
            found[key] = type_spec_from_value(element[key])
        return found
    if isinstance(element, tuple):
        parts = [type_spec_from_value(part) for part in element]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    try:
        return spec_of_component(convert_to_tensor(element))
    except (ValueError, TypeError):
        raise TypeError(f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}") from None
