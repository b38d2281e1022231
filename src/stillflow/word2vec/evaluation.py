"""How good word vectors are: rank correlation with human judgements of similarity, and analogies."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np


class Vectors:
    """Words and their vectors, float32[words, dim], most frequent word first."""

    def __init__(self, words, matrix):
        self.words = list(words)
        self.matrix = np.asarray(matrix, np.float32)
        self.index = {word: i for i, word in enumerate(self.words)}
        norms = np.linalg.norm(self.matrix, axis=1, keepdims=True)
        self.directions = self.matrix / np.maximum(norms, np.finfo(np.float32).tiny)

    def nearest(self, word, count=8):
        """[(word, cosine)] of the words closest to `word`, without itself; empty if it is unknown."""
        if word not in self.index:
            return []
        own = self.index[word]
        cosines = self.directions @ self.directions[own]
        order = np.argsort(-cosines, kind="stable")
        return [(self.words[i], float(cosines[i])) for i in order[order != own][:count]]


class Score(NamedTuple):
    name: str
    value: float  # Spearman's rho, or the share of right answers
    used: int  # pairs or questions whose words are all known
    total: int

    def __str__(self):
        return f"{self.name}: {self.value:.3f} ({self.used} of {self.total})"


def ranks(values):
    """Ranks from 1, equal values sharing the mean of theirs."""
    values = np.asarray(values, np.float64)
    order = np.argsort(values, kind="stable")
    _, first, counts = np.unique(values[order], return_index=True, return_counts=True)
    result = np.empty(len(values))
    result[order] = np.repeat(first + (counts + 1) / 2, counts)
    return result


def spearman(a, b):
    """Spearman's rank correlation; NaN for fewer than two values or constant ones."""
    if len(a) < 2:
        return float("nan")
    x, y = (ranks(values) - (len(values) + 1) / 2 for values in (a, b))
    norm = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / norm) if norm else float("nan")


def similarity(vectors: Vectors, path) -> Score:
    """Correlation of cosines with the scores in a file of lines "word word score"."""
    lines = [line.split() for line in Path(path).read_text(encoding="utf-8").split("\n")]
    rows = [(a.lower(), b.lower(), float(score)) for a, b, score, *_ in (line for line in lines if len(line) >= 3)]
    known = [(a, b, score) for a, b, score in rows if a in vectors.index and b in vectors.index]
    cosines = [
        float(vectors.directions[vectors.index[a]] @ vectors.directions[vectors.index[b]]) for a, b, _ in known
    ]
    return Score(Path(path).stem, spearman(cosines, [score for *_, score in known]), len(known), len(rows))


def analogies(vectors: Vectors, path, most_words=30_000) -> Score:
    """The share of questions "a is to b as c is to ?" answered right among the most frequent words (3CosAdd).

    The file has four words a line, and section headings that begin with a colon. (Mikolov et al., "Linguistic
    regularities in continuous space word representations", 2013.)
    """
    lines = Path(path).read_text(encoding="utf-8").lower().split("\n")
    questions = [line.split() for line in lines if line and not line.startswith(":")]
    limit = min(most_words, len(vectors.words))
    directions = vectors.directions[:limit]
    known = [
        [vectors.index[word] for word in question]
        for question in questions
        if len(question) == 4 and all(vectors.index.get(word, limit) < limit for word in question)
    ]
    right = 0
    for begin in range(0, len(known), 512):
        block = np.array(known[begin : begin + 512])
        a, b, c, expected = block.T
        scores = (directions[b] - directions[a] + directions[c]) @ directions.T
        np.put_along_axis(scores, block[:, :3], -np.inf, axis=1)
        right += int((scores.argmax(axis=1) == expected).sum())
    share = right / len(known) if known else float("nan")
    return Score(Path(path).stem, share, len(known), len(questions))


def evaluate(vectors: Vectors, path) -> Score:
    """Analogies if the file has lines of four words, similarity otherwise."""
    for line in Path(path).read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith(":"):
            return analogies(vectors, path) if len(line.split()) == 4 else similarity(vectors, path)
    return Score(Path(path).stem, float("nan"), 0, 0)
