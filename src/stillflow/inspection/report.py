"""What `ls`, `show`, `diff` and `verify` print."""

from __future__ import annotations

import difflib

import numpy as np

from stillflow.graph import dtypes
from stillflow.inspection.sources import InputError, MetaGraphSource, Source, node_text, text_of_dims
from stillflow.saver.checkpoint_reader import RESERVED_PREFIX


def listing(source: Source):
    """Yields the lines of `ls`."""
    known = [entry.bytes for entry in source.entries.values() if entry.bytes is not None]
    yield f"{source.kind}: {len(source.entries)} tensors, {sum(known):,} bytes"
    rows = [(name, entry.dtype.name, text_of_dims(entry.dims)) for name, entry in source.entries.items()]
    yield from _aligned(rows)
    yield from source.facts


def _aligned(rows):
    if not rows:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        yield "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()


def statistics(source: Source):
    """Yields a line for each tensor, with what there is to say about its values."""
    rows = []
    for name, entry in source.entries.items():
        try:
            text = summary(source.read(name))
        except InputError:
            text = "no value"
        rows.append((name, entry.dtype.name, text_of_dims(entry.dims), text))
    yield from _aligned(rows)


def summary(value):
    """What there is to say about the elements of an array, in one line."""
    if value.size == 0:
        return "no elements"
    if value.dtype == object:
        sizes = [len(item) for item in value.ravel()]
        return f"{min(sizes)} to {max(sizes)} bytes each"
    if value.dtype == bool:
        return f"true {np.count_nonzero(value)} of {value.size}"
    plain = _plain(value)
    zeros = f"zeros {value.size - np.count_nonzero(plain)}"
    if plain.dtype.kind == "c":
        return f"largest magnitude {np.abs(plain).max():.6g}, {zeros}"
    if plain.dtype.kind in "iu":
        return f"min {plain.min()}, max {plain.max()}, mean {plain.mean(dtype=np.float64):.6g}, {zeros}"
    finite = plain[np.isfinite(plain)] if not np.isfinite(plain).all() else plain
    parts = []
    if finite.size:
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = finite.mean(dtype=np.float64), finite.std(dtype=np.float64)
        parts.append(f"min {finite.min():.6g}, max {finite.max():.6g}, mean {mean:.6g}, std {deviation:.6g}")
    parts.append(zeros)
    if finite.size < plain.size:
        nans = int(np.isnan(plain).sum())
        parts.append(f"nan {nans}, infinite {plain.size - finite.size - nans}")
    return ", ".join(parts)


def _plain(value):
    """Numbers that numpy computes with by itself."""
    if value.dtype.kind in "iufcb" and value.dtype.itemsize > 2:
        return value
    return value.astype(np.float32 if value.dtype.kind in "fV" else np.int32)


def values(source: Source, names, shows_all):
    """Yields the lines of `show` for some tensors. Raises InputError for a name that is not there."""
    nodes = source.nodes if isinstance(source, MetaGraphSource) else {}
    for name in names:
        if name not in source.entries and name not in nodes:
            near = difflib.get_close_matches(name, [*source.entries, *nodes], 1)
            raise InputError(f"There is no {name}." + (f" Is {near[0]} meant?" if near else ""))
    for name in names:
        if name in nodes:
            yield node_text(nodes[name]).rstrip()
            if nodes[name].op != "Const":
                continue
        value = source.read(name)
        dtype = source.entries[name].dtype.name if name in source.entries else dtypes.as_dtype(value.dtype).name
        yield f"{name}  {dtype}  {text_of_dims(value.shape)}  {summary(value)}"
        yield array_text(value, shows_all)


def array_text(value, shows_all):
    shown = value if value.dtype == object else np.asarray(_plain(value) if value.dtype.kind == "V" else value)
    return np.array2string(shown, threshold=2**62 if shows_all else 1000, max_line_width=118)


def differences(first: Source, second: Source):
    """Yields a line for every tensor that is not the same in both, to the last bit."""
    names = first.entries.keys() | second.entries.keys()
    if isinstance(first, MetaGraphSource) or isinstance(second, MetaGraphSource):
        # A run's state beside its variables, which only checkpoints have.
        names = {name for name in names if not name.startswith(RESERVED_PREFIX)}
    for name in sorted(names):
        mine, other = first.entries.get(name), second.entries.get(name)
        if mine is None or other is None:
            yield f"{name}: only in the {'second' if mine is None else 'first'}"
        elif mine.dtype is not other.dtype:
            yield f"{name}: {mine.dtype.name} and {other.dtype.name}"
        elif mine.dims != other.dims:
            yield f"{name}: {text_of_dims(mine.dims)} and {text_of_dims(other.dims)}"
        else:
            yield from _value_difference(name, first, second)


def _value_difference(name, first, second):
    try:
        values = first.read(name), second.read(name)
    except InputError:
        return  # a variable of a graph
    if values[0].dtype == object:
        count = int(sum(a != b for a, b in zip(values[0].ravel(), values[1].ravel(), strict=True)))
        if count:
            yield f"{name}: {count} of {values[0].size} strings differ"
        return
    if values[0].tobytes() == values[1].tobytes():
        return
    raw = [np.ascontiguousarray(value).reshape(-1).view(np.uint8).reshape(value.size, -1) for value in values]
    count = int((raw[0] != raw[1]).any(axis=1).sum())
    kind = np.complex128 if values[0].dtype.kind == "c" else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        distances = np.abs(values[0].astype(kind) - values[1].astype(kind))
    finite = distances[np.isfinite(distances)]
    largest = f"{finite.max():.6g}" if finite.size else "not a number"
    yield f"{name}: {count} of {values[0].size} elements differ, by {largest} at most"
