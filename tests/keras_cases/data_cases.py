"""What tf.keras makes of sequences, texts and arrays: TensorFlow 1.15.5 and stillflow do the same."""

import random

import numpy as np

SERIES = np.arange(20.0) ** 2
TEXTS = ["The cat sat on the mat.", "The dog ate my homework, the cat!", "a cat"]


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), value.ravel().tolist()]
    return value.item() if isinstance(value, np.generic) else value


def _error(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def padding(tf):
    pad = tf.keras.preprocessing.sequence.pad_sequences
    rows = [[1, 2, 3], [], [4], [5, 6, 7, 8]]
    return [
        pad(rows), pad(rows, maxlen=2), pad(rows, 3, padding="post", truncating="post", value=-1.0),
        pad([[[1, 2]], [[3, 4], [5, 6]]], dtype="float32"),
        _error(pad, [1, 2]), _error(pad, 5), _error(pad, rows, padding="x"), _error(pad, rows, truncating="x"),
        _error(pad, rows, value="a"), _error(pad, [[[1, 2]], [[3]]]),
    ]  # fmt: skip


def word_pairs(tf):
    sequence = tf.keras.preprocessing.sequence
    random.seed(3)
    table = sequence.make_sampling_table(10, 1e-3)
    return [
        table, sequence.skipgrams([1, 2, 0, 3, 4], 5, window_size=1),
        sequence.skipgrams(list(range(10)), 10, sampling_table=table, negative_samples=0.5, seed=5, categorical=True),
        sequence.skipgrams([3, 1, 2], 4, negative_samples=0, shuffle=False),
    ]  # fmt: skip


def time_series(tf):
    make = tf.keras.preprocessing.sequence.TimeseriesGenerator
    plain = make(SERIES, SERIES + 1, 4, batch_size=5)
    other = make(
        SERIES, SERIES, 5, sampling_rate=2, stride=3, start_index=2, end_index=15, reverse=True, batch_size=2
    )
    np.random.seed(3)
    shuffled = make(SERIES, SERIES, 2, shuffle=True, batch_size=3)
    return [
        [len(each) for each in (plain, other, shuffled)], plain[0], plain[3], list(other), shuffled[0],
        other.to_json(), _error(make, SERIES, SERIES, 30), _error(make, SERIES, SERIES[:3], 1),
    ]  # fmt: skip


def texts(tf):
    text = tf.keras.preprocessing.text
    words = text.text_to_word_sequence
    outcomes = [
        words(TEXTS[1]), words("a,b;c", filters=";", split=","), words("A b", lower=False),
        text.hashing_trick(TEXTS[0], 50, "md5"), len(text.one_hot(TEXTS[0], 50)), text.hashing_trick("a bb", 9, len),
    ]  # fmt: skip
    for arguments in ({}, {"num_words": 4, "oov_token": "<?>"}, {"oov_token": "?"}, {"char_level": True}):
        tokenizer = text.Tokenizer(**arguments)
        tokenizer.fit_on_texts(TEXTS)
        numbers = tokenizer.texts_to_sequences([*TEXTS, "unknown cat"])
        outcomes += [tokenizer.word_index, numbers, tokenizer.sequences_to_texts(numbers)]
        outcomes += [tokenizer.texts_to_matrix(TEXTS, mode) for mode in ("binary", "count", "freq", "tfidf")]
    tokenizer.fit_on_sequences([[1, 2], [2]])
    outcomes += [tokenizer.word_counts, tokenizer.index_docs, sorted(tokenizer.get_config())]
    empty = text.Tokenizer()
    outcomes += [
        _error(empty.sequences_to_matrix, [[1]]), _error(text.Tokenizer(5).sequences_to_matrix, [[1]], "tfidf"),
        _error(tokenizer.sequences_to_matrix, [[1]], "x"), _error(text.Tokenizer, words=3),
    ]  # fmt: skip
    return outcomes


def arrays(tf):
    utils = tf.keras.utils
    return [
        utils.to_categorical([0, 2, 1]), utils.to_categorical(np.array([[1], [0]]), 4, "int32"),
        utils.to_categorical([[0, 1], [2, 2]]), utils.to_categorical(1, 3),
        utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])), utils.normalize(np.arange(6.0).reshape(2, 3), 0, 1),
        _error(utils.to_categorical, [5], 3),
    ]  # fmt: skip


CASES = [padding, word_pairs, time_series, texts, arrays]


def outcomes(tf):
    return {case.__name__: _plain(case(tf)) for case in CASES}
