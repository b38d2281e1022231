"""Readers that fill one queue with records: tf.contrib.slim.parallel_reader."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.files.gfile import Glob
from stillflow.graph import dtypes as _dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.resources.queues import FIFOQueue, RandomShuffleQueue
from stillflow.resources.readers import ReaderBase
from stillflow.training.input_producers import string_input_producer
from stillflow.training.queue_runner import QueueRunner, add_queue_runner

public_module("contrib.slim.parallel_reader", "contrib.slim.python.slim.data.parallel_reader")


class ParallelReader(ReaderBase):
    """Several readers of one kind, which put what they read into a queue that is read from.

    Args:
      reader_class: the kind, as tf.TFRecordReader.
      common_queue: a queue of keys and values, both strings.
      num_readers: how many.
      reader_kwargs: their arguments.

    Raises:
      TypeError: for a queue of something else.
    """

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        if [dtype.base_dtype for dtype in common_queue.dtypes] != [_dtypes.string, _dtypes.string]:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self):
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self):
        """The queue that they fill."""
        return self._common_queue

    def read(self, queue, name=None):
        """(key, value): the next record from the files that a queue has the names of."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """(keys, values): the next records, as many as there are, but no more than `num_records`."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue):
        enqueue_ops = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueue_ops))

    def num_records_produced(self, name=None):
        """How many records were read, a scalar int64 tensor."""
        return ops.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        """How many files were read to their end, a scalar int64 tensor."""
        return ops.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True, dtypes=None,
    capacity=256, min_after_dequeue=128, seed=None, scope=None,
):  # fmt: skip
    """(key, value): the next record of some files, which several readers read.

    Args:
      data_sources: the files: a pattern, or a list of such.
      reader_class, num_readers, reader_kwargs: the readers; see ParallelReader.
      num_epochs: how often each file is read; None for ever again.
      shuffle: whether files and records come in random order.
      dtypes: [tf.string, tf.string].
      capacity: how many records the queue holds.
      min_after_dequeue: how many it holds at least, when records are shuffled.
      seed: of the order.
      scope: of the nodes.

    Raises:
      ValueError: for no files.
      TypeError: for other dtypes.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        filenames = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [_dtypes.string, _dtypes.string]
        queue = (
            RandomShuffleQueue(capacity, min_after_dequeue, dtypes, seed=seed, name="common_queue")
            if shuffle
            else FIFOQueue(capacity, dtypes, name="common_queue")
        )
        full = ops.cast(queue.size(), _dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", full)
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(filenames)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """(key, value): the next record of some files, each read once, in order; see parallel_read."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        filenames = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filenames)


def get_data_files(data_sources):
    """A list of the files that a pattern, or a list of patterns, means. Raises ValueError for none."""
    if isinstance(data_sources, (list, tuple)):
        found = [name for source in data_sources for name in get_data_files(source)]
    elif any(mark in data_sources for mark in "*?["):
        found = Glob(data_sources)
    else:
        found = [data_sources]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found
