"""Data sets of elements that are drawn from several, or from one so that classes have other shares."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.datasets.dataset import DatasetV1, DatasetV2
from stillflow.datasets.interleaving import DirectedInterleaveDataset
from stillflow.datasets.mapping import MapDataset
from stillflow.datasets.random_source import RandomDataset
from stillflow.datasets.rows import unbatched
from stillflow.datasets.scanning import scan
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.division import truediv
from stillflow.ops.strings.print import Print
from stillflow.random.sampling import random_uniform


def _drawn(logits, seed):
    """The number of the data set of which the next element is."""
    return ops.squeeze(ops.stateless_multinomial_op(logits, 1, seed=seed), axis=[0, 1])


@public("data.experimental.sample_from_datasets", "contrib.data.sample_from_datasets")
def sample_from_datasets(datasets, weights=None, seed=None):
    """A data set of elements of several, each of one that is drawn.

    Args:
      datasets: a list of data sets of one structure.
      weights: with which probability each is drawn: a float32 or float64 vector, or a data set of such; the same for
        all if None.
      seed: an integer; with it, or with that of the graph, the order is always the same.

    Raises:
      TypeError: for data sets of other elements, and for weights of another type.
      ValueError: if there are not as many weights as data sets.
    """
    if isinstance(weights, DatasetV2):
        logits = weights.map(lambda *p: ops.log(p, name="logits"))
        selections = DatasetV1.zip((logits, RandomDataset(seed).batch(2)))

        def select_dataset_varying_logits(logits, seed):
            return _drawn(logits, seed)

        selector = MapDataset(selections, select_dataset_varying_logits, use_inter_op_parallelism=False)
    else:
        logits = _constant_logits(weights, len(datasets))
        if len(datasets) == 1:
            return DatasetV1._of(datasets[0])

        def select_dataset_constant_logits(seed):
            return _drawn(logits, seed)

        selector = MapDataset(
            RandomDataset(seed).batch(2), select_dataset_constant_logits, use_inter_op_parallelism=False
        )
    return DatasetV1._of(DirectedInterleaveDataset(selector, datasets))


def _constant_logits(weights, count):
    if weights is None:
        return [[1.0] * count]
    weights = convert_to_tensor(weights, name="weights")
    if weights.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
    if not weights.shape.is_compatible_with([count]):
        raise ValueError("`weights` must be a vector of length `len(datasets)`.")
    return ops.expand_dims(ops.log(weights, name="logits"), 0)


# ---- Classes with other shares ----------------------------------------------------------------------------------
#
# With p_i the share of class i, t_i that which is wanted, r_i = t_i / p_i, m the least and M the largest of the r_i:
# with probability m an element is taken as it comes; otherwise one of class i is kept with probability
# (r_i - m) / (M - m), until one has been kept. Of all ways to mix both, this one throws away least.

_ESTIMATION_BATCH = 32
_SMOOTHING = 10  # elements of each class that are counted before any came
_NOTEWORTHY_LOSS = 0.5


@public("data.experimental.rejection_resample", "contrib.data.rejection_resample")
def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """For Dataset.apply: leaves out elements so that classes have the shares that are wanted.

    The elements of what comes out are pairs of the class and the element.

    Args:
      class_func: makes the class, an int32 scalar from 0 on, of an element.
      target_dist: the share of each class, a vector of floats.
      initial_dist: the shares that the classes have; estimated as elements come if None.
      seed: an integer; with it, or with that of the graph, the same elements are left out.
    """

    def transformation(dataset):
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        mixing = None
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            acceptance, mixing_share = _acceptance_and_mixing(initial, target)
            initials = DatasetV1.from_tensors(initial).repeat()
            acceptances = DatasetV1.from_tensors(acceptance).repeat()
            mixing_shares = DatasetV1.from_tensors(mixing_share).repeat()
            mixing = _constant_mixing(initial, target)
        else:
            initials = _estimated_shares(target, classes)
            both = initials.map(lambda initial: _acceptance_and_mixing(initial, target))
            acceptances = both.map(lambda acceptance, _: acceptance)
            mixing_shares = both.map(lambda _, share: share)
        kept = _kept(dataset, acceptances, initials, classes, seed).prefetch(3)
        if mixing == 1:
            return DatasetV1.zip((classes, dataset))
        if mixing == 0:
            return kept
        return sample_from_datasets(
            [DatasetV1.zip((classes, dataset)), kept],
            weights=mixing_shares.map(lambda share: [(share, 1.0 - share)]),
            seed=seed,
        )

    return transformation


def _acceptance_and_mixing(initial, target):
    """With which probability each class is kept, and how many elements are taken as they come."""
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    largest, least = ops.reduce_max(ratio), ops.reduce_min(ratio)
    return (ratio - least) / (largest - least), least


def _constant_mixing(initial, target):
    initial, target = constant_value(initial), constant_value(target)
    return None if initial is None or target is None else np.min(target / initial)


def _kept(dataset, acceptances, initials, classes, seed):
    """Pairs of class and element of those elements that are kept."""

    def maybe_warn_on_large_rejection(acceptance, initial):
        loss = ops.reduce_sum((1 - acceptance) * initial)
        return cond(
            ops.less(loss, _NOTEWORTHY_LOSS),
            lambda: acceptance,
            lambda: Print(
                acceptance,
                [loss, initial, acceptance],
                message="Proportion of examples rejected by sampler is high: ",
                summarize=100,
                first_n=10,
            ),
        )

    def _gather_and_copy(label, acceptance, element):
        return label, ops.gather(acceptance, label), element

    acceptances = DatasetV1.zip((acceptances, initials)).map(maybe_warn_on_large_rejection)
    candidates = DatasetV1.zip((classes, acceptances, dataset)).map(_gather_and_copy)
    kept = candidates.filter(lambda _label, acceptance, _element: random_uniform([], seed=seed) < acceptance)
    return kept.map(lambda label, _, element: (label, element))


def _estimated_shares(target, classes):
    """A data set of the shares of the classes among the elements that have come."""
    count = target.shape.dims[0].value or ops.shape(target)[0]
    counts = ops.fill([count], np.int64(_SMOOTHING))

    def update_estimate_and_tile(counts, labels):
        seen = ops.reduce_sum(ops.one_hot(labels, counts.shape.dims[0].value, dtype=dtypes.int64), 0)
        counts = ops.add(counts, seen)
        shares = ops.cast(truediv(counts, ops.reduce_sum(counts)), dtypes.float32)
        return counts, ops.tile(ops.expand_dims(shares, 0), [_ESTIMATION_BATCH, 1])

    return unbatched(classes.batch(_ESTIMATION_BATCH).apply(scan(counts, update_estimate_and_tile)))
