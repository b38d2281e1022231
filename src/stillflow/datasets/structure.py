"""Elements and the tensors that carry them through a pipeline."""

from __future__ import annotations

from typing import Any

from stillflow.datasets import nest
from stillflow.datasets.specs import DatasetSpec
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec, spec_of
from stillflow.names import public, public_module
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.tensor_array_spec import TensorArraySpec
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorSpec
from stillflow.platform.deprecation import deprecated
from stillflow.ragged.tensor import RaggedTensorSpec, convert_to_tensor_or_ragged_tensor

public_module("python.data.util.structure")

# {class that legacy `output_classes` have: what it is specified by}
_SPEC_OF_CLASS: dict[type, Any] = {
    Tensor: TensorSpec,
    SparseTensor: SparseTensorSpec,
    TensorArray: lambda shape, dtype: TensorArraySpec(shape[2:], dtype, *map(bool, shape.as_list()[:2])),
}


def type_spec_from_value(element, use_fallback=True):
    """The specification of an element: of what converts to tensors, in tuples and dictionaries.

    With `use_fallback`, values that have no specification become tensors. Raises TypeError for what cannot.
    """
    spec = spec_of(element)
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
    if use_fallback:
        try:
            return type_spec_from_value(convert_to_tensor(element), use_fallback=False)
        except (ValueError, TypeError):
            pass
    raise TypeError(f"Could not build a TypeSpec for {element!r} with type {type(element).__name__}")


def normalize_element(element):
    """An element with tensors for what is none, in a name scope of its own."""
    with name_scope("normalize_element"):
        parts = [_normal(part, f"component_{i}") for i, part in enumerate(nest.flatten(element))]
    return nest.pack_sequence_as(element, parts)


def _normal(part, name):
    try:
        spec = type_spec_from_value(part, use_fallback=False)
    except TypeError:
        return convert_to_tensor(part, name=name)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensor.from_value(part)
    if isinstance(spec, RaggedTensorSpec):
        return convert_to_tensor_or_ragged_tensor(part, name=name)
    if isinstance(spec, (TensorArraySpec, DatasetSpec)) or isinstance(part, CompositeTensor):
        return part
    return convert_to_tensor(part, name=name)


def convert_legacy_structure(output_types, output_shapes, output_classes):
    """The specification that types, shapes and classes of one form give. Raises TypeError for other classes."""
    specs = []
    for dtype, shape, kind in zip(
        nest.flatten(output_types), nest.flatten(output_shapes), nest.flatten(output_classes), strict=True
    ):
        if isinstance(kind, TypeSpec):
            specs.append(kind)
            continue
        make = next((make for known, make in _SPEC_OF_CLASS.items() if issubclass(kind, known)), None)
        if make is None:
            raise TypeError(f"Could not build a structure for output class {kind!r}")
        specs.append(make(shape, dtype))
    return nest.pack_sequence_as(output_classes, specs)


def get_flat_tensor_specs(spec):
    return [part for component in nest.flatten(spec) for part in component._flat_tensor_specs]


def get_flat_tensor_shapes(spec):
    return [part.shape for part in get_flat_tensor_specs(spec)]


def get_flat_tensor_types(spec):
    return [part.dtype for part in get_flat_tensor_specs(spec)]


def to_tensor_list(spec, element):
    """The tensors that carry an element."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [tensor for part, value in pairs for tensor in part._to_tensor_list(value)]


def to_batched_tensor_list(spec, element):
    """The tensors whose rows carry the rows of an element. Raises ValueError for components without rows."""
    nest.assert_same_structure(spec, element)
    pairs = zip(nest.flatten(spec), nest.flatten(element), strict=True)
    return [tensor for part, value in pairs for tensor in part._to_batched_tensor_list(value)]


def from_tensor_list(spec, tensors):
    """The element that tensors carry.

    Raises ValueError if they are not as many as it needs, or cannot be those of such an element.
    """
    return _unpacked(spec, tensors, lambda part, own: part._from_tensor_list(own))


def from_compatible_tensor_list(spec, tensors):
    """The element that tensors carry which are known to. Raises ValueError if they are not as many as it needs."""
    return _unpacked(spec, tensors, lambda part, own: part._from_compatible_tensor_list(own))


def _unpacked(spec, tensors, unpack):
    parts = nest.flatten(spec)
    counts = [len(part._flat_tensor_specs) for part in parts]
    if sum(counts) != len(tensors):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensors)}.")
    items = iter(tensors)
    values = [unpack(part, [next(items) for _ in range(count)]) for part, count in zip(parts, counts, strict=True)]
    return nest.pack_sequence_as(spec, values)


def are_compatible(first, second):
    """Whether specifications of elements are of one form, and their parts compatible in both directions."""
    try:
        nest.assert_same_structure(first, second)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(first), nest.flatten(second), strict=True)
    return all(one.is_compatible_with(other) and other.is_compatible_with(one) for one, other in pairs)


def output_types(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_types(), spec)


def output_shapes(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_shapes(), spec)


def output_classes(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_classes(), spec)


# ---- The specifications' older names -------------------------------------------------------------------------------


@public("data.experimental.TensorStructure")
@deprecated(None, "Use `tf.TensorSpec` instead.")
def tensor_structure(dtype, shape):
    """The tf.TensorSpec of tensors of a type and a shape."""
    return TensorSpec(shape, dtype)


@public("data.experimental.SparseTensorStructure")
@deprecated(None, "Use `tf.SparseTensorSpec` instead.")
def sparse_tensor_structure(dtype, shape):
    """The tf.SparseTensorSpec of sparse tensors of a type and a shape."""
    return SparseTensorSpec(shape, dtype)


@public("data.experimental.TensorArrayStructure")
@deprecated(None, "Use `tf.TensorArraySpec` instead.")
def tensor_array_structure(dtype, element_shape, dynamic_size, infer_shape):
    """The tf.TensorArraySpec of such TensorArrays."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)


@public("data.experimental.RaggedTensorStructure")
@deprecated(None, "Use `tf.RaggedTensorSpec` instead.")
def ragged_tensor_structure(dtype, shape, ragged_rank):
    """The tf.RaggedTensorSpec of ragged tensors of a type, a shape and a ragged rank."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)
