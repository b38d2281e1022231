"""Documents as numbers of words or bytes: tf.contrib.learn.preprocessing.VocabularyProcessor and its kin."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np

from stillflow.contrib.learn.preprocessing.vocabularies import CategoricalVocabulary
from stillflow.names import public
from stillflow.names.namespace import find_module

# Runs of capitals, capitalized parts of words, and words with apostrophes and hyphens.
_TOKEN = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)
TOKENIZER_RE = public("contrib.learn.preprocessing.TOKENIZER_RE")(_TOKEN)


@public("contrib.learn.preprocessing.tokenizer")
def tokenizer(iterator):
    """Yields the words of each text, a list."""
    for text in iterator:
        yield _TOKEN.findall(text)


class _Unpickler(pickle.Unpickler):
    """Reads vocabularies that TensorFlow wrote, too."""

    def find_class(self, module, name):
        top, _, rest = module.partition(".")
        if top in ("tensorflow", "tensorflow_core"):
            return getattr(find_module(rest), name)
        return super().find_class(module, name)


@public("contrib.learn.preprocessing.VocabularyProcessor")
class VocabularyProcessor:
    """Makes rows of numbers of documents, one for each word, by a vocabulary that it learns.

    Args:
      max_document_length: how many words count; rows of shorter documents end with zeros.
      min_frequency: words must come more often than that.
      vocabulary: a CategoricalVocabulary that it goes on with.
      tokenizer_fn: makes an iterator of lists of words of one of documents.
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of documents, an iterable of texts, and no others after that. Returns itself."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learns the words of documents, and yields their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Yields the rows of documents, int64 arrays."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for i, token in enumerate(tokens[: self.max_document_length]):
                row[i] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents):
        """Yields the words of rows, joined by blanks."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename):
        """Writes it to a file, by pickle."""
        with open(filename, "wb") as file:
            pickle.dump(self, file)

    @classmethod
    def restore(cls, filename):
        """Reads one from a file that this or TensorFlow wrote. As with any pickle, who wrote it must be trusted."""
        with open(filename, "rb") as file:
            return _Unpickler(file).load()


@public("contrib.learn.preprocessing.ByteProcessor")
class ByteProcessor:
    """Makes rows of bytes of documents, in UTF-8. `max_document_length` is how many count; zeros fill up the rest."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Does nothing: there is nothing to learn."""

    def fit_transform(self, x):
        """Yields the rows of documents."""
        return self.transform(x)

    def reverse(self, x):
        """Yields the texts of rows; an empty one for what is no UTF-8."""
        for row in x:
            try:
                yield np.trim_zeros(row.astype(np.int8), trim="b").tobytes().decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x):
        """Yields the rows of documents, texts or bytes, as uint8 arrays."""
        for document in x:
            content = document.encode("utf-8") if isinstance(document, str) else document
            found = np.frombuffer(memoryview(content)[: self.max_document_length], dtype=np.uint8)
            yield np.pad(found, (0, self.max_document_length - len(found)), "constant")


@public("contrib.learn.preprocessing.CategoricalProcessor")
class CategoricalProcessor:
    """Makes rows of numbers of rows of categories, by a vocabulary for each column.

    Args:
      min_frequency: categories must come more often than that.
      share: whether all columns have one vocabulary.
      vocabularies: those that it goes on with, a list.
    """

    def __init__(self, min_frequency=0, share=False, vocabularies=None):
        self.min_frequency = min_frequency
        self.share = share
        self.vocabularies_ = vocabularies

    def freeze(self, freeze=True):
        """Makes all vocabularies take no new categories, or take some again."""
        for vocabulary in self.vocabularies_:
            vocabulary.freeze(freeze)

    def fit(self, x, unused_y=None):
        """Learns the categories of rows, an array or an iterable, and no others after that. Returns itself."""
        for row in x:
            if self.vocabularies_ is None:
                shared = CategoricalVocabulary()
                self.vocabularies_ = [shared if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=False):
                if not _is_nan(value):
                    vocabulary.add(value)
        if self.min_frequency > 0:
            for vocabulary in self.vocabularies_:
                vocabulary.trim(self.min_frequency)
        self.freeze()
        return self

    def fit_transform(self, x, unused_y=None):
        """Learns the categories of rows, and yields their numbers."""
        self.fit(x)
        return self.transform(x)

    def transform(self, x):
        """Yields the numbers of rows, int64 arrays."""
        self.freeze()
        for row in x:
            numbers = [
                0 if _is_nan(value) else vocabulary.get(value)
                for vocabulary, value in zip(self.vocabularies_, row, strict=False)
            ]
            yield np.array(numbers, dtype=np.int64)


def _is_nan(value):
    return isinstance(value, float) and math.isnan(value)
