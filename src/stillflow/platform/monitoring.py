"""Metrics that programs count by: tensorflow.python.eager.monitoring. They are kept in the process, not exported."""

from __future__ import annotations

import operator

from stillflow import errors
from stillflow.names import public

_NAMES: set[str] = set()


class _Cell:
    """One value of a metric."""

    def __init__(self, value):
        self._value = value

    def value(self):
        return self._value


class _Metric:
    """Values under tuples of labels, of which there are as many as `labels` names.

    Raises ValueError for more than two labels, AlreadyExistsError for the name of a metric that is alive.
    """

    _cell_class = _Cell
    _initial: object = 0

    def __init__(self, name, description, *labels):
        kind = type(self).__name__
        if len(labels) > 2:
            raise ValueError(f"Cannot create {kind} metric with label >= 3")
        if name in _NAMES:
            raise errors.AlreadyExistsError(None, None, "Another metric with the same name already exists.")
        _NAMES.add(name)
        self._name = name
        self._labels = labels
        self._cells: dict = {}

    def __del__(self):
        _NAMES.discard(getattr(self, "_name", ""))  # it has none if __init__ raised

    def get_cell(self, *labels):
        """The cell of these labels. Raises ValueError for another number of labels."""
        if len(labels) != len(self._labels):
            raise ValueError(f"The {type(self).__name__} expects taking {len(self._labels)} labels")
        return self._cells.setdefault(labels, self._cell_class(self._initial))


@public("python.eager.monitoring.CounterCell")
class CounterCell(_Cell):
    """A number that grows."""

    def increase_by(self, value):
        """Adds an integer that is not negative."""
        self._value += operator.index(value)


class _GaugeCell(_Cell):
    def set(self, value):
        """Replaces the value."""
        self._value = self._kind(value)

    _kind: type = int


@public("python.eager.monitoring.IntGaugeCell")
class IntGaugeCell(_GaugeCell):
    """An integer."""


@public("python.eager.monitoring.StringGaugeCell")
class StringGaugeCell(_GaugeCell):
    """A text."""

    _kind = str


@public("python.eager.monitoring.BoolGaugeCell")
class BoolGaugeCell(_GaugeCell):
    """True or False."""

    _kind = bool


@public("python.eager.monitoring.Counter")
class Counter(_Metric):
    """Counts, from 0, under as many labels as are named."""

    _cell_class = CounterCell


@public("python.eager.monitoring.IntGauge")
class IntGauge(_Metric):
    """Integers, 0 before they are set, under as many labels as are named."""

    _cell_class = IntGaugeCell


@public("python.eager.monitoring.StringGauge")
class StringGauge(_Metric):
    """Texts, empty before they are set, under as many labels as are named."""

    _cell_class = StringGaugeCell
    _initial = ""


@public("python.eager.monitoring.BoolGauge")
class BoolGauge(_Metric):
    """True or False, False before it is set, under as many labels as are named."""

    _cell_class = BoolGaugeCell
    _initial = False
