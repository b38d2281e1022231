"""The items of a slim Dataset, read from its files by threads: tf.contrib.slim.dataset_data_provider."""

from __future__ import annotations

from stillflow.contrib.slim import parallel_reader
from stillflow.contrib.slim.data_provider import DataProvider
from stillflow.names import public_module

public_module("contrib.slim.dataset_data_provider", "contrib.slim.python.slim.data.dataset_data_provider")


class DatasetDataProvider(DataProvider):
    """The items of a dataset, a sample at a time.

    Args:
      dataset: a slim Dataset.
      num_readers: how many readers share the files.
      reader_kwargs: arguments of readers.
      shuffle: whether files and samples come in random order.
      num_epochs: how often each sample comes; None for ever again.
      common_queue_capacity: how many samples the queue holds.
      common_queue_min: how many of them it holds at least, to draw from when they are shuffled.
      record_key: the item of the records' keys.
      seed: of the order.
      scope: of the nodes.

    Raises:
      ValueError: if an item is called `record_key`.
    """

    def __init__(
        self, dataset, num_readers=1, reader_kwargs=None, shuffle=True, num_epochs=None, common_queue_capacity=256,
        common_queue_min=128, record_key="record_key", seed=None, scope=None,
    ):  # fmt: skip
        key, data = parallel_reader.parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        found = dict(zip(items, dataset.decoder.decode(data, items), strict=True))
        if record_key in found:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: %s", record_key
            )
        super().__init__(items_to_tensors={**found, record_key: key}, num_samples=dataset.num_samples)
