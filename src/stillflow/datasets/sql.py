"""tf.data.experimental.SqlDataset: the rows of a query to an SQLite database."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import numpy as np

from stillflow.datasets import nest
from stillflow.datasets.dataset import DatasetV1Adapter
from stillflow.datasets.generator import from_generator
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_INTEGERS = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.bool_)
_NUMBER = re.compile(rb"\s*([+-]?\d+)")


def _integer(value):
    """A cell as SQLite converts it to an integer of 64 bits."""
    if isinstance(value, bytes):
        found = _NUMBER.match(value)
        return int(found.group(1)) if found else 0
    return int(value or 0)


def _cell(value, dtype):
    """A cell as an array of a type."""
    if dtype == dtypes.string:
        return value if isinstance(value, bytes) else b"" if value is None else str(value).encode()
    if dtype == dtypes.bool_:
        return _integer(value) != 0
    if dtype in _INTEGERS:
        return np.array(_integer(value), np.int64).astype(dtype.as_numpy_dtype)
    return float(value or 0)


@public("data.experimental.SqlDataset", "contrib.data.SqlDataset")
class SqlDataset(DatasetV1Adapter):
    """The rows that a query brings, each a tuple of scalars.

    Args:
      driver_name: "sqlite", a string scalar.
      data_source_name: the file of the database, a string scalar.
      query: the query, a string scalar.
      output_types: the types of the columns: strings, booleans, integers, or float64.

    At run time: tf.errors.InvalidArgumentError for other drivers, and where there are not as many columns as types;
    UnknownError for what SQLite refuses.
    """

    def __init__(self, driver_name, data_source_name, query, output_types):
        types = [dtypes.as_dtype(dtype) for dtype in nest.flatten(output_types)]
        arguments = {"driver_name": driver_name, "data_source_name": data_source_name, "query": query}
        tensors = [convert_to_tensor(value, dtypes.string, name=name) for name, value in arguments.items()]

        def rows(driver_name, data_source_name, query):
            if driver_name != b"sqlite":
                raise ValueError(
                    f"The database type, {driver_name.decode()}, is not supported by SqlDataset. The set of "
                    "supported databases is: {'sqlite'}."
                )
            with contextlib.closing(sqlite3.connect(data_source_name.decode(), check_same_thread=False)) as database:
                database.text_factory = bytes
                cursor = database.execute(query.decode())
                count = len(cursor.description or ())
                if count != len(types):
                    raise ValueError(
                        f"The number of columns in query ({count}) must match the number of elements in output_types "
                        f"({len(types)})."
                    )
                for row in cursor:
                    cells = [_cell(value, dtype) for value, dtype in zip(row, types, strict=True)]
                    yield nest.pack_sequence_as(output_types, cells)

        shapes = nest.map_structure(lambda _: TensorShape([]), output_types)
        super().__init__(from_generator(rows, output_types, shapes, tensors))
