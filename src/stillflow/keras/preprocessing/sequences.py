"""Sequences of one length, pairs of words, windows of time series."""

from __future__ import annotations

import json
import random

import numpy as np

from stillflow.keras.engine.sequences import Sequence
from stillflow.names import public


@public("keras.preprocessing.sequence.pad_sequences")
def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """An array of sequences, made the same length.

    Args:
      sequences: a list of lists.
      maxlen: the length; by default that of the longest.
      dtype: the type of the array.
      padding: where shorter ones are filled up: "pre" or "post".
      truncating: where longer ones are cut: "pre" or "post".
      value: what they are filled up with.

    Raises:
      ValueError: for what has no lengths, samples of different shapes, a string where the type is none of strings,
        and other values of `padding` and `truncating`.
    """
    lengths, sample_shape = _lengths_and_shape(sequences)
    if maxlen is None:
        maxlen = np.max(lengths)
    if isinstance(value, str) and np.dtype(dtype).kind not in "OU":
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set `dtype=object` "
            "for variable length strings."
        )
    padded = np.full((len(sequences), maxlen, *sample_shape), value, dtype=dtype)
    for i, sequence in enumerate(sequences):
        if not len(sequence):
            continue
        if truncating not in ("pre", "post"):
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(sequence[-maxlen:] if truncating == "pre" else sequence[:maxlen], dtype=dtype)
        if kept.shape[1:] != sample_shape:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from expected shape "
                f"{sample_shape}"
            )
        if padding not in ("pre", "post"):
            raise ValueError(f'Padding type "{padding}" not understood')
        if padding == "post":
            padded[i, : len(kept)] = kept
        else:
            padded[i, -len(kept) :] = kept
    return padded


def _lengths_and_shape(sequences):
    """The length of each, and the shape of samples: that of the first one."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths, shape = [], None
    for sequence in sequences:
        try:
            lengths.append(len(sequence))
            if shape is None and lengths[-1]:
                shape = np.asarray(sequence).shape[1:]
        except TypeError:
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence}") from None
    return lengths, shape or ()


@public("python.keras.preprocessing.sequence._remove_long_seq")
def without_long(maxlen, seq, label):
    """(sequences, labels) of the sequences that are shorter than `maxlen`, as lists."""
    kept = [(each, of_each) for each, of_each in zip(seq, label, strict=False) if len(each) < maxlen]
    return [each for each, _ in kept], [of_each for _, of_each in kept]


@public("keras.preprocessing.sequence.make_sampling_table")
def make_sampling_table(size, sampling_factor=1e-5):
    """The probability of keeping each word for `skipgrams`, if frequencies are Zipf's: a word's rank tells it.

    Args:
      size: how many words there are.
      sampling_factor: the frequency of words that are kept for sure; Mikolov et al. 2013, arXiv:1310.4546.
    """
    rank = np.arange(size)
    rank[0] = 1
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    share = sampling_factor * inverse
    return np.minimum(1.0, share / np.sqrt(share))


@public("keras.preprocessing.sequence.skipgrams")
def skipgrams(
    sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False,
    sampling_table=None, seed=None,
):  # fmt: skip
    """Pairs of words that are near each other, and pairs of random ones.

    Args:
      sequence: the numbers of words; 0 is none.
      vocabulary_size: how many words there are.
      window_size: the greatest distance of two words.
      negative_samples: how many random pairs there are for each true one.
      shuffle: whether pairs come in random order.
      categorical: whether labels are [0, 1] and [1, 0] instead of 1 and 0.
      sampling_table: the probability of keeping each word.
      seed: the seed of the order.

    Returns:
      (pairs, labels).
    """
    true, false = ([0, 1], [1, 0]) if categorical else (1, 0)
    pairs = []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                pairs.append([word, sequence[j]])
    labels = [true] * len(pairs)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [false] * count
    if shuffle:
        seed = random.randint(0, 10_000_000) if seed is None else seed
        for values in (pairs, labels):
            random.seed(seed)
            random.shuffle(values)
    return pairs, labels


@public("keras.preprocessing.sequence.TimeseriesGenerator")
class TimeseriesGenerator(Sequence):
    """Batches of windows of a series, and the targets that follow them.

    Args:
      data, targets: the series, of the same length.
      length: how many steps a window spans.
      sampling_rate: how far apart the steps of a window are.
      stride: how far apart windows are.
      start_index, end_index: the first and the last step that is used.
      shuffle: whether windows are drawn at random.
      reverse: whether windows are backwards.
      batch_size: how many windows a batch has.

    Raises:
      ValueError: for lengths that differ, and if no window fits.
    """

    def __init__(
        self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False,
        reverse=False, batch_size=128,
    ):  # fmt: skip
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while target length is "
                f"{len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no part of "
                "the sequence would be left to be used as current step."
            )

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            end = min(first + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(first, end, self.stride)
        windows = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return windows[:, ::-1, ...] if self.reverse else windows, targets

    def get_config(self):
        """The arguments, series as JSON. Raises TypeError for a series that is none."""
        series = {}
        for name, title in (("data", "Data"), ("targets", "Targets")):
            values = getattr(self, name)
            try:
                series[name] = json.dumps(values.tolist() if isinstance(values, np.ndarray) else values)
            except TypeError:
                raise TypeError(f"{title} not JSON Serializable:", values) from None
        plain = ("length", "sampling_rate", "stride", "start_index", "end_index", "shuffle", "reverse", "batch_size")
        return {**series, **{name: getattr(self, name) for name in plain}}

    def to_json(self, **kwargs):
        """`get_config` and the class's name as JSON; arguments are those of json.dumps."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
