"""TensorSpec and BoundedTensorSpec: tensors of a type and of a shape."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.type_spec import (
    BatchableTypeSpec,
    convert_to_tensor,
    register_type_spec_from_value_converter,
)
from stillflow.names import public


@public("TensorSpec", "contrib.eager.TensorSpec", "contrib.framework.TensorSpec")
class TensorSpec(BatchableTypeSpec):
    """A tensor of a type and, as far as it is known, of a shape.

    Args:
      shape: a TensorShape or what converts to one; None for unknown.
      dtype: the type.
      name: a name for it, or None.

    Raises TypeError for what is no shape or type.
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = TensorShape(shape)
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
        is_eager = hasattr(tensor, "numpy")
        return TensorSpec(tensor.shape, tensor.dtype, name if name or is_eager else tensor.op.name)

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
        return (
            isinstance(other, (TensorSpec, Tensor))
            and self._dtype.is_compatible_with(other.dtype)
            and self._shape.is_compatible_with(other.shape)
        )

    def most_specific_compatible_type(self, other):
        """What is true of both. Raises ValueError if they are of different types."""
        if type(self) is not type(other) or self._dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self!r} vs {other!r}")
        shape = self._shape.most_specific_compatible_shape(other.shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other.name else None)

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    @property
    def _component_specs(self):
        return self

    def _to_components(self, value):
        try:
            tensor = convert_to_tensor(value, self._dtype)
        except (TypeError, ValueError):
            tensor = None
        if tensor is None or not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(
                f"Value {value!r} is not convertible to a tensor with dtype {self._dtype} and shape {self._shape}."
            )
        return tensor

    def _from_components(self, components):
        return components

    def _from_compatible_tensor_list(self, tensor_list):
        (tensor,) = tensor_list
        tensor.set_shape(self._shape)
        return tensor

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        return [self._to_components(value)]

    def _batch(self, batch_size):
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape


@public("contrib.framework.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A tensor of a type and of a shape whose elements lie between bounds, these included.

    Args:
      shape: a TensorShape or what converts to one.
      dtype: the type.
      minimum, maximum: numbers or arrays that broadcast to the shape.
      name: a name for it, or None.

    Raises:
      ValueError: without bounds, or for bounds that do not broadcast to the shape.
      TypeError: for what is no shape or type.
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self._minimum = self._bound(minimum, "minimum")
        self._maximum = self._bound(maximum, "maximum")

    def _bound(self, value, name):
        dims, shape = np.shape(value), self._shape
        if shape.rank is not None and not _broadcasts(dims, shape._dims):
            raise ValueError(
                f"{name} is not compatible with shape. Message: ValueError('Incompatible shapes for broadcasting: "
                f"{TensorShape(dims)} and {shape}')."
            )
        array = np.array(value, dtype=self._dtype.as_numpy_dtype)
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec):  # type: ignore[override]  # no name, as in TensorFlow
        """The specification with the bounds of `spec`, or those of its type if it has none."""
        dtype = dtypes.as_dtype(spec.dtype)
        bounds = [getattr(spec, bound, getattr(dtype, bound[:3])) for bound in ("minimum", "maximum")]
        return BoundedTensorSpec(spec.shape, dtype, bounds[0], bounds[1], spec.name)

    @property
    def minimum(self):
        """The smallest elements, an array."""
        return self._minimum

    @property
    def maximum(self):
        """The largest elements, an array."""
        return self._maximum

    def __repr__(self):
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def __eq__(self, other):
        return (
            super().__eq__(other)
            and np.allclose(self._minimum, other.minimum)
            and np.allclose(self._maximum, other.maximum)
        )

    def _key(self):
        # Bounds are equal within a tolerance, which no key can be.
        return type(self), self._shape._dims, self._dtype, self._name

    __hash__ = TensorSpec.__hash__

    def _serialize(self):
        return self._shape, self._dtype, self._minimum, self._maximum, self._name


def _broadcasts(first, second):
    """Whether two plain shapes, of which sizes may be unknown, can be broadcast to one."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(1 in (a, b) or None in (a, b) or a == b for a, b in pairs)


register_type_spec_from_value_converter(
    Tensor, lambda tensor: TensorSpec(tensor.shape, tensor.dtype.base_dtype), allow_subclass=True
)
register_type_spec_from_value_converter(np.ndarray, lambda array: TensorSpec(array.shape, array.dtype))
