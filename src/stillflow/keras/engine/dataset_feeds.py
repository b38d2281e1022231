"""Datasets as the data of models."""

from __future__ import annotations

from stillflow import errors
from stillflow.datasets.cardinality import INFINITE, cardinality
from stillflow.datasets.eager_iterator import EagerIterator
from stillflow.datasets.iterator import Iterator, make_initializable_iterator
from stillflow.datasets.node import DatasetNode
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.backend.phases import get_session
from stillflow.keras.backend.values import get_value
from stillflow.names import public
from stillflow.platform import logging


def is_dataset(x):
    return isinstance(x, DatasetNode)


def is_iterator(x):
    return isinstance(x, (Iterator, EagerIterator))


def refuse_iterators(x):
    """Raises ValueError for iterators of datasets."""
    if is_iterator(x):
        raise ValueError(
            "For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets` as input but not "
            "iterators that have been manually generated from Datasets by users. Please directly pass in the "
            "original `Dataset` object instead of passing in `iter(dataset)`."
        )


def check_arguments(x, y, sample_weight, validation_split=None):
    """Raises ValueError for arguments of `fit` that do not go with a dataset."""
    if y is not None:
        raise ValueError(
            f"You passed a dataset or dataset iterator ({x}) as input `x` to your model. In that case, you should "
            "not specify a target (`y`) argument, since the dataset or dataset iterator generates both input data "
            f"and target data. Received: {y}"
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a dataset or a dataset iterator. Instead, "
            "youcan provide sample_weight as the third element  of yourdataset, i.e. (inputs, targets, "
            f"sample_weight). Received: x={x}, sample_weight={sample_weight}"
        )
    if validation_split:
        raise ValueError(
            "`validation_split` argument is not supported when input `x` is a dataset or a dataset iterator. "
            f"Received: x={x}, validation_split={validation_split:f}"
        )


def steps_of(dataset, steps, steps_name):
    """How many batches of a dataset an epoch has, if `steps` is None; None if only the dataset's end will show it.

    Raises ValueError if the dataset has no end and `steps` is None.
    """
    if steps is not None:
        return steps
    size = int(get_value(cardinality(dataset)))
    if size == INFINITE:
        raise ValueError(
            f"When passing an infinitely repeating dataset, you must specify the `{steps_name}` argument."
        )
    return size if size >= 0 else None


@by_mode
def iterator_of(dataset):
    """An iterator of a dataset, at its beginning."""
    iterator = make_initializable_iterator(dataset)
    begin_again(iterator)
    return iterator


@eager_version_of(iterator_of)
def _eager_iterator_of(dataset):
    return iter(dataset)


def begin_again(iterator):
    """Puts an iterator back to the beginning of its dataset."""
    get_session().run(iterator.initializer)


def parts(iterator):
    """(inputs, targets, weights) of an iterator's next element. Raises ValueError for other elements."""
    try:
        found = iterator.get_next()
    except errors.OutOfRangeError:
        raise RuntimeError(
            "Your dataset iterator ran out of data; Make sure that your dataset can generate required number of "
            "samples."
        ) from None
    if not isinstance(found, (list, tuple)):
        return found, None, None
    if len(found) not in (2, 3):
        raise ValueError(
            "Please provide model inputs as a list or tuple of 2 or 3 elements: (input, target) or (input, target, "
            f"sample_weights) Received {found}"
        )
    return tuple(found) if len(found) == 3 else (*found, None)


def _any(trait, dataset):
    return getattr(dataset, trait) or any(_any(trait, each) for each in dataset._inputs())


@public("python.keras.engine.training_utils.assert_not_batched")
def assert_not_batched(dataset):
    """Raises ValueError unless it is certain that no element of a dataset is a batch that the dataset has made."""
    if _any("_may_batch", dataset):
        raise ValueError("Could not assert that dataset is not batched.")


@public("python.keras.engine.training_utils.assert_not_shuffled")
def assert_not_shuffled(dataset):
    """Raises ValueError unless it is certain that a dataset's elements always come in the same order."""
    if _any("_may_reorder", dataset):
        raise ValueError("Could not assert that dataset is not shuffled.")


@public("python.keras.engine.training_utils.verify_dataset_shuffled")
def warn_unless_shuffled(x):
    """Logs a warning about a dataset of samples that certainly come in the same order each time."""
    if not _any("_may_reorder", x):
        logging.warning(
            "Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke `shuffle()` on input "
            "dataset."
        )
