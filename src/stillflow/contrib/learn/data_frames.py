"""Input functions of tf.contrib.learn.io, and what pandas' and dask's frames hold, as arrays."""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FunctionType, GeneratorType

from stillflow.estimator import queue_inputs
from stillflow.estimator.feeding import enqueue_data, is_data_frame
from stillflow.names import public

_NUMBERS = {
    *(f"int{bits}" for bits in (8, 16, 32, 64)),
    *(f"uint{bits}" for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    "bool",
}


@public("contrib.learn.io.numpy_input_fn")
def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1):
    """tf.estimator.inputs.numpy_input_fn, which shuffles unless it is told not to."""
    return queue_inputs.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


@public("contrib.learn.io.pandas_input_fn")
def pandas_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1, target_column="target"
):
    """tf.estimator.inputs.pandas_input_fn, which shuffles unless it is told not to."""
    return queue_inputs.pandas_input_fn(
        x,
        y=y,
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
        target_column=target_column,
    )


@public("contrib.learn.io.generator_input_fn")
def generator_input_fn(
    x, target_key=None, batch_size=128, num_epochs=1, shuffle=True, queue_capacity=1000, num_threads=1, pad_value=None
):
    """An input function over what a generator yields, dicts of arrays of one example each.

    Args:
      x: a generator function; each call of it is an epoch.
      target_key: the key of the labels, or a list of keys, or None.
      batch_size: how many examples a batch has; the last one may have fewer.
      num_epochs: how often to call it; None for ever.
      shuffle: whether examples come in random order.
      queue_capacity: how many examples the queue holds.
      num_threads: how many threads fill it.
      pad_value: what to make arrays as long as the longest with.

    Returns:
      A function that returns {key: tensor}, or these and the labels.

    Raises:
      TypeError: for what is no such function, and for keys that are no strings.
      KeyError: for keys of labels that examples do not have.
    """
    if not isinstance(x, FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    first = next(generator)
    if not isinstance(first, dict):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    names = sorted(first)
    targets = None if target_key is None else _target_keys(target_key, names)

    def input_fn():
        queue = enqueue_data(
            x,
            queue_capacity,
            shuffle=shuffle,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
            pad_value=pad_value,
        )
        batch = queue_inputs.dequeue(queue, batch_size, num_epochs)
        features = dict(zip(names, batch if isinstance(batch, list) else [batch], strict=False))
        if targets is None:
            return features
        labels = {key: features.pop(key) for key in targets}
        return features, labels if len(labels) > 1 else labels[targets[0]]

    return input_fn


def _target_keys(target_key, names):
    if isinstance(target_key, str):
        return [target_key]
    if not isinstance(target_key, Collection):
        raise TypeError(f"target_key must be str or Container of str; got {type(target_key).__name__}")
    for key in target_key:
        if not isinstance(key, str):
            raise TypeError(f"target_key must be str or Container of str; got {type(key).__name__}")
        if key not in names:
            raise KeyError(f"target_key not in yielded dict. Expected {names} keys; got {key}")
    return list(target_key)


# ---- Frames -------------------------------------------------------------------------------------------------------


def _check_numbers(frame, what):
    wrong = [f"'{column}' type='{frame[column].dtype.name}'" for column in frame]
    wrong = [text for text, column in zip(wrong, frame, strict=True) if frame[column].dtype.name not in _NUMBERS]
    if wrong:
        raise ValueError(f"Data types for extracting {what} must be int, float, or bool. Found: {', '.join(wrong)}")


@public("contrib.learn.extract_pandas_data")
def extract_pandas_data(data):
    """A DataFrame's values as floats; what is none as it is. Raises ValueError for columns that are no numbers."""
    if not is_data_frame(data):
        return data
    _check_numbers(data, "pandas data")
    return data.values.astype("float")


@public("contrib.learn.extract_pandas_matrix")
def extract_pandas_matrix(data):
    """A DataFrame's values; what is none as it is."""
    return data.to_numpy() if is_data_frame(data) else data


@public("contrib.learn.extract_pandas_labels")
def extract_pandas_labels(labels):
    """The values of a DataFrame of one column; what is none as it is.

    Raises ValueError for several columns, and for one that is no numbers.
    """
    if not is_data_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_numbers(labels, "labels")
    return labels.values


def _is_of_dask(data):
    dask = sys.modules.get("dask.dataframe")
    return dask is not None and isinstance(data, (dask.Series, dask.DataFrame))


def _numbered(data):
    """Dask's data with rows numbered through from 0, with which they can be asked for."""
    lengths = data.map_partitions(len).compute()
    starts = [sum(lengths[:i]) for i in range(len(lengths))]

    def number(part, partition_info=None):
        part = part.copy()
        part.index += starts[partition_info["number"]] if partition_info else 0
        return part

    return data.map_partitions(number, meta=data._meta)


@public("contrib.learn.extract_dask_data")
def extract_dask_data(data):
    """Dask's frames and series with rows numbered through; what is none of them as it is."""
    return _numbered(data) if _is_of_dask(data) else data


@public("contrib.learn.extract_dask_labels")
def extract_dask_labels(labels):
    """extract_dask_data of one column. Raises ValueError for several."""
    if not _is_of_dask(labels):
        return labels
    if getattr(labels, "ndim", 1) > 1 and len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return _numbered(labels)
