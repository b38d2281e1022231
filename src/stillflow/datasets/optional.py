"""tf.data.experimental.Optional: a value that there may be or not, as one tensor."""

from __future__ import annotations

import abc
from typing import Any

from stillflow import ops
from stillflow.datasets import structure
from stillflow.graph import dtypes
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.name_scope import name_scope
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public


@public("data.experimental.Optional", "contrib.data.Optional")
class Optional(CompositeTensor, abc.ABC):
    """A value that there may be or not, which shows when the graph runs."""

    @abc.abstractmethod
    def has_value(self, name=None):
        """Whether there is a value, a scalar of bool."""
        raise NotImplementedError("Optional.has_value()")

    @abc.abstractmethod
    def get_value(self, name=None):
        """The value. Raises InvalidArgumentError at run time if there is none."""
        raise NotImplementedError("Optional.get_value()")

    @property
    @abc.abstractmethod
    def value_structure(self):
        """What the value is: specifications in tuples and dictionaries."""
        raise NotImplementedError("Optional.value_structure")

    @staticmethod
    def from_value(value):
        """An Optional with a value: tensors in tuples and dictionaries. Raises TypeError for anything else."""
        with name_scope("optional") as scope:
            with name_scope("value"):
                spec = structure.type_spec_from_value(value)
                tensors = structure.to_tensor_list(spec, value)
            return _OptionalTensor(ops.optional_from_value(tensors, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure):
        """An Optional without a value, which would be of a structure."""
        return _OptionalTensor(ops.optional_none(), value_structure)


@public("python.data.ops.optional_ops._OptionalImpl")
class _OptionalTensor(Optional):
    """An Optional in a variant scalar."""

    def __init__(self, variant_tensor, value_structure):
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    def has_value(self, name=None):
        return ops.optional_has_value(self._variant_tensor, name=name)

    def get_value(self, name=None):
        spec = self._value_structure
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            tensors = ops.optional_get_value(
                self._variant_tensor,
                name=scope,
                output_types=structure.get_flat_tensor_types(spec),
                output_shapes=structure.get_flat_tensor_shapes(spec),
            )
            return structure.from_tensor_list(spec, tensors)

    @property
    def value_structure(self):
        return self._value_structure

    @property
    def _type_spec(self):
        return OptionalSpec(self._value_structure)


@public("OptionalSpec", "data.experimental.OptionalStructure")
class OptionalSpec(TypeSpec):
    """An Optional as a component of elements.

    Args:
      value_structure: what its value is.
    """

    __slots__ = ("_value_structure",)
    CLASS_IN_MESSAGES = "OPTIONAL_SPEC"

    def __init__(self, value_structure):
        self._value_structure = value_structure

    @staticmethod
    def from_value(value):
        """The specification of an Optional."""
        return OptionalSpec(value.value_structure)

    @property
    def value_type(self):
        return _OptionalTensor

    def _serialize(self):
        return (self._value_structure,)

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        return [value._variant_tensor]

    def _from_components(self, components):
        return _OptionalTensor(components[0], self._value_structure)

    def _to_legacy_output_types(self):
        return self

    def _to_legacy_output_shapes(self):
        return self

    def _to_legacy_output_classes(self):
        return self


@public("data.experimental.get_next_as_optional", "contrib.data.get_next_as_optional")
def get_next_as_optional(iterator: Any):
    """The next element of a tf.data.Iterator as an Optional, which has no value at the end."""
    spec = iterator.element_spec
    variant = ops.iterator_get_next_as_optional(
        iterator._iterator_resource,
        output_types=structure.get_flat_tensor_types(spec),
        output_shapes=structure.get_flat_tensor_shapes(spec),
    )
    return _OptionalTensor(variant, spec)
