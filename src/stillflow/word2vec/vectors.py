"""Word vectors in the two formats of the original word2vec program."""

from __future__ import annotations

import numpy as np


def write_text(path, words, matrix):
    """A line with the counts, then a line per word: the word and its numbers, as short as they can be read back."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{len(words)} {matrix.shape[1]}\n")
        for word, vector in zip(words, np.asarray(matrix, np.float32), strict=True):
            file.write(f"{word} {' '.join(map(str, vector))}\n")


def write_binary(path, words, matrix):
    """A line with the counts, then for each word: the word, a blank, float32 numbers, a line end."""
    with open(path, "wb") as file:
        file.write(f"{len(words)} {matrix.shape[1]}\n".encode())
        for word, vector in zip(words, np.asarray(matrix, "<f4"), strict=True):
            file.write(word.encode() + b" " + vector.tobytes() + b"\n")


def read(path):
    """(words, float32[words, dim]) from either format. Raises ValueError for a file that is neither."""
    with open(path, "rb") as file:
        header = file.readline().split()
        if len(header) != 2 or not all(item.isdigit() for item in header):
            raise ValueError(f"{path} does not begin with the number of words and of dimensions")
        count, dim = map(int, header)
        rest = file.read()
    if count * (dim + 1) > len(rest):  # each word and each number is a byte at least
        raise ValueError(f"{path} is too short for {count} words with {dim} numbers each")
    return _parse_text(rest, count, dim) or _parse_binary(path, rest, count, dim)


def _parse_text(rest, count, dim):
    """The contents if they are text, else None."""
    try:
        lines = [line.split(" ") for line in rest.decode("utf-8").removesuffix("\n").split("\n")]
        matrix = np.array([line[1:] for line in lines], np.float32).reshape(count, dim)
    except (UnicodeDecodeError, ValueError):
        return None
    return [line[0] for line in lines], matrix


def _parse_binary(path, rest, count, dim):
    words = []
    matrix = np.empty((count, dim), np.float32)
    at = 0
    for i in range(count):
        blank = rest.find(b" ", at)
        end = blank + 1 + 4 * dim
        if blank < 0 or end > len(rest):
            raise ValueError(f"{path} ends within word {i} of {count}")
        words.append(rest[at:blank].decode("utf-8"))
        matrix[i] = np.frombuffer(rest[blank + 1 : end], "<f4")
        at = end + (rest[end : end + 1] == b"\n")
    return words, matrix
