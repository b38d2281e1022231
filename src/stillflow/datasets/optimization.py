"""Data sets by which rewrites of pipelines are chosen and tested."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.dataset import DatasetV2
from stillflow.datasets.node import DatasetNode, UnaryUnchangedStructureDataset
from stillflow.datasets.rewriting import ModelDataset, OptimizeDataset
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class _AssertNextDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, transformations):
        self._input_dataset = input_dataset
        self._transformations = convert_to_tensor(transformations, dtype=dtypes.string, name="transformations")
        variant = ops.assert_next_dataset(
            input_dataset._variant_tensor, self._transformations, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


class _NonSerializableDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset):
        self._input_dataset = input_dataset
        super().__init__(
            input_dataset, ops.non_serializable_dataset(input_dataset._variant_tensor, **self._flat_structure)
        )


class _ChooseFastestDataset(DatasetNode):
    def __init__(self, datasets, num_experiments):
        self._datasets = list(datasets)
        super().__init__(
            ops.choose_fastest_dataset(
                [dataset._variant_tensor for dataset in self._datasets],
                num_experiments=num_experiments,
                **self._flat_structure,
            )
        )

    def _inputs(self):
        return self._datasets

    @property
    def element_spec(self):
        return self._datasets[0].element_spec


@public("python.data.experimental.ops.optimization.assert_next")
def assert_next(transformations):
    """For `apply`: fails when it runs unless the data sets that follow, after rewrites, are of the types named.

    Raises:
      ValueError: for None.
    """
    if transformations is None:
        raise ValueError("At least one transformation should be specified")
    return lambda dataset: DatasetV2._of(_AssertNextDataset(dataset, transformations))


@public("python.data.experimental.ops.optimization.non_serializable")
def non_serializable():
    """For `apply`: the same elements of what TensorFlow cannot write into a graph."""
    return lambda dataset: DatasetV2._of(_NonSerializableDataset(dataset))


@public("python.data.experimental.ops.optimization.model")
def model():
    """For `apply`: the same elements; TensorFlow tunes what comes before."""
    return lambda dataset: DatasetV2._of(ModelDataset(dataset, 0, 0))


@public("python.data.experimental.ops.optimization.optimize")
def optimize(optimizations=None):
    """For `apply`: rewrites what comes before by the rewrites named."""
    return lambda dataset: DatasetV2._of(OptimizeDataset(dataset, optimizations or [], []))


@public("python.data.experimental.ops.optimization._ChooseFastestDataset")
def choose_fastest(datasets, num_experiments=10):
    """The elements of one of several data sets that have the same: here of the first, which TensorFlow measures."""
    return DatasetV2._of(_ChooseFastestDataset(datasets, num_experiments))
