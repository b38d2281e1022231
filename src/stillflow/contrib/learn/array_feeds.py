"""Arrays as the input of an Estimator: placeholders, and a hook that feeds batches to them."""

from __future__ import annotations

import numpy as np

from stillflow import errors
from stillflow.graph import dtypes
from stillflow.ops.array.placeholder import placeholder
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.messages import log

_SEED = 42


def _checked(data):
    """The arrays of arrays or lists, or of a dict of them."""
    if data is None:
        return None
    if isinstance(data, dict):
        return {key: _checked(value) for key, value in data.items()}
    data = np.asarray(data)
    if data.dtype == np.float64:
        log().warning("float64 is not supported by many models, consider casting to float32.")
    return data


class ArrayFeeds(SessionRunHook):
    """The input function and the hook for features `x` and labels `y`, arrays or dicts of them.

    Args:
      x, y: features and labels; y is None if there are none.
      batch_size: how many rows a batch has; None for all.
      shuffle: whether rows come in random order, the same each time.
      epochs: how often each row comes; None for ever again.
    """

    def __init__(self, x, y, batch_size, shuffle, epochs):
        self._x, self._y = _checked(x), _checked(y)
        first = next(iter(self._x.values())) if isinstance(self._x, dict) else self._x
        self._count = len(first)
        self._batch_size = self._count if batch_size is None else batch_size
        self._shuffle = shuffle
        self._epochs = epochs
        self._random = np.random.RandomState(_SEED)
        self._start()
        self._epoch = 0

    def _start(self):
        self._order = self._random.permutation(self._count) if self._shuffle else np.arange(self._count)
        self._offset = 0

    def input_fn(self):
        """(features, labels): placeholders."""
        self._placeholders = [_placeholders(self._x, "input"), _placeholders(self._y, "output")]
        return tuple(self._placeholders)

    def before_run(self, run_context):
        if self._epochs is not None and self._epoch >= self._epochs:
            raise errors.OutOfRangeError(None, None, "The arrays have come to their end.")
        rows = self._order[self._offset : self._offset + self._batch_size]
        self._offset += self._batch_size
        if self._offset >= self._count:
            self._start()
            self._epoch += 1
        features, labels = self._placeholders
        feeds = _feeds(features, self._x, rows, as_columns=True)
        feeds.update(_feeds(labels, self._y, rows, as_columns=False))
        return SessionRunArgs(None, feed_dict=feeds)


def _placeholders(data, name):
    if data is None:
        return None
    if isinstance(data, dict):
        return {key: _placeholder(value, f"{name}_{key}", name) for key, value in data.items()}
    return _placeholder(data, name, name)


def _placeholder(data, name, kind):
    is_column = kind == "input" and data.ndim == 1
    shape = [None, 1] if is_column else [None, *data.shape[1:]]
    return placeholder(dtypes.as_dtype(data.dtype), shape, name=name)


def _feeds(tensors, data, rows, as_columns):
    if data is None:
        return {}
    if isinstance(data, dict):
        return {tensors[key]: _rows(value, rows, as_columns) for key, value in data.items()}
    return {tensors: _rows(data, rows, as_columns)}


def _rows(data, rows, as_columns):
    found = data[rows]
    return found.reshape(-1, 1) if as_columns and found.ndim == 1 else found
