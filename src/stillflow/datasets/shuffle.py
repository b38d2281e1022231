"""Data sets in random order, and the seeds of data sets, which are tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import tf2
from stillflow.random import seeds


def get_seed(seed):
    """The two seeds of a data set as int64 scalars; unlike those of ops, one may be a tensor."""
    first, second = seeds.get_seed(seed)
    first = convert_to_tensor(0 if first is None else first, dtype=dtypes.int64, name="seed")
    if second is None:
        return first, convert_to_tensor(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        second = convert_to_tensor(second, dtype=dtypes.int64)
        # Two zeros would mean unseeded.
        both_zero = ops.logical_and(ops.equal(first, 0), ops.equal(second, 0))
        largest = ops.constant(2**31 - 1, dtype=dtypes.int64)
        return first, ops.where(both_zero, largest, second, name=scope)


class ShuffleDataset(UnaryUnchangedStructureDataset):
    """The elements in random order."""

    _may_reorder = True

    def __init__(self, input_dataset, buffer_size, seed=None, reshuffle_each_iteration=None):
        self._input_dataset = input_dataset
        self._buffer_size = convert_to_tensor(buffer_size, dtype=dtypes.int64, name="buffer_size")
        self._seed, self._seed2 = get_seed(seed)
        self._reshuffle_each_iteration = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        super().__init__(input_dataset, _shuffled(self))


@by_mode
def _shuffled(dataset):
    return ops.shuffle_dataset(
        dataset._input_dataset._variant_tensor,
        buffer_size=dataset._buffer_size,
        seed=dataset._seed,
        seed2=dataset._seed2,
        reshuffle_each_iteration=dataset._reshuffle_each_iteration,
        **dataset._flat_structure,
    )


@eager_version_of(_shuffled)
def _shuffled_in_each_loop(dataset):
    """With TensorFlow 2's behaviour, iterators over one data set take their seeds one after the other."""
    if not tf2.enabled() or not dataset._reshuffle_each_iteration:
        return _shuffled.__wrapped__(dataset)
    generator, _ = ops.anonymous_random_seed_generator(dataset._seed, dataset._seed2)
    get_default_graph().free_with(dataset, generator, "seed_generator")
    variant = dataset._input_dataset._variant_tensor
    return ops.shuffle_dataset_v2(variant, dataset._buffer_size, generator, **dataset._flat_structure)


class ShuffleAndRepeatDataset(UnaryUnchangedStructureDataset):
    """The elements in random order, several times over."""

    _may_reorder = True

    def __init__(self, input_dataset, buffer_size, count=None, seed=None):
        self._input_dataset = input_dataset
        self._buffer_size = convert_to_tensor(buffer_size, dtype=dtypes.int64, name="buffer_size")
        self._count = convert_to_tensor(-1 if count is None else count, dtype=dtypes.int64, name="count")
        self._seed, self._seed2 = get_seed(seed)
        variant = ops.shuffle_and_repeat_dataset(
            input_dataset._variant_tensor,
            buffer_size=self._buffer_size,
            count=self._count,
            seed=self._seed,
            seed2=self._seed2,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)


@public("contrib.data.shuffle_and_repeat")
@public("data.experimental.shuffle_and_repeat")
def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """For Dataset.apply: shuffles and repeats, so that the next pass is under way before one is over.

    Args:
      buffer_size: how many elements are held, an int64 scalar, at least 1.
      count: how many passes; None and -1 are for ever.
      seed: as for Dataset.shuffle.
    """
    return lambda dataset: dataset._of(ShuffleAndRepeatDataset(dataset, buffer_size, count, seed))
