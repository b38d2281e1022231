"""What is to be known of a data set in files: tf.contrib.slim.dataset."""

from __future__ import annotations

from stillflow.names import public_module

public_module("contrib.slim.dataset", "contrib.slim.python.slim.data.dataset")


class Dataset:
    """A data set in files: its arguments, and whatever else is given by name, as attributes.

    Args:
      data_sources: the files, with patterns.
      reader: the class of readers of them, as tf.TFRecordReader.
      decoder: a DataDecoder.
      num_samples: how many samples there are; None if nobody knows.
      items_to_descriptions: {item: what it is}.
    """

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        self.__dict__.update(
            kwargs,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )
