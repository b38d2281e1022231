"""read_data_sets: the handwritten digits of MNIST, from four files that are downloaded where they are missing."""

from __future__ import annotations

import collections
import gzip

import numpy as np

from stillflow.examples.downloads import downloaded
from stillflow.graph import dtypes
from stillflow.names import public_module
from stillflow.random.seeds import get_seed

public_module("examples.tutorials.mnist.input_data", "contrib.learn.datasets.mnist")

__all__ = [
    "DataSet", "Datasets", "dense_to_one_hot", "extract_images", "extract_labels", "load_mnist", "read_data_sets",
]  # fmt: skip

SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_IMAGES_MAGIC = 2051
_LABELS_MAGIC = 2049

Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])

# ---- Files --------------------------------------------------------------------------------------------------


def _read_header(stream, count, name):
    header = stream.read(4 * count)
    if len(header) != 4 * count:
        raise ValueError(f"{name} ends within its header")
    return [int(number) for number in np.frombuffer(header, ">u4")]


def _read_bytes(stream, count, name):
    content = stream.read()
    if len(content) < count:
        raise ValueError(f"{name} has {len(content)} bytes of data, but its header says {count}")
    return np.frombuffer(content, np.uint8, count)


def extract_images(f):
    """Images from a gzipped file object: uint8 [index, y, x, 1].

    Raises ValueError if it holds something else or ends too early.
    """
    print("Extracting", f.name)
    with gzip.GzipFile(fileobj=f) as stream:
        (magic,) = _read_header(stream, 1, f.name)
        if magic != _IMAGES_MAGIC:
            raise ValueError(f"Invalid magic number {magic} in MNIST image file: {f.name}")
        count, rows, columns = _read_header(stream, 3, f.name)
        return _read_bytes(stream, count * rows * columns, f.name).reshape(count, rows, columns, 1)


def extract_labels(f, one_hot=False, num_classes=10):
    """Labels from a gzipped file object: uint8 [index], or one-hot float64 [index, num_classes].

    Raises ValueError if it holds something else or ends too early.
    """
    print("Extracting", f.name)
    with gzip.GzipFile(fileobj=f) as stream:
        (magic,) = _read_header(stream, 1, f.name)
        if magic != _LABELS_MAGIC:
            raise ValueError(f"Invalid magic number {magic} in MNIST label file: {f.name}")
        (count,) = _read_header(stream, 1, f.name)
        labels = _read_bytes(stream, count, f.name)
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense, num_classes):
    """Rows of zeros with a one at the label: float64 [index, num_classes]."""
    rows = np.zeros((labels_dense.shape[0], num_classes))
    rows[np.arange(labels_dense.shape[0]), labels_dense.ravel()] = 1
    return rows


# ---- Batches ------------------------------------------------------------------------------------------------


class DataSet:
    """Images and their labels, handed out in batches, shuffled anew for every epoch by numpy's random state.

    Args:
      images: uint8 [index, y, x, depth].
      labels: [index, ...].
      fake_data: whether to make up examples instead.
      one_hot: whether made-up labels are one-hot.
      dtype: tf.float32 for values from 0 to 1, tf.uint8 for values from 0 to 255.
      reshape: whether to make rows of the images, of depth 1: [index, y * x].
      seed: seeds numpy's random state; by default the graph's seed does.

    Raises:
      TypeError: for another dtype.
      AssertionError: if there are not as many images as labels, or images to reshape have another depth.
    """

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        if fake_data:
            self._num_examples = 10000
            self.one_hot = one_hot
        else:
            images = _prepared(images, labels, dtype, reshape)
            self._num_examples = images.shape[0]
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return self._num_examples

    @property
    def epochs_completed(self):
        return self._epochs_completed

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next images and labels. At the end of an epoch, what is left of it and the first of the next."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if start + batch_size <= self._num_examples:
            self._index_in_epoch = start + batch_size
            return self._images[start : start + batch_size], self._labels[start : start + batch_size]
        self._epochs_completed += 1
        last_images, last_labels = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end = batch_size - len(last_images)
        return np.concatenate((last_images, self._images[:end])), np.concatenate((last_labels, self._labels[:end]))

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


def _prepared(images, labels, dtype, reshape):
    assert images.shape[0] == labels.shape[0], f"images.shape: {images.shape} labels.shape: {labels.shape}"
    if reshape:
        assert images.shape[3] == 1
        images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
    if dtype is dtypes.float32:
        images = np.multiply(images.astype(np.float32), np.float32(1.0 / 255.0))
    return images


# ---- All of it ----------------------------------------------------------------------------------------------


def read_data_sets(
    train_dir, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, validation_size=5000, seed=None,
    source_url=SOURCE_URL,
):  # fmt: skip
    """MNIST as a named tuple of DataSets: train, validation and test.

    Args:
      train_dir: the directory of the four files; those that are missing are downloaded into it.
      fake_data: whether to make up examples, without files.
      one_hot: whether labels are one-hot rather than numbers.
      dtype, reshape, seed: see DataSet.
      validation_size: how many of the training examples, from the first one on, are for validation.
      source_url: where to download files from.

    Raises:
      FileNotFoundError: for a file that is missing and cannot be downloaded; it says which one belongs where.
      ValueError: for a file that is damaged, or a validation_size out of range.
    """
    if fake_data:
        return Datasets(*(DataSet([], [], True, one_hot, dtype, seed=seed) for _ in range(3)))
    source_url = source_url or SOURCE_URL

    def read(extract, name, *arguments):
        with open(downloaded(name, train_dir, source_url, "MNIST"), "rb") as file:
            return extract(file, *arguments)

    train_images = read(extract_images, "train-images-idx3-ubyte.gz")
    train_labels = read(extract_labels, "train-labels-idx1-ubyte.gz", one_hot)
    test_images = read(extract_images, "t10k-images-idx3-ubyte.gz")
    test_labels = read(extract_labels, "t10k-labels-idx1-ubyte.gz", one_hot)
    if not 0 <= validation_size <= len(train_images):
        raise ValueError(f"Validation size should be between 0 and {len(train_images)}. Received: {validation_size}.")
    options = {"dtype": dtype, "reshape": reshape, "seed": seed}
    train = DataSet(train_images[validation_size:], train_labels[validation_size:], **options)
    validation = DataSet(train_images[:validation_size], train_labels[:validation_size], **options)
    test = DataSet(test_images, test_labels, **options)
    return Datasets(train, validation, test)


def load_mnist(train_dir="MNIST-data"):
    """The data sets of a folder; see read_data_sets."""
    return read_data_sets(train_dir)
