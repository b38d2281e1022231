"""Queues that threads fill from arrays: what numpy_input_fn and pandas_input_fn stand on."""

from __future__ import annotations

import collections
import random
import sys
import types

import numpy as np

from stillflow import errors, ops
from stillflow.composites.summaries import scalar
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.resources.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from stillflow.training.queue_runner import QueueRunner, add_queue_runner
from stillflow.training_loop.messages import log


def is_data_frame(data):
    """Whether it is a DataFrame of pandas; nobody can have one who has not imported pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


# ---- What a thread feeds next -------------------------------------------------------------------------------------


class _Walk:
    """Goes through numbers in order, a batch at a time, over and over."""

    def __init__(self, length, batch_size, random_start, seed, num_epochs):
        self._length = length
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        self._next = _beginning(length, seed) if random_start else 0
        self._last = (self._next - 1) % length  # of an epoch

    def batch(self):
        """The next numbers. Raises OutOfRangeError after the last epoch."""
        numbers, self._epoch = next_numbers(
            self._next, self._batch_size, self._last, self._length, self._epoch, self._num_epochs
        )
        self._next = (numbers[-1] + 1) % self._length
        return numbers


def _beginning(length, seed):
    """Where a random walk begins. With a seed of the graph it is the same every time, unlike TensorFlow's."""
    return random.Random(get_default_graph().seed if seed is None else seed).randrange(length)


def next_numbers(start, batch_size, epoch_end, length, epoch, total_epochs):
    """The numbers of a batch, and how many epochs have ended with it; the last epoch cuts it short.

    Raises OutOfRangeError if that had ended before.
    """
    if total_epochs is not None and epoch >= total_epochs:
        raise errors.OutOfRangeError(None, None, f"Already emitted {epoch} epochs.")
    numbers = [number % length for number in range(start, start + batch_size)]
    ends = [position for position, number in enumerate(numbers) if number == epoch_end]
    epoch += len(ends)
    if total_epochs is None or epoch < total_epochs:
        return numbers, epoch
    return numbers[: ends[-(epoch - total_epochs + 1)] + 1], total_epochs


@public("python.estimator.inputs.queues.feeding_functions._ArrayFeedFn")
class ArrayFeedFn:
    """Feeds rows of an array and their numbers."""

    def __init__(self, placeholders, array, batch_size, random_start=False, seed=None, num_epochs=None):
        if len(placeholders) != 2:
            raise ValueError(f"_array_feed_fn expects 2 placeholders; got {len(placeholders)}.")
        self._placeholders = placeholders
        self._array = array
        self._walk = _Walk(len(array), batch_size, random_start, seed, num_epochs)

    def __call__(self):
        numbers = self._walk.batch()
        return dict(zip(self._placeholders, (numbers, self._array[numbers]), strict=True))


@public("python.estimator.inputs.queues.feeding_functions._OrderedDictNumpyFeedFn")
class OrderedDictNumpyFeedFn:
    """Feeds rows of several arrays of one length, and their numbers."""

    def __init__(
        self, placeholders, ordered_dict_of_arrays, batch_size, random_start=False, seed=None, num_epochs=None
    ):
        arrays = list(ordered_dict_of_arrays.values())
        if len(placeholders) != len(arrays) + 1:
            raise ValueError(f"Expected {len(arrays)} placeholders; got {len(placeholders)}.")
        if any(len(array) != len(arrays[0]) for array in arrays):
            raise ValueError("Array lengths must match.")
        self._placeholders = placeholders
        self._arrays = arrays
        self._walk = _Walk(len(arrays[0]), batch_size, random_start, seed, num_epochs)

    def __call__(self):
        numbers = self._walk.batch()
        values = [numbers, *(array[numbers] for array in self._arrays)]
        return dict(zip(self._placeholders, values, strict=True))


@public("python.estimator.inputs.queues.feeding_functions._PandasFeedFn")
class PandasFeedFn:
    """Feeds rows of a DataFrame and their index."""

    def __init__(self, placeholders, dataframe, batch_size, random_start=False, seed=None, num_epochs=None):
        if len(placeholders) != len(dataframe.columns) + 1:
            raise ValueError(f"Expected {len(dataframe.columns) + 1} placeholders; got {len(placeholders)}.")
        self._placeholders = placeholders
        self._dataframe = dataframe
        self._walk = _Walk(len(dataframe), batch_size, random_start, seed, num_epochs)

    def __call__(self):
        rows = self._dataframe.iloc[self._walk.batch()]
        values = [rows.index.values, *(rows[name].values for name in rows.columns)]
        return dict(zip(self._placeholders, values, strict=True))


@public("python.estimator.inputs.queues.feeding_functions._GeneratorFeedFn")
class GeneratorFeedFn:
    """Feeds what a generator of dicts yields; with `pad_value`, arrays are made as long as the longest of a batch."""

    def __init__(
        self, placeholders, generator, batch_size, random_start=False, seed=None, num_epochs=None, pad_value=None
    ):
        first = next(generator())
        if len(placeholders) != len(first):
            raise ValueError(f"Expected {len(first)} placeholders; got {len(placeholders)}.")
        self._keys: list = sorted(first)
        self._placeholders = placeholders
        self._generator = generator
        self._iterator = generator()
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        self._pad_value = pad_value

    def __call__(self):
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._epoch} epochs.")
        columns: list = [[] for _ in self._keys]
        count = 0  # of values, as TensorFlow counts
        while count < self._batch_size:
            try:
                row = next(self._iterator)
            except StopIteration:
                self._epoch += 1
                self._iterator = self._generator()
                row = next(self._iterator)
            for key, column in zip(self._keys, columns, strict=True):
                if key not in row:
                    raise KeyError(
                        f"key mismatch between dicts emitted by GenFun Expected {self._keys} keys; got {row.keys()}"
                    )
                column.append(row[key])
                count += 1
        if self._pad_value is not None:
            columns = [padded(column, self._pad_value) for column in columns]
        return {
            placeholder: np.asarray(column) for placeholder, column in zip(self._placeholders, columns, strict=True)
        }


@public("python.estimator.inputs.queues.feeding_functions._pad_if_needed")
def padded(arrays, value=0):
    """Arrays that differ in their last dimension only, made of one length. Raises ValueError for others."""
    shapes = [array.shape[:-1] if array.ndim else -1 for array in arrays]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("Array shapes must match.")
    lengths = [array.shape[-1] if array.ndim else 0 for array in arrays]
    if all(length == lengths[0] for length in lengths):
        return arrays
    shape = (len(arrays), *arrays[0].shape[:-1], max(lengths))
    result = np.full(shape, value, arrays[0].dtype)
    for row, array, length in zip(result, arrays, lengths, strict=True):
        row[..., :length] = array
    return result


# ---- Threads and queues -------------------------------------------------------------------------------------------


@public(
    "contrib.training.FeedingQueueRunner", "python.estimator.inputs.queues.feeding_queue_runner._FeedingQueueRunner"
)
class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose threads feed what a function of theirs returns.

    Args:
      queue, enqueue_ops, close_op, cancel_op: as for a QueueRunner.
      feed_fns: functions that return a feed_dict, or None, one for each operation.
      queue_closed_exception_types: as for a QueueRunner; the end of the input and of the session by default.

    Raises ValueError if there are not as many functions as operations.
    """

    def __init__(
        self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, feed_fns=None,
        queue_closed_exception_types=None,
    ):  # fmt: skip
        types = queue_closed_exception_types or (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types=types)
        self._feed_fns = [None for _ in enqueue_ops] if feed_fns is None else feed_fns
        if len(self._feed_fns) != len(enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")

    def _enqueuer(self, sess, number):
        enqueue_op, feed_fn = self._enqueue_ops[number], self._feed_fns[number]
        if feed_fn is None:
            return super()._enqueuer(sess, number)
        return lambda: sess.run(enqueue_op, feed_dict=feed_fn())

    def _init_from_proto(self, queue_runner_def, import_scope):
        raise NotImplementedError(f"{type(self).__name__} does not support initialization from proto.")

    def to_proto(self, export_scope=None):
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")


def _columns(data):
    """The types and shapes of what is in the queue, and what feeds it."""
    if isinstance(data, np.ndarray):
        return [dtypes.int64, dtypes.as_dtype(data.dtype)], [(), data.shape[1:]], ArrayFeedFn
    if isinstance(data, collections.OrderedDict):
        columns = list(data.values())
        kinds = [dtypes.int64, *(dtypes.as_dtype(column.dtype) for column in columns)]
        return kinds, [(), *(column.shape[1:] for column in columns)], OrderedDictNumpyFeedFn
    if isinstance(data, types.FunctionType):
        first = next(data())
        columns = [first[key] for key in sorted(first)]
        return [dtypes.as_dtype(each.dtype) for each in columns], [each.shape for each in columns], GeneratorFeedFn
    if is_data_frame(data):
        kinds = [dtypes.as_dtype(dtype) for dtype in (data.index.dtype, *data.dtypes)]
        return kinds, [() for _ in kinds], PandasFeedFn
    raise TypeError(
        f"data must be either a numpy array or pandas DataFrame if pandas is installed; got {type(data).__name__}"
    )


@public("python.estimator.inputs.queues.feeding_functions._enqueue_data")
def enqueue_data(
    data, capacity, shuffle=False, min_after_dequeue=None, num_threads=1, seed=None, name="enqueue_input",
    enqueue_size=1, num_epochs=None, pad_value=None,
):  # fmt: skip
    """A queue of the rows of data, and the queue runner that fills it.

    Args:
      data: an array; an OrderedDict of arrays; a DataFrame; or a function that returns a generator of dicts.
      capacity: how many rows the queue holds.
      shuffle: whether it gives them in random order, from a random beginning.
      min_after_dequeue: how many rows a queue in random order keeps; a quarter by default.
      num_threads: how many threads fill it, each with all the data.
      seed: of the random order and beginnings.
      name: the scope of the nodes.
      enqueue_size: how many rows to put in at once.
      num_epochs: how often each thread goes through the data; None for ever.
      pad_value: what to make arrays of a generator as long as the longest with.

    Raises:
      TypeError: for other data.
      NotImplementedError: for padding of what is no generator, or with `shuffle`.
    """
    with name_scope(name):
        kinds, shapes, feed_fn = _columns(data)
        options = {} if pad_value is None else {"pad_value": pad_value}
        if options and feed_fn is not GeneratorFeedFn:
            raise NotImplementedError("padding is only available with generator usage")
        if shuffle and options:
            raise NotImplementedError("padding and shuffling data at the same time is not implemented")
        _warn(shuffle, num_threads, num_epochs)
        least = 0
        queue: QueueBase
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = RandomShuffleQueue(capacity, least, dtypes=kinds, shapes=shapes, seed=seed)
        else:
            if options:
                shapes = [(*shape[:-1], None) if shape else shape for shape in shapes]
            queue = (PaddingFIFOQueue if options else FIFOQueue)(capacity, dtypes=kinds, shapes=shapes)
        enqueues, feeds = [], []
        for number in range(num_threads):
            placeholders = [ops.placeholder(kind) for kind in kinds]
            enqueues.append(queue.enqueue_many(placeholders))
            own_seed = None if seed is None else (number + 1) * seed
            feeds.append(feed_fn(placeholders, data, enqueue_size, shuffle, own_seed, num_epochs, **options))
        add_queue_runner(FeedingQueueRunner(queue, enqueues, feed_fns=feeds))
        full = ops.cast(ops.maximum(0, queue.size() - least), dtypes.float32) * (1.0 / (capacity - least))
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full", full)
        return queue


def _warn(shuffle, num_threads, num_epochs):
    """Says what comes of several threads."""
    if num_threads <= 1:
        return
    if num_epochs is not None:
        log().warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so this "
            "will produce more epochs than you probably intend. If you want to limit epochs, use one thread."
        )
    if shuffle and num_epochs is not None:
        log().warning(
            "enqueue_data was called with shuffle=True, num_threads > 1, and num_epochs. This will create multiple "
            "threads, all reading the array/dataframe in order adding to the same shuffling queue; the results will "
            "likely not be sufficiently shuffled."
        )
    if not shuffle:
        log().warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple threads, all "
            "reading the array/dataframe in order. If you want examples read in order, use one thread; if you want "
            "multiple threads, enable shuffling."
        )
