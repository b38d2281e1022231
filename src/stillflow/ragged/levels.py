"""Levels: how ragged tensors, and the values that sessions return for them, are nested."""

from __future__ import annotations

from typing import Any


class Levels:
    """Values with the splits that say where rows begin; the values may be of the same class, as a level below."""

    _values: Any
    _row_splits: Any

    def _levels(self):
        """This one and those in it, the outermost first."""
        level: Any = self
        while isinstance(level, Levels):
            yield level
            level = level._values

    @property
    def values(self):
        """The rows one after the other: of numbers, or ragged themselves."""
        return self._values

    @property
    def row_splits(self):
        """Where each row begins in the values, and where the last one ends."""
        return self._row_splits

    @property
    def ragged_rank(self):
        """How many dimensions are ragged."""
        return sum(1 for _ in self._levels())

    @property
    def flat_values(self):
        """What holds the values of all rows of the innermost level."""
        *_, innermost = self._levels()
        return innermost._values

    @property
    def nested_row_splits(self):
        """The splits of all ragged dimensions, the outermost first."""
        return tuple(level._row_splits for level in self._levels())
