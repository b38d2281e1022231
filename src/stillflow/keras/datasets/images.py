"""MNIST, Fashion-MNIST, CIFAR-10 and CIFAR-100."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import numpy as np

from stillflow.keras.cached_files import get_file
from stillflow.layers.core.settings import image_data_format
from stillflow.names import public

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"


@public("keras.datasets.mnist.load_data")
def load_mnist(path="mnist.npz"):
    """((images, classes) to train, and to test) of handwritten digits: uint8, 28 by 28.

    Args:
      path: the file's name in ~/.keras/datasets, or a path.
    """
    path = get_file(
        path, origin=ORIGIN + "mnist.npz",
        file_hash="731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    )  # fmt: skip
    with np.load(path) as arrays:
        return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


@public("keras.datasets.fashion_mnist.load_data")
def load_fashion_mnist():
    """((images, classes) to train, and to test) of clothes: uint8, 28 by 28."""

    def numbers(name, offset):
        path = get_file(name, origin=ORIGIN + name, cache_subdir="datasets/fashion-mnist")
        with gzip.open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8, offset=offset)

    def part(prefix):
        classes = numbers(f"{prefix}-labels-idx1-ubyte.gz", 8)
        return numbers(f"{prefix}-images-idx3-ubyte.gz", 16).reshape(len(classes), 28, 28), classes

    return part("train"), part("t10k")


def _cifar_batch(path, label_key="labels"):
    """(images [number, 3, 32, 32], classes [number, 1]) of a file of these data sets."""
    with open(path, "rb") as file:
        found = pickle.load(file, encoding="bytes")
    images = found[b"data"]
    return images.reshape(len(images), 3, 32, 32), np.reshape(found[label_key.encode()], (len(images), 1))


def _in_format(images):
    return images.transpose(0, 2, 3, 1) if image_data_format() == "channels_last" else images


@public("keras.datasets.cifar10.load_data")
def load_cifar10():
    """((images, classes) to train, and to test) of ten things: uint8, 32 by 32 in color."""
    folder = Path(
        get_file(
            "cifar-10-batches-py",
            origin=_CIFAR + "cifar-10-python.tar.gz",
            untar=True,
            file_hash="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
        )
    )
    batches = [_cifar_batch(folder / f"data_batch_{i}") for i in range(1, 6)]
    x_train, y_train = (np.concatenate(parts).astype("uint8") for parts in zip(*batches, strict=True))
    x_test, y_test = _cifar_batch(folder / "test_batch")
    return (_in_format(x_train), y_train), (_in_format(x_test).astype("uint8"), y_test.astype("uint8"))


@public("keras.datasets.cifar100.load_data")
def load_cifar100(label_mode="fine"):
    """((images, classes) to train, and to test) of a hundred things: uint8, 32 by 32 in color.

    Args:
      label_mode: "fine" for a hundred classes, "coarse" for twenty.

    Raises:
      ValueError: for another mode.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    folder = Path(
        get_file(
            "cifar-100-python",
            origin=_CIFAR + "cifar-100-python.tar.gz",
            untar=True,
            file_hash="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
        )
    )
    (x_train, y_train), (x_test, y_test) = (
        _cifar_batch(folder / name, label_key=f"{label_mode}_labels") for name in ("train", "test")
    )
    return (_in_format(x_train), y_train), (_in_format(x_test), y_test)
