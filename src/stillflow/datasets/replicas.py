"""Data sets for one of several workers, and for the replicas of a model."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.dataset import DatasetV2
from stillflow.datasets.node import UnaryDataset, UnaryUnchangedStructureDataset
from stillflow.graph.shape import TensorShape
from stillflow.names import public


class _AutoShardDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, num_workers, index):
        self._input_dataset = input_dataset
        variant = ops.auto_shard_dataset(input_dataset._variant_tensor, num_workers, index, **self._flat_structure)
        super().__init__(input_dataset, variant)


class _RebatchDataset(UnaryDataset):
    def __init__(self, input_dataset, num_replicas):
        spec = input_dataset.element_spec
        shapes = nest.map_structure(lambda shape: _part_of_batch(shape, num_replicas), structure.output_shapes(spec))
        self._element_spec = structure.convert_legacy_structure(
            structure.output_types(spec), shapes, structure.output_classes(spec)
        )
        variant = ops.rebatch_dataset(input_dataset._variant_tensor, num_replicas, **self._flat_structure)
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._element_spec


def _part_of_batch(shape, parts):
    if len(shape) < 1:
        raise ValueError("Input shape should have at least one dimension. Perhaps your input dataset is not batched?")
    size, *others = shape.as_list()
    return TensorShape([None if size is None or size % parts else size // parts, *others])


@public(
    "python.data.experimental.ops.distribute._AutoShardDataset",
    "python.data.experimental.ops.distribute._AutoShardDatasetV1",
)
def auto_shard(input_dataset, num_workers, index):
    """The part of a data set for worker `index` of `num_workers`.

    It is a part of the files where some are read on the way (TFRecordDataset, TextLineDataset and
    FixedLengthRecordDataset, of the names that an earlier data set brings); what shuffles these names does so after
    the choice. Otherwise it is a part of the elements.

    Raises:
      tf.errors.InvalidArgumentError: when it runs, if `index` is not in [0, num_workers), and for fewer files or
        elements than workers.
    """
    return DatasetV2._of(_AutoShardDataset(input_dataset, num_workers, index))


@public("python.data.experimental.ops.distribute._RebatchDataset")
def rebatch(input_dataset, num_replicas, use_fallback=True):
    """Each batch in `num_replicas` parts of one size, of which the last may be smaller or empty.

    Raises:
      ValueError: for a data set of scalars.
    """
    return DatasetV2._of(_RebatchDataset(input_dataset, num_replicas))
