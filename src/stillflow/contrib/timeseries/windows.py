"""Input functions of series: all of one, or windows that are cut out of it anywhere."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.array.reverse import reverse_v2
from stillflow.ops.control_flow.cond import cond
from stillflow.random.sampling import random_uniform
from stillflow.training.batching import batch, maybe_shuffle_batch
from stillflow.variables.assignments import assign, is_variable_initialized
from stillflow.variables.variable import Variable

_TIMES = TrainEvalFeatures.TIMES


@public("contrib.timeseries.python.timeseries.input_pipeline.TimeSeriesInputFn")
class TimeSeriesInputFn:
    """An input function of Estimators."""

    @abc.abstractmethod
    def create_batch(self):
        """({name: tensor [batch, window, ...]}, None)."""

    def __call__(self):
        return self.create_batch()


@public("contrib.timeseries.WholeDatasetInputFn")
class WholeDatasetInputFn(TimeSeriesInputFn):
    """Gives all of a series at once, in a batch of one.

    Args:
      time_series_reader: a reader of it.
    """

    def __init__(self, time_series_reader):
        self._reader = time_series_reader

    def create_batch(self):
        return {name: value[None, ...] for name, value in self._reader.read_full().items()}, None


@public("contrib.timeseries.RandomWindowInputFn")
class RandomWindowInputFn(TimeSeriesInputFn):
    """Gives windows of a series in random order.

    Args:
      time_series_reader: a reader of it.
      window_size: how many steps a window has.
      batch_size: how many windows a batch has.
      queue_capacity_multiplier: how many batches wait.
      shuffle_min_after_dequeue_multiplier: among how many batches windows are chosen.
      discard_out_of_order: whether windows over the end of a series are left out; else their steps are put in order.
      discard_consecutive_batches_limit: after how many batches without a window in order reading fails.
      jitter: whether windows begin at any step.
      num_threads: how many threads read; None for `batch_size`.
      shuffle_seed: of the order.

    Raises ValueError for a series with less steps than a window.
    """

    def __init__(
        self, time_series_reader, window_size, batch_size, queue_capacity_multiplier=1000,
        shuffle_min_after_dequeue_multiplier=2, discard_out_of_order=True, discard_consecutive_batches_limit=1000,
        jitter=True, num_threads=2, shuffle_seed=None,
    ):  # fmt: skip
        self._reader = time_series_reader
        self._window_size = window_size
        self._reader.check_dataset_size(minimum_dataset_size=window_size)
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._shuffle_min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self):
        windows = self._windows(self._reader.read())
        if self._discard_out_of_order:
            kept = self._limited(ops.reduce_all(windows[_TIMES][:, 1:] >= windows[_TIMES][:, :-1], axis=1))
        else:
            windows, kept = _in_order(windows), True
        shuffled = maybe_shuffle_batch(
            windows,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
            batch_size=self._batch_size,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._shuffle_min_after_dequeue_multiplier * self._batch_size,
            keep_input=kept,
            enqueue_many=True,
        )
        return shuffled, None

    def _windows(self, features):
        """{name: tensor [batch, window, ...]} of steps, one window behind the other."""
        jitter = random_uniform(shape=[], maxval=2, dtype=dtypes.int32) if self._jitter else 0
        steps = batch(
            features,
            batch_size=self._window_size * self._batch_size + jitter,
            enqueue_many=True,
            capacity=self._queue_capacity_multiplier * self._batch_size * self._window_size,
            num_threads=self._num_threads,
        )
        cut = {name: value[jitter:] for name, value in steps.items()} if self._jitter else steps
        sizes = [self._batch_size, self._window_size]
        windows = {
            name: ops.reshape(value, ops.concat([sizes, ops.shape(value)[1:]], axis=0)) for name, value in cut.items()
        }
        for name, value in windows.items():
            value.set_shape(TensorShape(sizes).concatenate(steps[name].shape[1:]))
        return windows

    def _limited(self, is_kept):
        """`is_kept`, which fails when there was no window for too long."""
        count = Variable(
            constant(0, dtype=dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        def counted():
            return cond(
                ops.reduce_any(is_kept),
                lambda: assign(count, 0),
                lambda: count.count_up_to(self._discard_limit),
            )

        check = cond(is_variable_initialized(count), counted, lambda: constant(0, dtype=dtypes.int64))
        with control_dependencies([check]):
            return ops.identity(is_kept)


def _in_order(windows):
    """Windows whose steps are in the order of their times."""
    times = windows[_TIMES]
    _, descending = ops.top_k(times, k=ops.shape(times)[-1], sorted=True)
    indices = reverse_v2(descending, axis=[0])
    return {name: ops.gather(value, indices) for name, value in windows.items()}
