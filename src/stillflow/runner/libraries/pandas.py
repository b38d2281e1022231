"""pandas 0.25: arrays that can be written to, `ix`, `append`, arguments by position, and numbers of get_dummies.

What is not as it was: `table[column][row] = value` leaves the table alone, of which pandas itself warns.
"""

from __future__ import annotations

import contextlib
import datetime
import functools

import numpy as np


def restore(pandas):
    """The names and calls that pandas has dropped."""
    for kind in (pandas.DataFrame, pandas.Series):
        _set_missing(
            kind,
            {
                "as_matrix": _as_matrix,
                "get_values": lambda self: self.values,
                "get_value": lambda self, *where: self.at[where if len(where) > 1 else where[0]],
                "ix": property(_ByLabelOrPosition),
                "iteritems": kind.items,
                "append": _append(pandas),
            },
        )
        kind.values = property(_writable(kind.values.fget), doc=kind.values.__doc__)
    _set_missing(pandas.DataFrame, {"set_value": _set_value})
    _set_missing(pandas.Series, {"nonzero": lambda self: self.values.nonzero()})
    pandas.Series.str.replace = _by_expression(pandas.Series.str.replace)
    with contextlib.suppress(
        AttributeError, KeyError
    ):  # versions that know texts as objects alone have no such option
        pandas.options.future.infer_string = False
    for owner, name, order in (
        (pandas.DataFrame, "drop", ("labels", "axis", "index", "columns", "level", "inplace", "errors")),
        (pandas.DataFrame, "dropna", ("axis", "how", "thresh", "subset", "inplace")),
        (pandas.DataFrame, "fillna", ("value", "method", "axis", "inplace")),
        (pandas.DataFrame, "sort_values", ("by", "axis", "ascending", "inplace")),
        (pandas, "concat", ("objs", "axis", "join", "ignore_index")),
        (pandas, "read_csv", ("filepath_or_buffer", "sep", "delimiter", "header", "names")),
    ):
        setattr(owner, name, _by_position(getattr(owner, name), order, owner is not pandas))
    pandas.read_csv = _without_dropped_options(pandas.read_csv)
    pandas.get_dummies = _as_bytes(pandas.get_dummies)
    _set_missing(pandas, {"np": np, "datetime": datetime.datetime})


def _set_missing(owner, names):
    for name, value in names.items():
        if not hasattr(owner, name):
            setattr(owner, name, value)


def _writable(get_values):
    """The array of a table, which is the table's own memory and may be written to."""

    @functools.wraps(get_values)
    def values(self):
        found = get_values(self)
        if isinstance(found, np.ndarray) and not found.flags.writeable:
            try:
                found.flags.writeable = True
            except ValueError:  # memory that is not the table's either
                return found.copy()
        return found

    return values


def _by_expression(replace):
    """Series.str.replace, whose pattern is a regular expression unless it is a single character."""

    @functools.wraps(replace)
    def replace_by_expression(self, pat, repl=None, *args, regex=None, **kwargs):
        if regex is None:
            regex = callable(repl) or not isinstance(pat, str) or len(pat) > 1
        return replace(self, pat, repl, *args, regex=regex, **kwargs)

    return replace_by_expression


def _as_matrix(self, columns=None):
    return (self if columns is None else self[columns]).values


def _set_value(self, index, col, value):
    self.at[index, col] = value
    return self


def _append(pandas):
    def append(self, other, ignore_index=False, verify_integrity=False, sort=False):
        if isinstance(other, dict):
            other = pandas.Series(other)
        if isinstance(self, pandas.DataFrame) and isinstance(other, pandas.Series):
            if other.name is None and not ignore_index:
                raise TypeError("Can only append a Series if ignore_index=True or if the Series has a name")
            other = other.to_frame().T.infer_objects()
        others = [*other] if isinstance(other, list | tuple) else [other]
        joined = {} if isinstance(self, pandas.Series) else {"sort": sort}
        return pandas.concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, **joined)

    return append


class _ByLabelOrPosition:
    """DataFrame.ix and Series.ix: by label, or by position where an axis does not have integers for labels."""

    def __init__(self, values):
        self._values = values

    def __getitem__(self, key):
        return self._values.loc[self._labels(key)]

    def __setitem__(self, key, value):
        self._values.loc[self._labels(key)] = value

    def _labels(self, key):
        if not isinstance(key, tuple):
            return _label_of(key, self._values.index)
        return tuple(_label_of(part, axis) for part, axis in zip(key, self._values.axes, strict=False))


def _label_of(key, axis):
    """What `loc` takes for a part of a key of `ix`."""
    if axis.dtype.kind in "iuf":
        return key
    if isinstance(key, int | np.integer):
        return axis[key]
    if isinstance(key, slice) and all(part is None or isinstance(part, int) for part in (key.start, key.stop)):
        return axis[key]
    if isinstance(key, list | np.ndarray) and np.asarray(key).dtype.kind == "i":
        return axis[key]
    return key


def _by_position(function, order, is_method):
    """A function that takes its arguments by position again, in this order."""

    @functools.wraps(function)
    def by_position(*args, **kwargs):
        own = args[:1] if is_method else ()
        kwargs.update(zip(order, args[len(own) :], strict=False))
        return function(*own, **kwargs)

    return by_position


def _without_dropped_options(read_csv):
    """pandas.read_csv, with error_bad_lines and warn_bad_lines."""

    @functools.wraps(read_csv)
    def read_csv_as_before(*args, error_bad_lines=True, warn_bad_lines=True, **kwargs):
        if not error_bad_lines:
            kwargs.setdefault("on_bad_lines", "warn" if warn_bad_lines else "skip")
        return read_csv(*args, **kwargs)

    return read_csv_as_before


def _as_bytes(get_dummies):
    """pandas.get_dummies of numbers, where it makes truth values by now."""

    @functools.wraps(get_dummies)
    def get_dummies_of_bytes(*args, dtype=np.uint8, **kwargs):
        return get_dummies(*args, dtype=dtype, **kwargs)

    return get_dummies_of_bytes
