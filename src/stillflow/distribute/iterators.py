"""The iterators of strategies over data sets."""

from __future__ import annotations

from stillflow.datasets.iterator import make_initializable_iterator
from stillflow.ops.control_flow.dependencies import group


class DatasetIterator:
    """An iterator over a data set, whose elements are a replica's."""

    def __init__(self, dataset):
        self._iterator = make_initializable_iterator(dataset)

    @property
    def initializer(self):
        """The operation that starts it."""
        return self._iterator.initializer

    def initialize(self):
        """An operation that starts it."""
        return group(self._iterator.initializer)

    def get_next(self):
        """The next element."""
        return self._iterator.get_next()

    @property
    def output_shapes(self):
        return self._iterator.output_shapes

    @property
    def output_types(self):
        return self._iterator.output_types

    @property
    def output_classes(self):
        return self._iterator.output_classes
