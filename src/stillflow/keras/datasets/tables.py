"""Boston housing prices, film reviews of IMDB, and newswires of Reuters."""

from __future__ import annotations

import json

import numpy as np

from stillflow.keras.cached_files import get_file
from stillflow.keras.datasets.images import ORIGIN
from stillflow.keras.preprocessing.sequences import without_long
from stillflow.names import public
from stillflow.platform import logging


@public("keras.datasets.boston_housing.load_data")
def load_boston_housing(path="boston_housing.npz", test_split=0.2, seed=113):
    """((features, prices) to train, and to test).

    Args:
      path: the file's name in ~/.keras/datasets, or a path.
      test_split: the share of data to test.
      seed: the seed of their order.

    Raises:
      AssertionError: for a share that is not in [0, 1).
    """
    if not 0 <= test_split < 1:
        raise AssertionError(f"test_split has to be in [0, 1), not {test_split}")
    path = get_file(
        path, origin=ORIGIN + "boston_housing.npz",
        file_hash="f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    )  # fmt: skip
    with np.load(path) as arrays:
        x, y = arrays["x"], arrays["y"]
    np.random.seed(seed)
    order = _shuffled(len(x))
    x, y = x[order], y[order]
    count = int(len(x) * (1 - test_split))
    return (np.array(x[:count]), np.array(y[:count])), (np.array(x[count:]), np.array(y[count:]))


def _shuffled(count):
    order = np.arange(count)
    np.random.shuffle(order)
    return order


def _renamed_words(num_words, kwargs):
    if "nb_words" in kwargs:
        logging.warning("The `nb_words` argument in `load_data` has been renamed `num_words`.")
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
    return num_words


def _marked(texts, start_char, index_from):
    """Texts whose words are numbered from `index_from` on, after a mark of the start."""
    if start_char is not None:
        return [[start_char, *(word + index_from for word in text)] for text in texts]
    return [[word + index_from for word in text] for text in texts] if index_from else list(texts)


def _known(texts, num_words, skip_top, oov_char):
    """Texts of words that are neither too frequent nor too rare; a mark stands for the others, if there is one."""
    num_words = num_words or max(max(text) for text in texts)
    if oov_char is not None:
        return [[word if skip_top <= word < num_words else oov_char for word in text] for text in texts]
    return [[word for word in text if skip_top <= word < num_words] for text in texts]


def _lists(texts):
    """An array of lists, whatever their lengths."""
    found = np.empty(len(texts), object)
    found[:] = texts
    return found


@public("keras.datasets.imdb.load_data")
def load_imdb(
    path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3,
    **kwargs,
):  # fmt: skip
    """((reviews, 1 for good ones) to train, and to test); reviews are lists of the numbers of words, by frequency.

    Args:
      path: the file's name in ~/.keras/datasets, or a path.
      num_words, skip_top: words from that number on, and before that, are left out.
      maxlen: reviews of that length or more are left out.
      seed: the seed of their order.
      start_char: the mark of the start; None for none.
      oov_char: the mark of words that are left out; None for none.
      index_from: what is added to the numbers of words.

    Raises:
      TypeError: for another argument.
      ValueError: if all reviews are too long.
    """
    num_words = _renamed_words(num_words, kwargs)
    path = get_file(
        path, origin=ORIGIN + "imdb.npz",
        file_hash="69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
    )  # fmt: skip
    with np.load(path, allow_pickle=True) as arrays:
        parts = [(arrays[f"x_{name}"], arrays[f"y_{name}"]) for name in ("train", "test")]
    np.random.seed(seed)
    orders = [_shuffled(len(texts)) for texts, _ in parts]
    texts = np.concatenate([part[0][order] for part, order in zip(parts, orders, strict=True)])
    labels = np.concatenate([part[1][order] for part, order in zip(parts, orders, strict=True)])
    texts = _marked(texts, start_char, index_from)
    if maxlen:
        texts, labels = without_long(maxlen, texts, labels)
        if not texts:
            raise ValueError(
                f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase maxlen."
            )
    texts = _known(texts, num_words, skip_top, oov_char)
    return _split(texts, labels, len(parts[0][0]))


def _split(texts, labels, count):
    return (
        (_lists(texts[:count]), np.array(labels[:count])),
        (_lists(texts[count:]), np.array(labels[count:])),
    )


@public("keras.datasets.reuters.load_data")
def load_reuters(
    path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1, oov_char=2,
    index_from=3, **kwargs,
):  # fmt: skip
    """((newswires, topics) to train, and to test); newswires are lists of the numbers of words.

    Args:
      test_split: the share of data to test.
      The rest: see `tf.keras.datasets.imdb.load_data`.

    Raises:
      TypeError: for another argument.
    """
    num_words = _renamed_words(num_words, kwargs)
    path = get_file(
        path, origin=ORIGIN + "reuters.npz",
        file_hash="d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916",
    )  # fmt: skip
    with np.load(path, allow_pickle=True) as arrays:
        texts, labels = arrays["x"], arrays["y"]
    np.random.seed(seed)
    order = _shuffled(len(texts))
    texts, labels = _marked(texts[order], start_char, index_from), labels[order]
    if maxlen:
        texts, labels = without_long(maxlen, texts, labels)
    texts = _known(texts, num_words, skip_top, oov_char)
    return _split(texts, labels, int(len(texts) * (1 - test_split)))


def _word_index(path, name, file_hash):
    with open(get_file(path, origin=ORIGIN + name, file_hash=file_hash)) as file:
        return json.load(file)


@public("keras.datasets.imdb.get_word_index")
def imdb_word_index(path="imdb_word_index.json"):
    """{word: number} of film reviews."""
    return _word_index(path, "imdb_word_index.json", "bfafd718b763782e994055a2d397834f")


@public("keras.datasets.reuters.get_word_index")
def reuters_word_index(path="reuters_word_index.json"):
    """{word: number} of newswires."""
    return _word_index(path, "reuters_word_index.json", "4d44cc38712099c9e383dc6e5f11a921")
