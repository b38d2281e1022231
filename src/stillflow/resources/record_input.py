"""RecordInput: batches of records of TFRecord files, in a random order."""

from __future__ import annotations

from stillflow import ops
from stillflow.files.records import TFRecordOptions
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.array.split import split


@public("contrib.framework.RecordInput")
class RecordInput:
    """Records of files in a random order, epoch after epoch.

    Args:
      file_pattern: a path, with wildcards where there are several files.
      batch_size: how many records come at a time.
      buffer_size: how many records one is picked from.
      parallelism: how many threads read in TensorFlow. Here none does, and the order follows from the seed.
      shift_ratio: by what part of the files the order is moved on in each epoch.
      seed: the seed of the order.
      name: of the node.
      batches: how many batches to make at a time, as a list; by default one, which is no list.
      compression_type: a TFRecordCompressionType; by default none.
    """

    def __init__(
        self, file_pattern, batch_size=1, buffer_size=1, parallelism=1, shift_ratio=0, seed=0, name=None,
        batches=None, compression_type=None,
    ):  # fmt: skip
        self._batch_size = batch_size if batches is None else batch_size * batches
        self._batches = batches
        self._name = name
        self._attrs = {
            "file_pattern": file_pattern,
            "file_buffer_size": buffer_size,
            "file_parallelism": parallelism,
            "file_shuffle_shift_ratio": shift_ratio,
            "file_random_seed": seed,
            "compression_type": TFRecordOptions.get_compression_type_string(compression_type),
        }

    def get_yield_op(self):
        """The node that yields the next records: a string tensor, or with `batches` a list of lists of scalars."""
        records = ops.record_input(batch_size=self._batch_size, name=self._name, **self._attrs)
        if self._batches is None:
            return records
        batches: list = [[] for _ in range(self._batches)]
        with name_scope(self._name):
            for index, record in enumerate(split(records, self._batch_size, 0)):
                batches[index % self._batches].append(ops.reshape(record, []))
        return batches
