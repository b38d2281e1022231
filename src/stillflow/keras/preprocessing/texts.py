"""Words of texts, and their numbers."""

from __future__ import annotations

import collections
import hashlib
import json
import warnings

import numpy as np

from stillflow.names import public

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


@public("keras.preprocessing.text.text_to_word_sequence")
def text_to_word_sequence(text, filters=_FILTERS, lower=True, split=" "):
    """The words of a text.

    Args:
      text: the text.
      filters: characters that are taken as if they were `split`.
      lower: whether to make letters small.
      split: what is between words.
    """
    text = text.lower() if lower else text
    text = text.translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


@public("keras.preprocessing.text.one_hot")
def one_hot(text, n, filters=_FILTERS, lower=True, split=" "):
    """A number in [1, n) for each word of a text: its hash. Several words may have the same."""
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


def _md5(word):
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


@public("keras.preprocessing.text.hashing_trick")
def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" "):
    """A number in [1, n) for each word of a text.

    Args:
      text: the text.
      n: the number of numbers, 0 among them, which no word has.
      hash_function: a function from a word to an integer; Python's `hash` by default, which differs from run to run;
        "md5" does not.
      filters, lower, split: see `text_to_word_sequence`.
    """
    function = {None: hash, "md5": _md5}.get(hash_function, hash_function)
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [function(word) % (n - 1) + 1 for word in words]


@public("keras.preprocessing.text.Tokenizer")
class Tokenizer:
    """Words by number: 1 is the most frequent one, 0 is none.

    Args:
      num_words: numbers from this on are not used.
      filters, lower, split: see `text_to_word_sequence`.
      char_level: whether characters are the words.
      oov_token: what stands for unknown words, with number 1; None to leave them out.
      document_count: how many texts have been seen.

    Raises:
      TypeError: for other arguments.
    """

    def __init__(
        self, num_words=None, filters=_FILTERS, lower=True, split=" ", char_level=False, oov_token=None,
        document_count=0, **kwargs,
    ):  # fmt: skip
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2)
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: dict = collections.OrderedDict()
        self.word_docs: dict = collections.defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: dict = collections.defaultdict(int)
        self.word_index: dict = {}
        self.index_word: dict = {}

    def _words(self, text):
        if not self.char_level and not isinstance(text, list):
            return text_to_word_sequence(text, self.filters, self.lower, self.split)
        if not self.lower:
            return text
        return [word.lower() for word in text] if isinstance(text, list) else text.lower()

    def fit_on_texts(self, texts):
        """Counts the words of texts, or of lists of words, and numbers them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        by_count = sorted(self.word_counts.items(), key=lambda pair: pair[1], reverse=True)
        known = [] if self.oov_token is None else [self.oov_token]
        known += [word for word, _ in by_count]
        self.word_index = {word: i for i, word in enumerate(known, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Counts in how many lists of numbers each number is; for "tfidf"."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def _is_used(self, i):
        return not (self.num_words and i >= self.num_words)

    def texts_to_sequences(self, texts):
        """A list of the numbers of each text's words."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """The numbers of each text's words, one text after the other."""
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = []
            for word in self._words(text):
                i = self.word_index.get(word)
                if i is not None and self._is_used(i):
                    numbers.append(i)
                elif unknown is not None or (i is None and self.oov_token is not None):
                    numbers.append(unknown)
            yield numbers

    def sequences_to_texts(self, sequences):
        """A list of texts of the words that numbers stand for."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """Texts of the words that numbers stand for, one after the other."""
        unknown = self.word_index.get(self.oov_token)
        for sequence in sequences:
            words = []
            for i in sequence:
                word = self.index_word.get(i)
                if word is not None and self._is_used(i):
                    words.append(word)
                elif unknown is not None or (word is None and self.oov_token is not None):
                    words.append(self.index_word[unknown])
            yield " ".join(words)

    def texts_to_matrix(self, texts, mode="binary"):
        """`sequences_to_matrix` of texts."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """A matrix with a row for each list of numbers, and a column for each number.

        Args:
          sequences: lists of numbers.
          mode: "binary" (whether it is there), "count", "freq" (its share) or "tfidf".

        Raises:
          ValueError: for another mode, or if the number of columns, or of texts, is not known.
        """
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        width = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        weights = {
            "count": lambda _, count, length: count,
            "freq": lambda _, count, length: count / length,
            "binary": lambda _, count, length: 1,
            "tfidf": self._weight,
        }
        matrix = np.zeros((len(sequences), width))
        for row, sequence in enumerate(sequences):
            counts = collections.Counter(i for i in sequence or () if i < width)
            for i, count in counts.items():
                if mode not in weights:
                    raise ValueError("Unknown vectorization mode:", mode)
                matrix[row][i] = weights[mode](i, count, len(sequence))
        return matrix

    def _weight(self, i, count, length):
        inverse = np.log(1 + self.document_count / (1 + self.index_docs.get(i, 0)))
        return (1 + np.log(count)) * inverse

    def get_config(self):
        """The arguments, and what has been counted as JSON."""
        plain = ("num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")
        counted = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: json.dumps(getattr(self, name)) for name in counted},
        }

    def to_json(self, **kwargs):
        """`get_config` and the class's name as JSON; arguments are those of json.dumps."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
