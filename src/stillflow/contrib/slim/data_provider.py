"""What gives the items of a data set as tensors: tf.contrib.slim.data_provider."""

from __future__ import annotations

import abc

from stillflow.names import public_module

public_module("contrib.slim.data_provider", "contrib.slim.python.slim.data.data_provider")


class DataProvider(abc.ABC):  # noqa: B024 (TensorFlow's is one without abstract methods, too)
    """The items of a data set as tensors.

    Args:
      items_to_tensors: {item: tensor}.
      num_samples: how many samples there are; None if nobody knows.
    """

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items):
        """A list of the tensors of items. Raises ValueError for no list, or an item that there is not."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {valid}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """How many samples there are."""
        return self._num_samples
