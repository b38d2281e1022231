"""Data sets side by side, one behind the other, or one behind itself."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.node import DatasetNode, UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.ops.convert import convert_to_tensor


class ZipDataset(DatasetNode):
    """Elements side by side."""

    _may_batch = _may_reorder = False

    def __init__(self, datasets):
        for each in nest.flatten(datasets):
            if not isinstance(each, DatasetNode):
                message = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                if isinstance(each, list):
                    message += " Nested structures do not support Python lists; please use a tuple instead."
                raise TypeError(message)
        self._datasets = datasets
        inputs = nest.flatten(datasets)
        self._structure = nest.pack_sequence_as(datasets, [each.element_spec for each in inputs])
        super().__init__(ops.zip_dataset([each._variant_tensor for each in inputs], **self._flat_structure))

    def _inputs(self):
        return nest.flatten(self._datasets)

    @property
    def element_spec(self):
        return self._structure


class ConcatenateDataset(DatasetNode):
    """One data set behind another."""

    _may_batch = _may_reorder = False

    def __init__(self, input_dataset, dataset_to_concatenate):
        first, second = input_dataset.element_spec, dataset_to_concatenate.element_spec
        for what, of in (("types", structure.output_types), ("classes", structure.output_classes)):
            if of(first) != of(second):
                raise TypeError(f"Two datasets to concatenate have different {what} {of(first)} and {of(second)}")
        shapes = structure.output_shapes(first)
        common = [
            ours.most_specific_compatible_shape(theirs)
            for ours, theirs in zip(nest.flatten(shapes), nest.flatten(structure.output_shapes(second)), strict=True)
        ]
        self._structure = structure.convert_legacy_structure(
            structure.output_types(first), nest.pack_sequence_as(shapes, common), structure.output_classes(first)
        )
        self._input_datasets = [input_dataset, dataset_to_concatenate]
        variant = ops.concatenate_dataset(
            input_dataset._variant_tensor, dataset_to_concatenate._variant_tensor, **self._flat_structure
        )
        super().__init__(variant)

    def _inputs(self):
        return self._input_datasets

    @property
    def element_spec(self):
        return self._structure


class RepeatDataset(UnaryUnchangedStructureDataset):
    """One data set behind itself."""

    def __init__(self, input_dataset, count):
        self._input_dataset = input_dataset
        self._count = convert_to_tensor(-1 if count is None else count, dtype=dtypes.int64, name="count")
        variant = ops.repeat_dataset(input_dataset._variant_tensor, count=self._count, **self._flat_structure)
        super().__init__(input_dataset, variant)
