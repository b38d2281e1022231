"""What tells apart the items of a record: tf.contrib.slim.data_decoder."""

from __future__ import annotations

import abc

from stillflow.names import public_module

public_module("contrib.slim.data_decoder", "contrib.slim.python.slim.data.data_decoder")


class DataDecoder(abc.ABC):
    """Makes tensors of a record, one for each item that it has."""

    @abc.abstractmethod
    def decode(self, data, items):
        """A list of the tensors of items in a record, a string."""

    @abc.abstractmethod
    def list_items(self):
        """The names of the items."""
