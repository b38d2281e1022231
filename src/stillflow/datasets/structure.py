"""Elements and the tensors that carry them through a pipeline."""

from __future__ import annotations

from typing import Any

from stillflow.datasets import nest
from stillflow.datasets.sparse import SparseTensorSpec
from stillflow.datasets.specs import TensorSpec, TypeSpec, spec_of_component
from stillflow.datasets.tensor_arrays import TensorArraySpec
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue

# {class that legacy `output_classes` have: what it is specified by}
_SPEC_OF_CLASS: dict[type, Any] = {
    Tensor: TensorSpec,
    SparseTensor: SparseTensorSpec,
    TensorArray: lambda shape, dtype: TensorArraySpec(shape[2:], dtype, *map(bool, shape.as_list()[:2])),
}


def normalize_element(element):
    """An element with tensors for what is none, in a name scope of its own."""
    parts = []
    with name_scope("normalize_element"):
        for i, part in enumerate(nest.flatten(element)):
            if isinstance(part, (SparseTensor, SparseTensorValue)):
                SparseTensorSpec.from_value(part)  # adds nodes of its own for a value, as in TensorFlow
                parts.append(SparseTensor.from_value(part))
            elif spec_of_component(part) is None or isinstance(part, Tensor):
                parts.append(convert_to_tensor(part, name=f"component_{i}"))
            else:
                parts.append(part)
    return nest.pack_sequence_as(element, parts)


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


def flat_tensor_specs(spec):
    return [part for component in nest.flatten(spec) for part in component._flat_tensor_specs]


def flat_tensor_shapes(spec):
    return [part.shape for part in flat_tensor_specs(spec)]


def flat_tensor_types(spec):
    return [part.dtype for part in flat_tensor_specs(spec)]


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
    """The element that tensors carry. Raises ValueError if they are not as many as it needs."""
    parts = nest.flatten(spec)
    counts = [len(part._flat_tensor_specs) for part in parts]
    if sum(counts) != len(tensors):
        raise ValueError(f"Expected {sum(counts)} tensors but got {len(tensors)}.")
    items = iter(tensors)
    values = [
        part._from_tensor_list([next(items) for _ in range(count)]) for part, count in zip(parts, counts, strict=True)
    ]
    return nest.pack_sequence_as(spec, values)


def are_compatible(ours, theirs):
    """Whether both are of one form, and their components fit each other."""
    try:
        nest.assert_same_structure(ours, theirs)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(ours), nest.flatten(theirs), strict=True)
    return all(our.is_compatible_with(their) for our, their in pairs)


def output_types(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_types(), spec)


def output_shapes(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_shapes(), spec)


def output_classes(spec):
    return nest.map_structure(lambda part: part._to_legacy_output_classes(), spec)
