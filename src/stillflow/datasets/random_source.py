"""RandomDataset: random numbers without end."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.dataset import DatasetV1Adapter
from stillflow.datasets.node import DatasetSource
from stillflow.datasets.shuffle import get_seed
from stillflow.graph import dtypes
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public


class _RandomDataset(DatasetSource):
    def __init__(self, seed=None):
        self._seed, self._seed2 = get_seed(seed)
        super().__init__(ops.random_dataset(seed=self._seed, seed2=self._seed2, **self._flat_structure))

    @property
    def element_spec(self):
        return TensorSpec([], dtypes.int64)


@public("data.experimental.RandomDataset", "contrib.data.RandomDataset")
class RandomDataset(DatasetV1Adapter):
    """Scalars of int64, each from 0 to 2**32 - 1.

    Args:
      seed: an integer; with it, or with that of the graph, they are always the same.
    """

    def __init__(self, seed=None):
        super().__init__(_RandomDataset(seed))
