"""tf.data.experimental.TFRecordWriter: writes the elements of a data set to a file."""

from __future__ import annotations

import itertools
import threading

import numpy as np

from stillflow import ops
from stillflow.composites.py_func import py_func
from stillflow.datasets import structure
from stillflow.datasets.arguments import optional_param_to_tensor
from stillflow.datasets.dataset import DatasetV2
from stillflow.files import records
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class _OpenFiles:
    """The files that are being written, by numbers."""

    def __init__(self):
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._writers = {}

    def open(self, name, compression):
        writer = records.TFRecordWriter(name.decode(), compression.decode())
        with self._lock:
            number = next(self._numbers)
            self._writers[number] = writer
        return np.array(number, np.int64)

    def write(self, number, record):
        self._writers[int(number)].write(record)
        return number

    def close(self, number):
        self._writers.pop(int(number)).close()


@public("data.experimental.TFRecordWriter", "contrib.data.TFRecordWriter")
class TFRecordWriter:
    """Writes data sets of strings to a TFRecord file.

    Args:
      filename: a string scalar.
      compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename, compression_type=None):
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)

    def write(self, dataset):
        """An operation that writes all elements. Raises TypeError for what is no data set of string scalars."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.string or spec.shape.rank != 0:
            raise TypeError(
                "`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{structure.output_shapes(spec)} and types {structure.output_types(spec)}"
            )
        files = _OpenFiles()
        number = py_func(files.open, [self._filename, self._compression_type], dtypes.int64)
        number.set_shape([])

        def write_record(number, record):
            number = py_func(files.write, [number, record], dtypes.int64)
            number.set_shape([])
            return number

        last = dataset.reduce(number, write_record)
        with get_default_graph().control_dependencies([last]):
            closed = py_func(files.close, [last], [])
        return closed if closed is None else ops.group(closed)
