"""What GenerateVocabRemapping and LoadAndRemapMatrix do: a checkpoint's matrix in the order of a new vocabulary."""

from __future__ import annotations

import os

import numpy as np

from stillflow import _engine, errors
from stillflow.files.filesystem import system_of, typed_errors
from stillflow.graph import dtypes


def generate_vocab_remapping(new_vocab_file, old_vocab_file, new_vocab_offset, num_new_vocab, old_vocab_size):
    """The old line of each of some lines of a new vocabulary, -1 for new ones; and how many are old."""
    offset, count, old_size = int(new_vocab_offset), int(num_new_vocab), int(old_vocab_size)
    old_path = os.fsdecode(old_vocab_file)
    numbers: dict = {}
    for number, entry in enumerate(_entries(old_path, old_size)):
        if numbers.setdefault(entry, number) != number:
            raise _error(
                errors.FAILED_PRECONDITION,
                f"HashTable has different value for same key. Key {entry.decode('utf-8', 'replace')} has "
                f"{numbers[entry]} and trying to add value {number}",
            )
    entries = _entries(os.fsdecode(new_vocab_file), -1)
    if offset + count > len(entries):
        raise _invalid("lookup table size must be larger than last new vocab entry's line")
    remapping = np.array([numbers.get(entry, -1) for entry in entries[offset : offset + count]], np.int64)
    return remapping, np.int32(np.count_nonzero(remapping >= 0))


def _entries(path, size):
    """The lines of a vocabulary, or the first `size` of them."""
    with typed_errors(path):
        system, name = system_of(path)
        with system.open(name, "rb") as file:
            lines = file.read().split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise _error(errors.OUT_OF_RANGE, f"There is nothing to read in {path}")
    if size == 0:
        raise _error(errors.OUT_OF_RANGE, f"Finished reading 0 of lines from {path}")
    if size > len(lines):
        raise _invalid(f"Invalid vocab_size in {path}: expected {size} but got {len(lines)}")
    found = [line.removesuffix(b"\r") for line in (lines if size < 0 else lines[:size])]
    if b"" in found:
        position = sum(len(line) + 1 for line in lines[: found.index(b"") + 1])
        raise _invalid(f"Invalid content in {path}: empty line found at position {position}.")
    return found


def load_and_remap_matrix(
    ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values, num_rows, num_cols
):
    """The rows and columns of a matrix in their new order, and given values, in order, where there were none."""
    rows, columns, count = row_remapping.ravel(), col_remapping.ravel(), int(num_cols)
    if len(rows) != num_rows:
        raise _invalid(f"Size of row_remapping is {len(rows)} instead of being equal to num_rows={int(num_rows)}")
    if len(columns) and len(columns) != count:
        raise _invalid(
            f"Provided col_remapping, but its size is {len(columns)} instead of being equal to num_cols={count}"
        )
    path = np.asarray(ckpt_path, object).item()  # TensorFlow takes a vector of one path, too
    old = _matrix(os.fsencode(path), os.fsencode(old_tensor_name))
    if not len(columns):
        columns = np.arange(count)
        if old.shape[1] != count:
            raise _invalid(
                f"Tensor {os.fsdecode(old_tensor_name)} has shape [{old.shape[0]},{old.shape[1]}], where the size of "
                f"its 2nd dimension is {old.shape[1]} instead of being equal to num_cols={count}"
            )
    for numbers, size, kind in ((rows, old.shape[0], "row"), (columns, old.shape[1], "col")):
        _check_numbers(numbers, size, kind)
    is_known = (rows >= 0)[:, None] & (columns >= 0)[None, :]
    values = initializing_values.ravel()
    missing = is_known.size - np.count_nonzero(is_known)
    if missing > values.size:
        raise _invalid(f"initializing_values contained {values.size} elements, but more missing values remain.")
    if missing < values.size:
        raise _invalid(
            f"initializing_values contained {values.size} elements, but only {missing} elements were used to fill in "
            "missing values."
        )
    found = np.empty(is_known.shape, np.float32)
    found[is_known] = old[np.ix_(rows[rows >= 0], columns[columns >= 0])].ravel()
    found[~is_known] = values
    return found


def _matrix(path, name):
    """A float matrix of a checkpoint."""
    try:
        reader = _engine.CheckpointReader(path)
        value = reader.read(name)
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, None) from None
    text = os.fsdecode(name)
    if value.dtype != np.float32:
        kind = dtypes.as_dtype(value.dtype)._c_name
        raise _invalid(f"Tensor {text} has invalid type {kind} instead of expected type float")
    if value.ndim != 2:
        shape = list(value.shape)
        raise _invalid(f"Tensor {text} has shape {shape} of invalid rank {value.ndim} instead of expected rank 2")
    return value


def _check_numbers(numbers, size, kind):
    old = numbers[numbers >= 0]
    values, counts = np.unique(old, return_counts=True)
    if np.any(counts > 1):
        twice = values[counts > 1][0]
        first, second = np.flatnonzero(numbers == twice)[:2]
        raise _error(
            errors.UNIMPLEMENTED,
            f"Old ID {twice} is mapped to both new ID {first} and {second}, which is not supported.",
        )
    if values.size and values[-1] >= size:
        raise _invalid(f"{kind}_remapping has {values[-1]}, which is not in [0, {size})")


def _error(code, message):
    return errors.make(code, message, None)


def _invalid(message):
    return _error(errors.INVALID_ARGUMENT, message)
