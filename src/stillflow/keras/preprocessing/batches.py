"""Iterator and NumpyArrayIterator: batches of pictures, over and over."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from stillflow.keras.engine.sequences import Sequence
from stillflow.keras.preprocessing.pictures import FORMATS, array_to_img
from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.names import public


@public("keras.preprocessing.image.Iterator")
class Iterator(Sequence):
    """Batches of pictures, over and over; also by number. Subclasses make a batch of the numbers of pictures.

    Args:
      n: how many pictures there are.
      batch_size: how many of them a batch has.
      shuffle: whether each round is in another order.
      seed: the seed of orders and transformations.
    """

    white_list_formats = FORMATS

    def __init__(self, n, batch_size, shuffle, seed):
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self):
        self.index_array = np.random.permutation(self.n) if self.shuffle else np.arange(self.n)

    def _seed_numpy(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __getitem__(self, idx):
        """A batch by number. Raises ValueError beyond the end."""
        if idx >= len(self):
            raise ValueError(f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}")
        self._seed_numpy()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(
            self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        )

    def __len__(self):
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self):
        """Makes the order of the next round."""
        self._set_index_array()

    def reset(self):
        """Begins anew."""
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            self._seed_numpy()
            if self.batch_index == 0:
                self._set_index_array()
            first = (self.batch_index * self.batch_size) % self.n if self.n else 0
            self.batch_index = self.batch_index + 1 if self.n > first + self.batch_size else 0
            self.total_batches_seen += 1
            yield self.index_array[first : first + self.batch_size]

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        """The next batch."""
        with self.lock:
            indices = next(self.index_generator)
        return self._get_batches_of_transformed_samples(indices)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError


def save_pictures(pictures, numbers, folder, prefix, file_format, data_format, hash_limit):
    """Writes a batch as files whose names no other batch has."""
    for picture, number in zip(pictures, numbers, strict=True):
        name = f"{prefix}_{number}_{np.random.randint(hash_limit)}.{file_format}"
        array_to_img(picture, data_format, scale=True).save(Path(folder) / name)


def _checked_lengths(x, y, sample_weight):
    for values, name, title in ((y, "y", "`y` (labels)"), (sample_weight, "sample_weight", "`sample_weight`")):
        if values is not None and len(x) != len(values):
            raise ValueError(
                f"`x` (images tensor) and {title} should have the same length. Found: x.shape = "
                f"{np.asarray(x).shape}, {name}.shape = {np.asarray(values).shape}"
            )


@public("keras.preprocessing.image.NumpyArrayIterator")
class NumpyArrayIterator(Iterator):
    """Batches of pictures of an array, transformed by a generator.

    Args:
      x: an array of four dimensions; or a pair of one and other data, or a list of these.
      y: the targets, or None.
      image_data_generator: an `ImageDataGenerator`.
      batch_size, shuffle, seed: see `Iterator`.
      sample_weight: weights of pictures.
      data_format: "channels_last" or "channels_first".
      save_to_dir, save_prefix, save_format: the folder that transformed pictures are written to, the beginnings of
        their names, and their format.
      subset: "training" or "validation", if the generator splits data.
      dtype: the type of batches; `floatx` by default.

    Raises:
      ValueError: for lengths that differ, another rank or subset, and if one subset lacks a class.
    """

    def __init__(
        self, x, y, image_data_generator, batch_size=32, shuffle=False, sample_weight=None, seed=None,
        data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None, dtype=None,
    ):  # fmt: skip
        self.dtype = dtype or floatx()
        self.data_format = data_format = data_format or image_data_format()
        others: list = []
        if isinstance(x, (tuple, list)):
            x, second = x[0], x[1]
            others = [np.asarray(each) for each in (second if isinstance(second, list) else [second])]
            for each in others:
                if len(x) != len(each):
                    raise ValueError(
                        "All of the arrays in `x` should have the same length. Found a pair with: len(x[0]) = "
                        f"{len(x)}, len(x[?]) = {len(each)}"
                    )
        _checked_lengths(x, y, sample_weight)
        if subset is not None:
            part = self._part(subset, int(len(x) * image_data_generator._validation_split), y)
            x, others = x[part], [each[part] for each in others]
            y = None if y is None else y[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with shape", self.x.shape
            )
        self._warn_of_channels(3 if data_format == "channels_last" else 1)
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = None if sample_weight is None else np.asarray(sample_weight)
        self.image_data_generator = image_data_generator
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        super().__init__(self.x.shape[0], batch_size, shuffle, seed)

    def _warn_of_channels(self, axis):
        channels = self.x.shape[axis]
        if channels not in (1, 3, 4):
            warnings.warn(
                f'NumpyArrayIterator is set to use the data format convention "{self.data_format}" (channels on axis '
                f"{axis}), i.e. expected either 1, 3, or 4 channels on axis {axis}. However, it was passed an array "
                f"with shape {self.x.shape} ({channels} channels).",
                stacklevel=3,
            )

    def _part(self, subset, split, y):
        if subset not in ("training", "validation"):
            raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
        if y is not None and not np.array_equal(np.unique(y[:split]), np.unique(y[split:])):
            raise ValueError(
                "Training and validation subsets have different number of classes after the split. If your numpy "
                "arrays are sorted by the label, you might want to shuffle them."
            )
        return slice(split) if subset == "validation" else slice(split, None)

    def _get_batches_of_transformed_samples(self, index_array):
        generator = self.image_data_generator
        pictures = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, number in enumerate(index_array):
            picture = self.x[number]
            parameters = generator.get_random_transform(picture.shape)
            picture = generator.apply_transform(picture.astype(self.dtype), parameters)
            pictures[i] = generator.standardize(picture)
        if self.save_to_dir:
            save_pictures(
                pictures, index_array, self.save_to_dir, self.save_prefix, self.save_format, self.data_format, 10_000
            )
        inputs = [pictures, *(each[index_array] for each in self.x_misc)] if self.x_misc else pictures
        if self.y is None:
            return inputs
        targets = self.y[index_array]
        if self.sample_weight is None:
            return inputs, targets
        return inputs, targets, self.sample_weight[index_array]
