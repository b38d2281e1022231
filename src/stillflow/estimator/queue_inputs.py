"""tf.estimator.inputs: input functions over arrays and DataFrames."""

from __future__ import annotations

import collections
import importlib.util
import uuid

import numpy as np

from stillflow.estimator.feeding import enqueue_data, is_data_frame
from stillflow.names import public

_ONLY_FEATURE = "__direct_np_input__"
_TARGET = "__target_key__"


def _check_shuffle(shuffle):
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
            f"training); got {shuffle}"
        )


def dequeue(queue, batch_size, num_epochs):
    """A batch; the last one of the input is as long as what is left."""
    return queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)


@public("estimator.inputs.numpy_input_fn")
def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input function over arrays, through a queue that threads fill.

    Args:
      x: the features: an array, or {name: array}, all with as many rows.
      y: the labels: likewise, or None.
      batch_size: how many rows a batch has; the last one may have fewer.
      num_epochs: how often to go through the rows; None for ever.
      shuffle: whether in random order; has to be given.
      queue_capacity: how many rows the queue holds.
      num_threads: how many threads fill it.

    Returns:
      A function that returns features, or features and labels, as tensors and {name: tensor}.

    Raises:
      ValueError: if `shuffle` is not given. By the function: for no features, for names that are both features and
        labels, and for different numbers of rows.
      TypeError: by the function, if `x` is neither an array nor a dict.
    """
    _check_shuffle(shuffle)

    def input_fn():
        """Features, or features and labels."""
        columns = _features(x)
        names = list(columns)
        targets = _add_targets(columns, y)
        _check_lengths(columns, names, y, targets)
        queue = enqueue_data(
            columns,
            queue_capacity,
            shuffle=shuffle,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        batch = dequeue(queue, batch_size, num_epochs)[1:]
        features = batch[0] if isinstance(x, np.ndarray) else dict(zip(names, batch, strict=False))
        if targets is None:
            return features
        if isinstance(targets, str):
            return features, batch[-1]
        return features, dict(zip(targets, batch[-len(targets) :], strict=True))

    return input_fn


def _features(x):
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return collections.OrderedDict(sorted(x.items(), key=lambda item: item[0]))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return collections.OrderedDict({_ONLY_FEATURE: x})
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _add_targets(columns, y):
    """Puts labels beside the features. Their name, the list of their names, or None."""
    if y is None:
        return None
    if not isinstance(y, dict):
        name = _TARGET
        while name in columns:
            name += "_n"
        columns[name] = y
        return name
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    targets = sorted(y)
    both = set(columns) & set(targets)
    if both:
        raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    columns.update((name, y[name]) for name in targets)
    return targets


def _check_lengths(columns, names, y, targets):
    if len({array.shape[0] for array in columns.values()}) == 1:
        return
    shapes_of_x = {name: columns[name].shape for name in names}
    shapes_of_y = None
    if targets is not None:
        shapes_of_y = y.shape if isinstance(targets, str) else {name: columns[name].shape for name in targets}
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
        f"Shapes in x: {shapes_of_x}\nShapes in y: {shapes_of_y}\n"
    )


@public("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
    target_column="target",
):  # fmt: skip
    """An input function over a DataFrame of pandas, through a queue that threads fill.

    Args:
      x: the features, a DataFrame.
      y: the labels, a Series or DataFrame with the index of `x`, or None.
      batch_size: how many rows a batch has; the last one may have fewer.
      num_epochs: how often to go through the rows; None for ever.
      shuffle: whether in random order; has to be given.
      queue_capacity: how many rows the queue holds; None for all, or four times as many with `shuffle`.
      num_threads: how many threads fill it.
      target_column: what the labels are called as a column beside the features.

    Returns:
      A function that returns {column: tensor}, and the labels likewise if they are a DataFrame.

    Raises:
      TypeError: without pandas, and for a name that is no string.
      ValueError: if `shuffle` is not given, the indices differ, or the name is one of `x`.
    """
    if importlib.util.find_spec("pandas") is None:
        raise TypeError("pandas_input_fn should not be called without pandas installed")
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    x = x.copy()
    labels = None  # {name of a label: its column}, or the only column
    if y is not None:
        labels = _add_label_columns(x, y, target_column)
    if queue_capacity is None:
        queue_capacity = 4 * len(x) if shuffle else len(x)

    def input_fn():
        """{column: tensor}, or that and the labels."""
        queue = enqueue_data(
            x,
            queue_capacity,
            shuffle=shuffle,
            min_after_dequeue=max(queue_capacity / 4, 1),
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        batch = dequeue(queue, batch_size, num_epochs)
        features = dict(zip(x.columns, batch[1:], strict=True))
        if labels is None:
            return features
        if isinstance(labels, dict):
            return features, {name: features.pop(column) for name, column in labels.items()}
        return features, features.pop(labels)

    return input_fn


def _add_label_columns(x, y, name):
    if name in x:
        raise ValueError(
            f"Cannot use name {name} for target column: DataFrame already has a column with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")
    if not is_data_frame(y):
        x[name] = y
        return name
    labels = {label: f"{label}_{uuid.uuid4()}" if label in x else label for label in y}
    x[list(labels.values())] = y
    return labels
