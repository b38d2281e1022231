"""Data sets are read from local files as TensorFlow reads them."""

import gzip
import pickle

import numpy as np
import pytest

import stillflow as tf
from stillflow.keras.datasets import images, tables


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose files are found without a look at their hashes."""
    for module in (images, tables):
        monkeypatch.setattr(module, "get_file", lambda name, **_: str(tmp_path / name))
    return tmp_path


def test_digits_and_clothes(folder):
    digits = np.arange(4 * 28 * 28).reshape(4, 28, 28).astype(np.uint8)
    classes = np.arange(4, dtype=np.uint8)
    np.savez(folder / "mnist.npz", x_train=digits, y_train=classes, x_test=digits[:1], y_test=classes[:1])
    for prefix, count in (("train", 4), ("t10k", 2)):
        with gzip.open(folder / f"{prefix}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(bytes(8) + classes[:count].tobytes())
        with gzip.open(folder / f"{prefix}-images-idx3-ubyte.gz", "wb") as file:
            file.write(bytes(16) + digits[:count].tobytes())
    for found, tested in ((tf.keras.datasets.mnist, 1), (tf.keras.datasets.fashion_mnist, 2)):
        (x_train, y_train), (x_test, y_test) = found.load_data()
        np.testing.assert_array_equal(x_train, digits)
        np.testing.assert_array_equal(y_train, classes)
        assert x_test.shape == (tested, 28, 28)
        assert y_test.tolist() == list(range(tested))


def test_tiny_images(folder):
    pixels = np.arange(2 * 3072).reshape(2, 3072).astype(np.uint8)
    batch = {b"data": pixels, b"labels": [3, 4], b"fine_labels": [5, 6], b"coarse_labels": [1, 2]}
    for name in ("cifar-10-batches-py", "cifar-100-python"):
        (folder / name).mkdir()
    names = [f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 6)] + ["cifar-10-batches-py/test_batch"]
    for name in [*names, "cifar-100-python/train", "cifar-100-python/test"]:
        (folder / name).write_bytes(pickle.dumps(batch))
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
    assert (x_train.shape, y_train.shape, x_test.shape) == ((10, 32, 32, 3), (10, 1), (2, 32, 32, 3))
    assert x_test[1, 0, 1].tolist() == [pixels[1, i * 1024 + 1] for i in range(3)]
    assert y_test.dtype == np.uint8
    (_, coarse), _ = tf.keras.datasets.cifar100.load_data("coarse")
    assert coarse.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="label_mode"):
        tf.keras.datasets.cifar100.load_data("rough")


def test_prices(folder):
    np.savez(folder / "boston_housing.npz", x=np.arange(20).reshape(10, 2), y=np.arange(10))
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.boston_housing.load_data()
    order = np.arange(10)
    np.random.RandomState(113).shuffle(order)
    assert y_train.tolist() + y_test.tolist() == order.tolist()
    np.testing.assert_array_equal(x_train[:, 0], y_train * 2)
    assert len(x_test) == 2


def test_reviews_and_newswires(folder):
    texts = np.empty(5, object)
    texts[:] = [[1, 2], [3, 4, 5, 6], [7], [2, 9, 1], [5]]
    np.savez(folder / "imdb.npz", x_train=texts, y_train=np.arange(5), x_test=texts[:2], y_test=np.arange(2))
    np.savez(folder / "reuters.npz", x=texts, y=np.arange(5))
    (x_train, y_train), (x_test, _) = tf.keras.datasets.imdb.load_data(num_words=8)
    for text, label in zip(x_train, y_train, strict=True):
        assert text == [1] + [word + 3 if word + 3 < 8 else 2 for word in texts[label]]
    assert len(x_test) == 2
    (x_train, y_train), (x_test, y_test) = tf.keras.datasets.reuters.load_data(
        start_char=None, index_from=0, oov_char=None, skip_top=2, num_words=7, maxlen=4
    )
    kept = {label: text for text, label in zip([*x_train, *x_test], [*y_train, *y_test], strict=True)}
    assert kept == {0: [2], 2: [], 3: [2], 4: [5]}
    with pytest.raises(ValueError, match="maxlen=1, no sequence was kept"):
        tf.keras.datasets.imdb.load_data(maxlen=1)
    with pytest.raises(TypeError, match="Unrecognized keyword"):
        tf.keras.datasets.imdb.load_data(words=1)
    (folder / "imdb_word_index.json").write_text('{"the": 1}')
    assert tf.keras.datasets.imdb.get_word_index() == {"the": 1}
