"""MNIST from local files; batches come in the order that TensorFlow 1.15.5 gives them."""

import gzip
import struct

import numpy as np
import pytest

import stillflow as tf
from stillflow.examples.tutorials.mnist import input_data

TRAIN, TEST = 17, 5


def write(folder, kind, count):
    with gzip.open(folder / f"{kind}-images-idx3-ubyte.gz", "wb") as f:
        f.write(struct.pack(">4I", 2051, count, 2, 3) + bytes(7 * i % 256 for i in range(count * 6)))
    with gzip.open(folder / f"{kind}-labels-idx1-ubyte.gz", "wb") as f:
        f.write(struct.pack(">2I", 2049, count) + bytes(i % 10 for i in range(count)))


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "train", TRAIN)
    write(tmp_path, "t10k", TEST)
    return tmp_path


@pytest.fixture(autouse=True)
def numpy_state():
    state = np.random.get_state()
    yield
    np.random.set_state(state)


def test_batches_are_those_of_tensorflow(folder):
    data = input_data.read_data_sets(str(folder), validation_size=4, seed=3)
    batches = [data.train.next_batch(6) for _ in range(5)]
    # Recorded from TensorFlow 1.15.5.
    assert [labels.tolist() for _, labels in batches] == [
        [0, 8, 5, 6, 6, 9], [1, 4, 5, 7, 3, 2], [4, 6, 7, 8, 5, 5], [2, 4, 6, 0, 1, 4], [9, 3, 0, 3, 6, 5],
    ]  # fmt: skip
    images = batches[-1][0]
    assert images.dtype == np.float32
    assert images[0].tolist() == [
        0.4784314036369324, 0.5058823823928833, 0.5333333611488342, 0.5607843399047852, 0.5882353186607361,
        0.615686297416687,
    ]  # fmt: skip
    assert data.train.epochs_completed == 2
    assert (data.train.num_examples, data.validation.num_examples, data.test.num_examples) == (13, 4, 5)
    assert data.test.next_batch(4, shuffle=False)[1].tolist() == [0, 1, 2, 3]


def test_the_graph_seed_seeds_the_order_too(folder):
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        data = input_data.read_data_sets(str(folder), one_hot=True, dtype=tf.uint8, reshape=False, validation_size=4)
    images, labels = data.train.next_batch(3)
    assert labels.argmax(1).tolist() == [9, 5, 1]  # recorded from TensorFlow 1.15.5
    assert labels.dtype == np.float64
    assert (images.shape, images.dtype) == ((3, 2, 3, 1), np.uint8)


def test_made_up_data(tmp_path):
    data = input_data.read_data_sets(str(tmp_path), fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(2, fake_data=True)
    assert (len(images), len(images[0]), labels[0]) == (2, 784, [1] + [0] * 9)
    assert data.train.num_examples == 10000


def test_missing_files_are_downloaded(folder, tmp_path_factory, capsys):
    target = tmp_path_factory.mktemp("target") / "MNIST_data"
    source = folder.as_uri() + "/"
    data = input_data.read_data_sets(str(target), validation_size=0, source_url=source)
    assert data.train.num_examples == TRAIN
    assert capsys.readouterr().out.count("Successfully downloaded") == 4
    input_data.read_data_sets(str(target), validation_size=0, source_url="file:///nowhere/")
    assert "downloaded" not in capsys.readouterr().out


def test_without_a_network_it_says_which_file_belongs_where(folder):
    (folder / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        input_data.read_data_sets(str(folder), source_url="file:///nowhere/")
    assert "train-labels-idx1-ubyte.gz" in str(caught.value)
    assert f"in the directory {folder}" in str(caught.value)
    assert not list(folder.glob("*.partial"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (struct.pack(">I", 2052), "Invalid magic number 2052 in MNIST image file"),
        (struct.pack(">4I", 2051, 17, 28, 28) + b"12", "has 2 bytes of data"),
        (struct.pack(">4I", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1), "has 0 bytes of data"),
        (b"", "ends within its header"),
        (struct.pack(">2I", 2051, 4), "ends within its header"),
    ],
)
def test_damaged_files(folder, content, message):
    with gzip.open(folder / "train-images-idx3-ubyte.gz", "wb") as f:
        f.write(content)
    with pytest.raises(ValueError, match=message):
        input_data.read_data_sets(str(folder))


def test_bad_arguments(folder):
    with pytest.raises(ValueError, match="Validation size should be between 0 and 17. Received: 5000."):
        input_data.read_data_sets(str(folder))
    with pytest.raises(TypeError, match="Invalid image dtype"):
        input_data.DataSet(np.zeros((1, 2, 3, 1)), np.zeros(1), dtype=tf.int32)
    with pytest.raises(AssertionError, match="images.shape"):
        input_data.DataSet(np.zeros((1, 2, 3, 1)), np.zeros(2))
