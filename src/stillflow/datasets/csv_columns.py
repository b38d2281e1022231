"""The names and types of the columns of CSV files, as their first rows show them."""

from __future__ import annotations

import csv

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes

# From the narrowest to that which takes everything.
_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def column_defaults(columns, types_or_values):
    """Types as tensors without a value, which stand for columns that have to be there; tensors as they are."""
    return [
        ops.constant([], dtype=each) if isinstance(each, (dtypes.DType, type)) and each in columns else each
        for each in types_or_values
    ]


def _readers(delimiter, has_quotes):
    return {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE}


def names_in_header(files, delimiter, has_quotes, open_file):
    """The first row of all files. Raises ValueError for empty files, and if they differ."""
    headers = []
    for name in files:
        with open_file(name) as file:
            header = next(csv.reader(file, **_readers(delimiter, has_quotes)), None)
        if header is None:
            raise ValueError(f"Received StopIteration when reading the header line of {name}.  Empty file?")
        headers.append(header)
    if any(header != headers[0] for header in headers):
        raise ValueError("Files have different column names in the header row.")
    return headers[0]


def inferred_defaults(
    files, column_count, delimiter, has_quotes, missing, has_header, most_rows, selected, open_file
):
    """For each column a default of the narrowest type that the first rows fit into.

    Raises ValueError for rows of another length.
    """
    selected = range(column_count) if selected is None else selected
    types = [None] * len(selected)
    rows = _rows(files, column_count, _readers(delimiter, has_quotes), has_header, open_file)
    for number, row in enumerate(rows):
        if most_rows is not None and number >= most_rows:
            break
        types = [_wider(row[column], missing, known) for column, known in zip(selected, types, strict=True)]
    found = [dtype or dtypes.string for dtype in types]
    return [ops.constant(["" if dtype is dtypes.string else 0], dtype=dtype) for dtype in found]


def _rows(files, column_count, readers, has_header, open_file):
    for name in files:
        with open_file(name) as file:
            reader = csv.reader(file, **readers)
            if has_header:
                next(reader)
            for row in reader:
                if len(row) != column_count:
                    raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
                yield row


def _wider(text, missing, known):
    """The narrowest type that takes a text and all that is of the type known so far."""
    if text in ("", missing):
        return known
    first = 0 if known is None else _TYPES.index(known)
    return next(dtype for dtype in _TYPES[first:] if _takes(dtype, text))


def _takes(dtype, text):
    if dtype is dtypes.string:
        return True
    try:
        value = int(text) if dtype in (dtypes.int32, dtypes.int64) else np.dtype(dtype.as_numpy_dtype).type(text)
    except (ValueError, OverflowError):
        return False
    if dtype in (dtypes.int32, dtypes.int64):
        return dtype.min <= value <= dtype.max
    return bool(value < np.inf)
