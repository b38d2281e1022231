"""TypeSpec: what is known of a value before there is one."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from stillflow.graph import dtypes, nest
from stillflow.graph.composite import Composite
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public

# What makes a tensor of anything else: stillflow.ops.convert sets it.
_convert_to_tensor: Any = None


def install_conversion(convert_to_tensor):
    """Sets the function (value, dtype=None) that makes tensors of values."""
    global _convert_to_tensor
    _convert_to_tensor = convert_to_tensor


def convert_to_tensor(value, dtype=None):
    return _convert_to_tensor(value, dtype)


@public("TypeSpec", "data.experimental.Structure")
class TypeSpec(Composite):
    """What is known of a value before there is one: tf.TensorSpec, tf.RaggedTensorSpec, ...

    A descendant says what the values are (`value_type`), of which tensors and composite tensors they consist
    (`_component_specs`, `_to_components`, `_from_components`), and what distinguishes specifications of its class
    (`_serialize`, of which the class makes an equal one).
    """

    __slots__ = ()

    # What messages call the class, a value of TypeSpecProto.TypeSpecClass. Its descendants are not meant.
    CLASS_IN_MESSAGES: str | None = None

    @classmethod
    def has_messages(cls):
        """Whether there are messages of specifications of this class."""
        return vars(cls).get("CLASS_IN_MESSAGES") is not None

    @classmethod
    def of_messages(cls, name):
        """The class that messages call `name`, None if no module that has been loaded defines one."""
        if cls.has_messages() and name == cls.CLASS_IN_MESSAGES:
            return cls
        return next(filter(None, (kind.of_messages(name) for kind in cls.__subclasses__())), None)

    @property
    def value_type(self):
        """The type of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def is_compatible_with(self, spec_or_value):
        """Whether there may be a value of both. Raises TypeError for a value that nothing specifies."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return type(self) is type(other) and _are_compatible(self._serialize(), other._serialize())

    def most_specific_compatible_type(self, other):
        """What is true of both. Raises ValueError if no value can be of both."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return self._deserialize(_in_common(self._serialize(), other._serialize()))

    # ---- Components of values: a nested structure of tensors and composite tensors, without new nodes -------------

    def _to_components(self, value):
        raise NotImplementedError(f"{type(self).__name__}._to_components()")

    def _from_components(self, components):
        raise NotImplementedError(f"{type(self).__name__}._from_components()")

    @property
    def _component_specs(self):
        raise NotImplementedError(f"{type(self).__name__}._component_specs()")

    def _parts(self):
        return self._component_specs

    def _with_parts(self, parts):
        return self._from_components(parts)

    def _spec(self):
        return self

    # ---- The tensors that carry a value; they may have to be made --------------------------------------------------

    def _to_tensor_list(self, value):
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list):
        """The value that tensors carry. Raises ValueError for tensors that cannot carry one."""
        expected = self._flat_tensor_specs
        if len(tensor_list) != len(expected):
            raise ValueError("Incompatible input: wrong number of tensors")
        for i, (tensor, wanted) in enumerate(zip(tensor_list, expected, strict=True)):
            if not type_spec_from_value(tensor).is_compatible_with(wanted):
                raise ValueError(f"Incompatible input: tensor {i} ({tensor}) is incompatible with {wanted}")
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list):
        return self._from_components(
            nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True)
        )

    @property
    def _flat_tensor_specs(self):
        return nest.flatten(self._component_specs, expand_composites=True)

    # ---- What distinguishes it: tuples and dictionaries of shapes, types, specifications, numbers, texts -----------

    def _serialize(self):
        raise NotImplementedError(f"{type(self).__name__}._serialize()")

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    def _key(self):
        return type(self), _comparable(self._serialize(), type(self))

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return type(self), self._serialize()

    def __repr__(self):
        return f"{type(self).__name__}{self._serialize()!r}"

    # ---- What data sets had before there were specifications -------------------------------------------------------

    def _to_legacy_output_types(self):
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_types()")

    def _to_legacy_output_shapes(self):
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_shapes()")

    def _to_legacy_output_classes(self):
        return self.value_type


@public("python.framework.type_spec.BatchableTypeSpec")
class BatchableTypeSpec(TypeSpec):
    """A TypeSpec whose values can be stacked, by stacking the tensors that carry them, and taken apart again."""

    __slots__ = ()

    def _batch(self, batch_size):
        """What specifies `batch_size` values, or unknown many for None."""
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self):
        """What specifies one of the values that such values consist of."""
        raise NotImplementedError(f"{type(self).__name__}._unbatch")

    def _to_batched_tensor_list(self, value):
        """The tensors whose rows carry the rows of a value. Raises ValueError for a value without rows."""
        tensors = self._to_tensor_list(value)
        if any(tensor.shape.rank == 0 for tensor in tensors):
            raise ValueError(f"Value {value} has insufficient rank for batching.")
        return tensors


# ---- Serializations ----------------------------------------------------------------------------------------------


def _comparable(value, kind):
    """Something hashable that is equal for equal serializations of specifications of the class `kind`."""
    if value is None or isinstance(value, (int, float, str, bytes, dtypes.DType, TypeSpec)):
        return value
    if isinstance(value, dict):
        return tuple((_comparable(key, kind), _comparable(value[key], kind)) for key in sorted(value))
    if isinstance(value, tuple):
        return tuple(_comparable(item, kind) for item in value)
    if isinstance(value, TensorShape):
        return TensorShape, value._dims
    if isinstance(value, np.ndarray):
        return np.ndarray, value.shape, tuple(value.ravel().tolist())
    raise ValueError(f"Unsupported value type {type(value).__name__} returned by {kind.__name__}._serialize")


def _are_compatible(first, second):
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_are_compatible, first, second))
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_are_compatible(first[key], second[key]) for key in first)
    if isinstance(first, (TypeSpec, TensorShape, dtypes.DType)):
        return first.is_compatible_with(second)
    return _same(first, second)


def _same(first, second):
    return np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second


def _in_common(first, second):
    """The serialization of what is true of both. Raises ValueError where other things than shapes differ."""
    if type(first) is type(second):
        if isinstance(first, tuple) and len(first) == len(second):
            return tuple(map(_in_common, first, second))
        if isinstance(first, dict) and first.keys() == second.keys():
            return {key: _in_common(first[key], second[key]) for key in sorted(first)}
        if isinstance(first, TensorShape):
            return first.most_specific_compatible_shape(second)
        if isinstance(first, TypeSpec):
            return first.most_specific_compatible_type(second)
        if not isinstance(first, (tuple, dict)) and _same(first, second):
            return first
    raise ValueError(f"Types are not compatible: {first!r} vs {second!r}")


# ---- Of values ---------------------------------------------------------------------------------------------------

# [(type of values, function that gives the specification of one, whether descendants are such values)]
_CONVERTERS: list = []


@public("python.framework.type_spec.register_type_spec_from_value_converter")
def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """Makes converter_fn(value) specify values of a type, and of its descendants if `allow_subclass`.

    What was registered last goes first. Composite tensors need none: they have `_type_spec`.
    """
    _CONVERTERS.insert(0, (type_object, converter_fn, allow_subclass))


@public("python.framework.type_spec.type_spec_from_value")
def type_spec_from_value(value):
    """The specification of a value, which may be anything that converts to a tensor.

    Raises TypeError for what does not.
    """
    spec = spec_of(value)
    if spec is None:
        with contextlib.suppress(TypeError, ValueError):
            spec = spec_of(convert_to_tensor(value))
    if spec is None:
        raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
    return spec


@public("python.framework.type_spec._type_spec_from_value")
def spec_of(value) -> Any:
    """The specification of a value as it is; None for what has to become a tensor first."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, list) and value:
        spec = _spec_of_items(value)
        if spec is not None:
            return spec
    for kind, convert, allow_subclass in _CONVERTERS:
        if type(value) is kind or (allow_subclass and isinstance(value, kind)):
            return convert(value)
    return None


def _spec_of_items(items):
    """The one specification of a batch of such values, or None if they differ in more than their shapes."""
    spec = spec_of(items[0])
    if not isinstance(spec, BatchableTypeSpec):
        return None
    try:
        for item in items[1:]:
            spec = spec.most_specific_compatible_type(spec_of(item))
        return spec._batch(len(items))
    except (TypeError, ValueError):
        return None
