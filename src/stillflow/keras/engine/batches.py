"""The batches of runs in eager execution: of arrays, and of what makes them one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from stillflow.datasets.dataset import DatasetV2
from stillflow.graph import nest
from stillflow.keras.engine import data, dataset_feeds, sequences
from stillflow.platform import logging

# Numbers that no order comes to the end of.
_MANY = 1 << 62


def batch_size_of(samples, batch_size, steps):
    """The size of batches, so that there are `steps` of them if it is None. Raises ValueError if both are."""
    if not batch_size and not steps:
        raise ValueError("`batch_size` or `steps` is required for `Tensor` or `NumPy` input data.")
    return batch_size or math.ceil(samples / steps)


def orders(samples, epochs, shuffle, batch_size=None):
    """The order of samples in each epoch. With a size, samples of a batch stay together, in ascending order."""
    found = []
    for _ in range(epochs):
        order = np.arange(samples)
        if batch_size is not None:
            order = data.shuffled_in_batches(order, batch_size)
        elif shuffle:
            np.random.shuffle(order)
        found.append(order)
    return found


def _shapes(tensors, sizes):
    """[(shape, dtype)] of all batches like one, of which the first sizes are given, None where they vary."""
    return [((size, *each.shape.as_list()[1:]), each.dtype) for size, each in zip(sizes, tensors, strict=True)]


def size_of(batch):
    return int(nest.flatten(batch)[0].shape[0])


def with_first(generator):
    """(the first batch of a generator, an iterator of all of them)."""
    first = next(generator)
    return first, itertools.chain([first], generator)


class Arrays:
    """Batches of arrays. All epochs' orders are drawn at the start.

    Args:
      arrays: (inputs, targets, weights), lists.
      batch_size: the size of batches.
      steps: gives the size of batches where there is none.
      epochs: how many epochs there will be.
      shuffle: whether samples come in another order in each epoch.
    """

    def __init__(self, arrays, batch_size, steps, epochs=1, shuffle=False):
        x, y, weights = arrays
        self.samples: Any = data.sample_count(x)
        self.batch_size = batch_size_of(self.samples, batch_size, steps)
        self.size = math.ceil(self.samples / self.batch_size)
        if weights is not None:
            weights = [np.ones(self.samples, np.float32) if each is None else each for each in weights]
        self._parts = [data.as_numpy(part) for part in (x, y or [], weights or [])]
        # Files, as of HDF5, are read in ascending order.
        in_batches = shuffle == "batch" and not all(isinstance(each, np.ndarray) for each in (*x, *(y or ())))
        self._orders = orders(self.samples, epochs, shuffle, self.batch_size if in_batches else None)
        self._batches = self._all()

    def _all(self):
        for order in self._orders:
            for first, last in data.batches(self.samples, self.batch_size):
                yield [data.slices(part, order[first:last]) for part in self._parts]

    def begin(self):
        """The batches of another epoch."""
        return self._batches

    def begin_again(self):
        """Puts the batches back to the first epoch."""
        self._batches = self._all()

    def shapes_of(self, tensors):
        """[(shape, dtype)] of all batches like this one. The sizes of batches are known if all are the same."""
        is_partial = self.samples % self.batch_size and self.size > 1
        return _shapes(tensors, [None if is_partial else each.shape.as_list()[0] for each in tensors])

    def end(self):
        """There is nothing to clean up."""


class _Reordered(sequences.Sequence):
    """The batches of a Sequence in another order."""

    def __init__(self, sequence, order):
        self._sequence = sequence
        self._order = order

    def __len__(self):
        return len(self._order)

    def __getitem__(self, index):
        return self._sequence[self._order[index]]

    def on_epoch_end(self):
        self._sequence.on_epoch_end()


class Batches:
    """Batches that come one by one, of a dataset, a generator or a Sequence."""

    samples: Any = None
    size: Any = None
    batch_size: Any = None

    def __init__(self, model, source, queue, shuffle, class_weight):
        self._model = model
        self._source = source
        self._queue = queue
        self._order: Any = None
        self._enqueuer: Any = None
        if class_weight:
            logging.warning(
                "`class_weight` does not count in eager execution where batches come one by one, as in TensorFlow "
                "1.15: give weights of samples in the batches."
            )
        if isinstance(source, sequences.Sequence):
            self.size = len(source)
            self.batch_size = size_of(source[0])
            self.samples = self.size * self.batch_size
            self._order = DatasetV2.range(_MANY).shuffle(self.size) if shuffle else None
            next(iter(self._order or ()), None)  # TensorFlow looks at one batch before the first epoch
        elif sequences.makes_batches(source):
            first, self._source = with_first(source)
            self.batch_size = size_of(first)

    def begin(self):
        """The batches of another epoch."""
        self.end()
        if dataset_feeds.is_dataset(self._source):
            batches = iter(self._source)
        else:
            source = self._source
            if self._order is not None:
                source = _Reordered(source, [int(number) % self.size for number in self._order.take(self.size)])
            batches, self._enqueuer = sequences.queued(source, shuffle=False, **self._queue)
        return map(self._standardized, batches)

    def begin_again(self):
        """Each epoch begins anew by itself."""

    def shapes_of(self, tensors):
        """[(shape, dtype)] of all batches like this one: what a dataset knows of them, else those of this one."""
        sizes = [each.shape.as_list()[0] for each in tensors]
        if not dataset_feeds.is_dataset(self._source):
            return _shapes(tensors, sizes)
        known: list[Any] = [getattr(spec, "shape", None) for spec in nest.flatten(self._source.element_spec)]
        if len(known) == len(tensors) and all(
            shape is not None and shape.ndims == each.shape.ndims for shape, each in zip(known, tensors, strict=True)
        ):
            return [(tuple(shape.as_list()), each.dtype) for shape, each in zip(known, tensors, strict=True)]
        is_fixed = all(shape is not None and shape.ndims and shape.as_list()[0] is not None for shape in known)
        return _shapes(tensors, sizes if is_fixed else [None] * len(tensors))

    def _standardized(self, batch):
        batch = batch if isinstance(batch, (tuple, list)) else (batch,)
        if not 1 <= len(batch) <= 3:
            raise ValueError(
                "Please provide model inputs as a list or tuple of 2 or 3 elements: (input, target) or (input, "
                f"target, sample_weights) Received {batch}"
            )
        x, y, weights = (*batch, None, None)[:3]
        x, y, weights = self._model._standardize_user_data(x, y, sample_weight=weights)
        return [data.as_dense(each, tensor) for each, tensor in zip(x, self._model.inputs, strict=True)], y, weights

    def end(self):
        """Ends the workers that make batches."""
        if self._enqueuer is not None:
            self._enqueuer.stop()
            self._enqueuer = None
