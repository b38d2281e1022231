"""Data sets by the names that they have in TensorFlow's inner module dataset_ops."""

from __future__ import annotations

from stillflow.datasets import mapping
from stillflow.datasets.buffering import PrefetchDataset
from stillflow.datasets.dataset import DatasetV2
from stillflow.datasets.files import RecordFileDataset
from stillflow.names import public


@public("python.data.ops.dataset_ops.MapDataset")
def map_dataset(
    input_dataset, map_func, use_inter_op_parallelism=True, preserve_cardinality=False, use_legacy_function=False
):
    """Results of a function. Functions are traced in one way here."""
    return DatasetV2._of(mapping.MapDataset(input_dataset, map_func, preserve_cardinality, use_inter_op_parallelism))


@public("python.data.ops.dataset_ops.ParallelMapDataset")
def parallel_map_dataset(
    input_dataset,
    map_func,
    num_parallel_calls,
    use_inter_op_parallelism=True,
    preserve_cardinality=False,
    use_legacy_function=False,
):
    """Results of a function, several at a time. Functions are traced in one way here."""
    return DatasetV2._of(
        mapping.ParallelMapDataset(input_dataset, map_func, num_parallel_calls, preserve_cardinality)
    )


@public("python.data.ops.dataset_ops.PrefetchDataset")
def prefetch_dataset(input_dataset, buffer_size, slack_period=None):
    """The same elements, of which some are made in advance; `slack_period` says when that gives way."""
    return DatasetV2._of(PrefetchDataset(input_dataset, buffer_size, slack_period))


@public("python.data.ops.readers._TFRecordDataset")
def tf_record_dataset(filenames, compression_type=None, buffer_size=None):
    """The records of files whose names are one tensor, as one node."""
    return DatasetV2._of(RecordFileDataset(filenames, compression_type, buffer_size))
