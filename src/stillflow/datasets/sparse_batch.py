"""Data sets of several dense elements as one sparse tensor: dense_to_sparse_batch."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import structure
from stillflow.datasets.arguments import partial_shape_to_tensor
from stillflow.datasets.node import UnaryDataset
from stillflow.graph.dtypes import DType
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensorSpec


class _DenseToSparseBatchDataset(UnaryDataset):
    def __init__(self, input_dataset, batch_size, row_shape):
        spec = input_dataset.element_spec
        dtype = structure.output_types(spec)
        if not isinstance(dtype, DType):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single component, whereas the input "
                f"has {dtype!r}."
            )
        self._input_dataset = input_dataset
        self._row_shape = row_shape
        self._structure = SparseTensorSpec(TensorShape([None]).concatenate(row_shape), dtype)
        variant = ops.dense_to_sparse_batch_dataset(
            input_dataset._variant_tensor,
            batch_size,
            row_shape=partial_shape_to_tensor(row_shape),
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._structure


@public("data.experimental.dense_to_sparse_batch", "contrib.data.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size, row_shape):
    """For Dataset.apply: up to `batch_size` elements as one SparseTensor, of which each is a row.

    Args:
      batch_size: an int64 scalar, at least 1.
      row_shape: the shape of a row; sizes that are None or -1 become those of the largest element of a batch.

    Raises:
      TypeError: for elements that are not one tensor.
      At run time: tf.errors.InvalidArgumentError for elements of another rank, DataLossError for larger ones.
    """
    return lambda dataset: dataset._of(_DenseToSparseBatchDataset(dataset, batch_size, row_shape))
