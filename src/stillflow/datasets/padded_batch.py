"""Data sets of several elements as one, padded to one size."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.arguments import shape_tensor
from stillflow.datasets.batch import known_batch_size
from stillflow.datasets.node import UnaryDataset
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.shape_inference import partial_value
from stillflow.ops.convert import convert_to_tensor


class PaddedBatchDataset(UnaryDataset):
    """Several elements, padded and stacked."""

    _may_reorder = False

    def __init__(self, input_dataset, batch_size, padded_shapes, padding_values, drop_remainder):
        self._input_dataset = input_dataset
        spec = input_dataset.element_spec
        types, shapes, classes = (
            structure.output_types(spec),
            structure.output_shapes(spec),
            structure.output_classes(spec),
        )
        if any(kind is not Tensor for kind in nest.flatten(classes)):
            raise TypeError("Batching of padded sparse tensors is not currently supported")
        self._batch_size = convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        if padding_values is None:
            padding_values = nest.map_structure(_zero, types)
        self._padded_shapes = nest.pack_sequence_as(
            shapes,
            [
                _padded_shape(padded, shape)
                for shape, padded in zip(nest.flatten(shapes), nest.flatten_up_to(shapes, padded_shapes), strict=True)
            ],
        )
        self._padding_values = nest.map_structure_up_to(shapes, _padding_value, padding_values, types)
        self._drop_remainder = convert_to_tensor(drop_remainder, dtype=dtypes.bool_, name="drop_remainder")
        size = known_batch_size(self._batch_size, self._drop_remainder)
        padded = nest.map_structure(lambda s: TensorShape([size]).concatenate(_spelled(s)), self._padded_shapes)
        self._structure = structure.convert_legacy_structure(types, padded, classes)
        variant = ops.padded_batch_dataset_v2(
            input_dataset._variant_tensor,
            batch_size=self._batch_size,
            padded_shapes=nest.flatten(self._padded_shapes),
            padding_values=nest.flatten(self._padding_values),
            drop_remainder=self._drop_remainder,
            output_shapes=structure.get_flat_tensor_shapes(self._structure),
        )
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._structure


def _zero(dtype):
    if dtype == dtypes.variant:
        raise TypeError(f"Unable to create padding for field of type 'variant' because t.base_type == {dtype}.")
    return "" if dtype == dtypes.string else np.zeros((), dtype.as_numpy_dtype)


def _spelled(tensor):
    """The shape that an int64 vector spells, as far as it is known."""
    sizes = partial_value(tensor)
    if sizes is None:
        rank = tensor.shape.dims[0].value if tensor.shape.rank == 1 else None
        return TensorShape(None if rank is None else [None] * rank)
    return TensorShape([None if size == -1 else size for size in sizes])


def _padded_shape(padded, component_shape):
    """A padded shape as a tensor. Raises ValueError or TypeError if it is none, or too small."""
    tensor = shape_tensor(padded, "Padded shape {} must be {}, but its {} was {}.")
    try:
        shape = as_shape(padded)
    except (TypeError, ValueError):
        shape = _spelled(tensor)
    if not _is_large_enough(shape, component_shape):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the corresponding input component shape "
            f"{component_shape}."
        )
    return tensor


def _is_large_enough(padded, component):
    if padded.rank is None or component.rank is None:
        return True
    if padded.rank != component.rank:
        return False
    pairs = zip(padded.as_list(), component.as_list(), strict=True)
    return all(size is None or least is None or size >= least for size, least in pairs)


def _padding_value(value, dtype):
    tensor = convert_to_tensor(value, name="padding_value")
    if not tensor.shape.is_compatible_with(TensorShape([])):
        raise ValueError(f"Padding value should be a scalar, but is not: {tensor}")
    if tensor.dtype != dtype:
        raise TypeError(f"Padding value tensor ({tensor}) does not match output type: {dtype}")
    return tensor
