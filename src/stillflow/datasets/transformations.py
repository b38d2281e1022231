"""Transformations for Dataset.apply that TensorFlow 1 has in tf.data.experimental and tf.contrib.data."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.dataset import DatasetV1, VariantDataset
from stillflow.datasets.mapping import ParallelInterleaveDataset
from stillflow.datasets.node import DatasetNode, UnaryUnchangedStructureDataset
from stillflow.datasets.rows import unbatched
from stillflow.graph import dtypes
from stillflow.names import public


@public("data.experimental.parallel_interleave", "contrib.data.parallel_interleave")
def parallel_interleave(
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """For Dataset.apply: `interleave(map_func, cycle_length, block_length)`.

    Args:
      sloppy: whether the order may differ; here it never does.
      buffer_output_elements, prefetch_input_elements: how many elements are made in advance.
    """
    lengths = cycle_length, block_length
    buffers = buffer_output_elements, prefetch_input_elements
    return lambda dataset: dataset._of(ParallelInterleaveDataset(dataset, map_func, *lengths, sloppy, *buffers))


@public("contrib.data.sloppy_interleave")
def sloppy_interleave(map_func, cycle_length, block_length=1):
    """For Dataset.apply: `interleave`, whose order may differ; here it does not."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


@public("data.experimental.unbatch", "contrib.data.unbatch")
def unbatch():
    """For Dataset.apply: the rows of elements, one after the other."""
    return unbatched


class _IgnoreErrorsDataset(UnaryUnchangedStructureDataset):
    """The elements that can be made."""

    def __init__(self, input_dataset):
        self._input_dataset = input_dataset
        variant = ops.ignore_errors_dataset(input_dataset._variant_tensor, **self._flat_structure)
        super().__init__(input_dataset, variant)


@public("data.experimental.ignore_errors", "contrib.data.ignore_errors")
def ignore_errors():
    """For Dataset.apply: leaves out elements that cannot be made, without an error."""
    return lambda dataset: dataset._of(_IgnoreErrorsDataset(dataset))


@public("data.experimental.enumerate_dataset", "contrib.data.enumerate_dataset")
def enumerate_dataset(start=0):
    """For Dataset.apply: (start, element), (start + 1, element), ..."""
    largest = np.iinfo(dtypes.int64.as_numpy_dtype).max
    return lambda dataset: DatasetV1.zip((DatasetV1.range(start, largest), dataset))


@public("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size):
    """For Dataset.apply: `batch(batch_size, drop_remainder=True)`."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


@public("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """For Dataset.apply: `padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)`."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes=padded_shapes, padding_values=padding_values, drop_remainder=True
    )


@public("data.experimental.get_single_element", "contrib.data.get_single_element")
def get_single_element(dataset):
    """The element of a data set that has one. Raises TypeError for what is no data set.

    At run time InvalidArgumentError if there is no element, or more than one.
    """
    if not isinstance(dataset, DatasetNode):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset` object. Got {type(dataset)}")
    tensors = ops.dataset_to_single_element(dataset._variant_tensor, **dataset._flat_structure)
    return structure.from_compatible_tensor_list(dataset.element_spec, tensors)


@public("data.experimental.to_variant")
def to_variant(dataset):
    """The variant scalar that holds a data set."""
    return dataset._variant_tensor


@public("data.experimental.from_variant")
def from_variant(variant, structure):
    """The data set in a variant scalar, whose elements are of a structure of tf.TypeSpecs."""
    return VariantDataset(variant, structure)
