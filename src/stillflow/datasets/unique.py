"""Data sets of the elements of others that have not come before: unique."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.names import public


class _UniqueDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset):
        self._input_dataset = input_dataset
        if structure.output_types(input_dataset.element_spec) not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, `tf.int64`, or "
                "`tf.string` component."
            )
        super().__init__(input_dataset, ops.unique_dataset(input_dataset._variant_tensor, **self._flat_structure))


@public("data.experimental.unique", "contrib.data.unique")
def unique():
    """For Dataset.apply: every element once, in the order in which they come first.

    Raises TypeError for elements that are no int32, int64 or string tensors.
    """
    return lambda dataset: dataset._of(_UniqueDataset(dataset))
