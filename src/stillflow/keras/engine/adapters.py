"""TensorFlow's data adapters: data of each kind as a dataset of batches, and what is known of these."""

from __future__ import annotations

import abc
import math
import types
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.datasets.dataset import DatasetV2
from stillflow.graph import nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.operation import Tensor
from stillflow.keras.engine import dataset_feeds, sequences
from stillflow.keras.engine.batches import batch_size_of, orders, size_of, with_first
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import logging


def _is_empty(structure):
    return structure is None or not nest.flatten(structure)


def _element(structure):
    """What datasets take for a structure: its only part, or tuples for lists. None for nothing."""
    if _is_empty(structure):
        return None
    parts = nest.flatten(structure)
    if len(parts) == 1:
        return parts[0]
    found = nest.map_structure(
        lambda each: convert_to_tensor(each) if isinstance(each, np.ndarray) else each, structure
    )
    return tuple(found) if isinstance(found, list) else found


def _elements(x, y, sample_weights):
    """A tuple of inputs, targets and weights, without those at the end that are not there."""
    x, y, weights = _element(x), _element(y), _element(sample_weights)
    if isinstance(weights, tuple) and any(each is None for each in weights):
        count = next(each for each in weights if each is not None).shape[0]
        weights = tuple(ops.ones((count,)) if each is None else each for each in weights)
    if y is None:
        return (x,)
    return (x, y) if weights is None else (x, y, weights)


@public("python.keras.engine.data_adapter.DataAdapter")
class DataAdapter(abc.ABC):
    """Data of one kind, as a dataset of batches.

    Args:
      x: inputs.
      y: targets, or None.
      kwargs: what a kind has to know besides.
    """

    _dataset: Any
    _size: int | None = None
    _batch_size: int | None = None
    _partial_batch_size: int | None = None

    @staticmethod
    @abc.abstractmethod
    def can_handle(x, y=None):
        """Whether the data are of this kind."""

    @abc.abstractmethod
    def __init__(self, x, y=None, **kwargs):
        if not self.can_handle(x, y):
            raise ValueError(f"{self.__class__} Cannot handle input {x}")

    def get_dataset(self):
        """The dataset of batches."""
        return self._dataset

    def get_size(self):
        """The number of batches, or None if it is not known."""
        return self._size

    def batch_size(self):
        """The size of batches, or None if it is not known."""
        return self._batch_size

    def has_partial_batch(self):
        """Whether it is known that the last batch is smaller."""
        return self._partial_batch_size is not None

    def partial_batch_size(self):
        """The size of the last batch if that is smaller, else None."""
        return self._partial_batch_size

    def should_recreate_iterator(self, steps_per_epoch):
        """Whether each epoch begins with a new iterator of the dataset."""
        return self._size is not None or steps_per_epoch is None

    def _count(self, samples, batch_size, steps):
        self._batch_size = batch_size_of(samples, batch_size, steps)
        self._size = math.ceil(samples / self._batch_size)
        self._partial_batch_size = samples % self._batch_size or None


def refuse_others(x, y, sample_weights):
    """Raises ValueError for targets and weights where x, a dataset, a generator or a Sequence, has them."""
    what = "dataset" if dataset_feeds.is_dataset(x) else "python generator"
    what = "`keras.utils.Sequence`" if isinstance(x, sequences.Sequence) else what
    for name, value in (("y", y), ("sample_weight", sample_weights)):
        if not _is_empty(value):
            raise ValueError(f"`{name}` argument is not supported when using {what} as input.")


def _is_array(value):
    return isinstance(value, (Tensor, np.ndarray))


def _is_composite(value):
    return isinstance(value, CompositeTensor) and not dataset_feeds.is_dataset(value)


def _all_parts(x, y):
    return nest.flatten(x) + ([] if y is None else nest.flatten(y))


@public("python.keras.engine.data_adapter.TensorLikeDataAdapter")
class TensorLikeDataAdapter(DataAdapter):
    """Tensors and arrays. The dataset has the batches of all epochs."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether the data are tensors and arrays alone."""
        return all(map(_is_array, _all_parts(x, y)))

    def __init__(
        self, x, y=None, sample_weights=None, batch_size=None, epochs=1, steps=None, shuffle=False, **kwargs
    ):
        super().__init__(x, y, **kwargs)
        self._make(_elements(x, y, sample_weights), batch_size, epochs, steps, shuffle)

    def _make(self, elements, batch_size, epochs=1, steps=None, shuffle=False):
        samples = size_of(elements)
        self._count(samples, batch_size, steps)
        rows = DatasetV2.from_tensor_slices(np.stack(orders(samples, epochs, shuffle)))
        rows = rows.flat_map(lambda order: DatasetV2.from_tensor_slices(order).batch(self._batch_size))
        self._dataset = DatasetV2.zip((DatasetV2.from_tensors(elements).repeat(), rows)).map(self._picked)

    def _picked(self, elements, rows):
        if self._partial_batch_size is None or self._size == 1:  # all batches have the same size
            rows.set_shape([self._partial_batch_size or self._batch_size])
        return nest.map_structure(lambda each: ops.gather(each, rows), elements)

    def should_recreate_iterator(self, _):
        """Not: the dataset has the batches of all epochs."""
        return False


@public("python.keras.engine.data_adapter.CompositeTensorDataAdapter")
class CompositeTensorDataAdapter(DataAdapter):
    """Sparse and ragged tensors, with others or alone."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether the data are tensors and arrays, and some of them composite."""
        parts = _all_parts(x, y)
        return any(map(_is_composite, parts)) and all(_is_array(each) or _is_composite(each) for each in parts)

    def __init__(self, x, y=None, sample_weights=None, batch_size=None, steps=None, shuffle=False, **kwargs):
        super().__init__(x, y, **kwargs)
        elements = _elements(x, y, sample_weights)
        samples = size_of(elements)
        self._count(samples, batch_size, steps)
        dataset = DatasetV2.from_tensor_slices(elements)
        dataset = dataset.shuffle(samples) if shuffle else dataset
        self._dataset = dataset.batch(self._batch_size)


@public("python.keras.engine.data_adapter.ListsOfScalarsDataAdapter")
class ListsOfScalarsDataAdapter(TensorLikeDataAdapter):
    """Lists of numbers or strings, and lists of such lists."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether the data are such lists."""

        def is_list(value):
            if isinstance(value, (list, tuple)):
                return bool(value) and is_list(value[0])
            return isinstance(value, (float, int, str))

        return is_list(x) and (y is None or is_list(y))

    def __init__(self, x, y=None, sample_weights=None, batch_size=None, shuffle=False, **kwargs):
        DataAdapter.__init__(self, x, y)
        x, y, weights = (None if each is None else np.asarray(each) for each in (x, y, sample_weights))
        self._make(_elements(x, y, weights), batch_size, shuffle=shuffle, **kwargs)


@public("python.keras.engine.data_adapter.DatasetAdapter")
class DatasetAdapter(DataAdapter):
    """A dataset, whose size shows when it ends."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether x is a dataset."""
        return dataset_feeds.is_dataset(x)

    def __init__(self, x, y=None, sample_weights=None, **kwargs):
        super().__init__(x, y, **kwargs)
        refuse_others(x, y, sample_weights)
        self._dataset = x


class _QueuedAdapter(DataAdapter):
    """What makes batches one by one; workers do it ahead of their use."""

    def _make(self, source, first, workers, use_multiprocessing, max_queue_size):
        def batches():
            if workers <= 0:
                return iter(source)
            return sequences.queued(source, workers, use_multiprocessing, max_queue_size, shuffle=False)[0]

        dtypes = nest.map_structure(lambda each: each.dtype, first)
        shapes = nest.map_structure(lambda each: each.shape, first)
        self._batch_size = size_of(first)
        self._dataset = DatasetV2.from_generator(batches, dtypes, output_shapes=shapes)


@public("python.keras.engine.data_adapter.GeneratorDataAdapter")
class GeneratorDataAdapter(_QueuedAdapter):
    """A generator, of which one batch is taken at once."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether x is a generator."""
        return isinstance(x, types.GeneratorType)

    def __init__(
        self, x, y=None, sample_weights=None, workers=1, use_multiprocessing=False, max_queue_size=10, **kwargs
    ):
        super().__init__(x, y, **kwargs)
        refuse_others(x, y, sample_weights)
        if workers > 0 and use_multiprocessing:
            logging.warning(
                "Using a generator with `use_multiprocessing=True` and multiple workers may duplicate your data. "
                "Please consider using the `tf.data.Dataset`."
            )
        first, batches = with_first(x)
        self._make(batches, first, workers, use_multiprocessing, max_queue_size)


@public("python.keras.engine.data_adapter.KerasSequenceAdapter")
class KerasSequenceAdapter(_QueuedAdapter):
    """A Sequence."""

    @staticmethod
    def can_handle(x, y=None):
        """Whether x is a Sequence."""
        return isinstance(x, sequences.Sequence)

    def __init__(
        self, x, y=None, sample_weights=None, shuffle=False, workers=1, use_multiprocessing=False, max_queue_size=10,
        **kwargs,
    ):  # fmt: skip
        super().__init__(x, y, **kwargs)
        refuse_others(x, y, sample_weights)
        self._size = len(x)
        self._make(x, x[0], workers, use_multiprocessing, max_queue_size)
        if shuffle:
            self._dataset = self._dataset.shuffle(self._size)


_KINDS: list = [
    ListsOfScalarsDataAdapter, TensorLikeDataAdapter, DatasetAdapter, GeneratorDataAdapter, KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]  # fmt: skip


def has_adapter(x):
    """Whether some kind of data has such inputs."""
    return any(kind.can_handle(x) for kind in _KINDS)


@public("python.keras.engine.data_adapter.select_data_adapter")
def select_data_adapter(x, y):
    """The class that can handle the data. Raises ValueError if there is none."""
    found = [kind for kind in _KINDS if kind.can_handle(x, y)]
    if not found:
        raise ValueError(f"Failed to find data adapter that can handle input: {_described(x)}, {_described(y)}")
    return found[0]


def _described(x):
    """What an object is, for messages."""
    if isinstance(x, dict):
        keys, values = {_described(each) for each in x}, {_described(each) for each in x.values()}
        return f"({type(x)} containing {keys} keys and {values} values)"
    if isinstance(x, (list, tuple)):
        kinds = {_described(each) for each in x}
        return f"({type(x)} containing values of types {kinds})"
    return str(type(x))
