"""Data sets of tensors, their rows, numbers and names of files."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.composites.strings import reduce_join
from stillflow.datasets import nest, structure
from stillflow.datasets.node import DatasetSource
from stillflow.datasets.shuffle import ShuffleDataset
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import Dimension
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor


class TensorDataset(DatasetSource):
    """One element."""

    def __init__(self, element):
        element = structure.normalize_element(element)
        self._structure = structure.type_spec_from_value(element)
        self._tensors = structure.to_tensor_list(self._structure, element)
        variant = ops.tensor_dataset(self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure))
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


class TensorSliceDataset(DatasetSource):
    """An element for each row."""

    def __init__(self, element):
        element = structure.normalize_element(element)
        batched = structure.type_spec_from_value(element)
        self._tensors = structure.to_batched_tensor_list(batched, element)
        self._structure = nest.map_structure(lambda part: part._unbatch(), batched)
        rows = _row_count(self._tensors[0])
        for tensor in self._tensors[1:]:
            rows.assert_is_compatible_with(_row_count(tensor))
        variant = ops.tensor_slice_dataset(
            self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure)
        )
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


def _row_count(tensor):
    return Dimension(None) if tensor.shape.rank is None else tensor.shape.dims[0]


class RangeDataset(DatasetSource):
    """Numbers."""

    def __init__(self, *args):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self._start, self._stop, self._step = (
            convert_to_tensor(value, dtype=dtypes.int64, name=name)
            for value, name in ((start, "start"), (stop, "stop"), (step, "step"))
        )
        super().__init__(ops.range_dataset(self._start, self._stop, self._step, **self._flat_structure))

    @property
    def element_spec(self):
        return TensorSpec([], dtypes.int64)


class SparseTensorSliceDataset(DatasetSource):
    """An element for each row of a sparse tensor: the indices, the values and the shape of the row."""

    def __init__(self, sparse_tensor):
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}.")
        self._sparse_tensor = sparse_tensor
        columns = sparse_tensor.indices.shape.dims[1] - 1
        rank = columns.merge_with(sparse_tensor.dense_shape.shape.dims[0] - 1)
        self._structure = (
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rank], dtypes.int64),
        )
        variant = ops.sparse_tensor_slice_dataset(
            sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        )
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


def list_files(file_pattern, shuffle=None, seed=None):
    """The names of the files that a pattern matches; see Dataset.list_files."""
    with name_scope("list_files"):
        pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        files = ops.matching_files(pattern)
        is_any = ops.greater(ops.shape(files)[0], 0, name="match_not_empty")
        message = ops.add("No files matched pattern: ", reduce_join(pattern, separator=", "), name="message")
        check = assert_that(is_any, [message], summarize=1, name="assert_not_empty")
        with get_default_graph().control_dependencies([check]):
            files = ops.identity(files)
        dataset = TensorSliceDataset(files)
        if shuffle is None or shuffle:
            count = ops.maximum(ops.shape(files, out_type=dtypes.int64)[0], 1)
            return ShuffleDataset(dataset, count, seed)
        return dataset
