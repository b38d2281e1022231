# distutils: language = c++
"""Texts as Python sees them: a corpus with its vocabulary, and batches of skip-gram pairs from it."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

cnp.import_array()

cdef extern from "corpus/corpus.h" namespace "stillflow" nogil:
    cdef cppclass CppCorpus "stillflow::Corpus":
        CppCorpus(const char*, int64_t, int64_t, int64_t) except +
        const vector[string]& words()
        const vector[int64_t]& counts()
        const vector[int32_t]& sequence()
        int64_t text_word_count()
        int64_t kept_word_count()
    int64_t FindNonText(const char*, int64_t)

cdef extern from "corpus/skip_gram.h" namespace "stillflow" nogil:
    cdef cppclass SkipGramOptions:
        int64_t batch_size
        int64_t window
        double subsample
        int64_t epochs
        int64_t readers
        uint64_t seed
    cdef cppclass PairBatch:
        vector[int32_t] inputs
        vector[int64_t] labels
        double progress
    cdef cppclass SkipGramStream:
        SkipGramStream(const CppCorpus*, const SkipGramOptions&) except +
        cbool Next(PairBatch*) except +


def find_non_text(bytes text):
    """The offset of the first byte that is not part of UTF-8 text, or -1."""
    return FindNonText(text, len(text))


cdef class Corpus:
    """A text as words and a sequence of word numbers, most frequent word first.

    Words are runs of letters, digits, underscores and non-ASCII characters, ASCII letters in lower case.
    """

    cdef CppCorpus* corpus
    cdef readonly list words
    cdef readonly object counts           # int64[words]
    cdef readonly int64_t text_word_count
    cdef readonly int64_t kept_word_count

    def __init__(self, bytes text, int64_t min_count=1, int64_t most_words=0):
        """`text` is UTF-8. Words that occur less than `min_count` times are left out, and those beyond the
        `most_words` most frequent."""
        cdef const char* data = text
        cdef int64_t size = len(text)
        with nogil:
            self.corpus = new CppCorpus(data, size, min_count, most_words)
        cdef size_t i, count = self.corpus.words().size()
        self.words = [self.corpus.words()[i].decode("utf-8") for i in range(count)]
        self.counts = np.array([self.corpus.counts()[i] for i in range(count)], np.int64)
        self.text_word_count = self.corpus.text_word_count()
        self.kept_word_count = self.corpus.kept_word_count()

    def __dealloc__(self):
        del self.corpus

    def sequence(self):
        """int32: the numbers of the words in their order; -1 stands for the end of a paragraph."""
        cdef cnp.ndarray array = np.empty(self.corpus.sequence().size(), np.int32)
        memcpy(cnp.PyArray_DATA(array), self.corpus.sequence().data(), cnp.PyArray_NBYTES(array))
        return array


cdef class SkipGramBatches:
    """Iterates over (inputs int32[n], labels int64[n, 1], share of the work done) until the epochs are over.

    A thread makes the batches ahead. They depend on the corpus and the arguments alone.
    """

    cdef Corpus corpus
    cdef SkipGramStream* stream
    cdef int64_t batch_size

    def __init__(self, Corpus corpus, int64_t batch_size, int64_t window=5, double subsample=0.0, int64_t epochs=1,
                 int64_t readers=1000, uint64_t seed=1):
        """See csrc/corpus/skip_gram.h. Raises ValueError for sizes that are not positive."""
        if batch_size < 1 or not 1 <= window <= 255 or epochs < 0 or readers < 1:
            raise ValueError(f"batch_size {batch_size}, window {window}, epochs {epochs}, readers {readers}")
        cdef SkipGramOptions options
        options.batch_size = batch_size
        options.window = window
        options.subsample = subsample
        options.epochs = epochs
        options.readers = readers
        options.seed = seed
        self.corpus = corpus
        self.batch_size = batch_size
        self.stream = new SkipGramStream(corpus.corpus, options)

    def __dealloc__(self):
        with nogil:
            del self.stream

    def __iter__(self):
        return self

    def __next__(self):
        cdef PairBatch batch
        cdef cbool is_there
        with nogil:
            is_there = self.stream.Next(&batch)
        if not is_there:
            raise StopIteration
        cdef cnp.ndarray inputs = np.empty(self.batch_size, np.int32)
        cdef cnp.ndarray labels = np.empty((self.batch_size, 1), np.int64)
        memcpy(cnp.PyArray_DATA(inputs), batch.inputs.data(), cnp.PyArray_NBYTES(inputs))
        memcpy(cnp.PyArray_DATA(labels), batch.labels.data(), cnp.PyArray_NBYTES(labels))
        return inputs, labels, batch.progress
