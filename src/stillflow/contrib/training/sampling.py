"""Batches of elements accepted at random: tf.contrib.training.rejection_sample and stratified_sample."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import (
    assert_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_positive,
    assert_that,
)
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.strings.print import Print
from stillflow.random.sampling import random_uniform
from stillflow.training.batching import batch, maybe_batch
from stillflow.variables.scope import variable_scope
from stillflow.variables.variable import Variable

_TOLERANCE = 1e-6
_SMOOTHING = 10


def _listed(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


@public("contrib.training.rejection_sample")
def rejection_sample(
    tensors, accept_prob_fn, batch_size, queue_threads=1, enqueue_many=False, prebatch_capacity=16,
    prebatch_threads=1, runtime_checks=False, name=None,
):  # fmt: skip
    """Batches of elements that are accepted with a probability of their own.

    Args:
      tensors: a list of the tensors of an element.
      accept_prob_fn: makes the probability, a scalar, of that list.
      batch_size: how many elements a batch has.
      queue_threads: how many threads gather them.
      enqueue_many: whether each tensor has a first dimension for several elements.
      prebatch_capacity, prebatch_threads: of the queue that takes these apart.
      runtime_checks: whether probabilities outside of [0, 1] are errors.
      name: of the variable scope.

    Returns:
      A list of tensors with a dimension more in front.

    Raises:
      ValueError: for several elements whose numbers differ.
    """
    with variable_scope(name, "rejection_sample", tensors):
        listed = [convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            _check_first_sizes(listed, listed[0].shape)
            found = batch(
                listed, batch_size=1, num_threads=prebatch_threads, capacity=prebatch_capacity, enqueue_many=True
            )
            listed = [ops.squeeze(tensor, [0]) for tensor in _listed(found)]
        probability = accept_prob_fn(listed)
        if runtime_checks:
            checks = [assert_less_equal(0.0, probability), assert_less_equal(probability, 1.0)]
            probability = ops.identity(with_dependencies(checks, probability), name="prob_with_checks")
        keep = random_uniform([]) < probability
        return _listed(maybe_batch(listed, keep_input=keep, batch_size=batch_size, num_threads=queue_threads))


@public("contrib.training.stratified_sample")
def stratified_sample(
    tensors, labels, target_probs, batch_size, init_probs=None, enqueue_many=False, queue_capacity=16,
    threads_per_queue=1, name=None,
):  # fmt: skip
    """Batches in which classes are as frequent as wanted, by leaving out elements of the others at random.

    Args:
      tensors: a list of the tensors of an element.
      labels: the element's class, an integer.
      target_probs: how frequent each class should be, [classes].
      batch_size: how many elements a batch has.
      init_probs: how frequent it is; counted as elements come, if not given.
      enqueue_many: whether tensors and labels have a first dimension for several elements.
      queue_capacity, threads_per_queue: of the queues that gather elements.
      name: the scope of the nodes.

    Returns:
      (a list of tensors, the labels), with a dimension more in front.

    Raises:
      ValueError: for tensors whose sizes do not fit, or probabilities of another number of classes.
      At run time: tf.errors.InvalidArgumentError for labels that are no classes, and probabilities that do not add
        to 1, or are more than 0 for a class that never comes.
    """
    with name_scope(name, "stratified_sample", [*tensors, labels]):
        listed = [convert_to_tensor(tensor) for tensor in tensors]
        labels = convert_to_tensor(labels)
        target_probs = convert_to_tensor(target_probs, dtype=dtypes.float32)
        if not enqueue_many:
            listed = [ops.expand_dims(tensor, 0) for tensor in listed]
            labels = ops.expand_dims(labels, 0)
        if init_probs is None:
            target_probs.shape.assert_is_fully_defined()
            init_probs = _counted_shares(labels, target_probs.shape.num_elements())
        else:
            init_probs = convert_to_tensor(init_probs, dtype=dtypes.float32)
        listed, labels, (init_probs, target_probs) = _checked(listed, labels, [init_probs, target_probs])
        accepted = _acceptance(init_probs, target_probs)
        found = batch(
            [*listed, labels], batch_size=1, num_threads=threads_per_queue, capacity=queue_capacity, enqueue_many=True
        )
        values = [ops.squeeze(each, [0]) for each in found[:-1]]
        label = ops.squeeze(found[-1], [0])
        probability = ops.gather(accepted, label)
        keep = random_uniform([]) < probability
        found = maybe_batch([*values, label], keep_input=keep, batch_size=batch_size, num_threads=threads_per_queue)
        return found[:-1], found[-1]


@public("contrib.training.python.training.sampling_ops._estimate_data_distribution")
def _counted_shares(labels, num_classes, smoothing_constant=_SMOOTHING):
    """How frequent classes were so far, as if each had come some times before.

    Raises ValueError if these are none.
    """
    if smoothing_constant <= 0:
        raise ValueError("smoothing_constant must be nonzero.")
    counts = Variable([smoothing_constant] * num_classes, trainable=False, name="class_count", dtype=dtypes.int64)
    counts = counts.assign_add(ops.reduce_sum(ops.one_hot(labels, num_classes, dtype=dtypes.int64), 0))
    counts += 0  # a value, which later counts do not change
    return ops.cast(ops.truediv(counts, ops.reduce_sum(counts)), dtypes.float32)


def _check_first_sizes(tensors, shape):
    for tensor in tensors:
        tensor.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(shape[:1])


@public("contrib.training.python.training.sampling_ops._verify_input")
def _checked(tensors, labels, probabilities):
    checked = []
    for probs in probabilities:
        probs.shape.assert_is_fully_defined()
        probs.shape.assert_has_rank(1)
        total = ops.reduce_sum(probs)
        checks = [
            assert_non_negative(probs),
            assert_less(total, 1.0 + _TOLERANCE),
            assert_less(1.0 - _TOLERANCE, total),
        ]
        checked.append(with_dependencies(checks, probs))
    count = checked[0].shape.num_elements()
    if any(probs.shape.num_elements() != count for probs in checked):
        raise ValueError("Probability parameters must have the same length.")
    labels.shape.assert_has_rank(1)
    _check_first_sizes(tensors, labels.shape)
    size = ops.shape(labels)[0]
    is_any = assert_positive(size)
    labels = with_dependencies([is_any], labels)
    tensors = [with_dependencies([is_any, assert_equal(ops.shape(each)[0], size)], each) for each in tensors]
    checks = [
        assert_integer(labels),
        assert_non_negative(labels),
        assert_less(labels, ops.cast(count, labels.dtype)),
    ]
    return tensors, with_dependencies(checks, labels), checked


def _acceptance(init_probs, target_probs):
    """The probability with which elements of each class are kept; the largest is 1."""
    is_possible = assert_that(
        ops.reduce_all(ops.logical_or(ops.not_equal(init_probs, 0), ops.equal(target_probs, 0))),
        [
            "All classes with zero initial probability must also have zero target probability: ",
            init_probs,
            target_probs,
        ],
    )
    init_probs = with_dependencies([is_possible], init_probs)
    ratios = target_probs / init_probs
    ratios = ops.where_v2(ops.is_nan(ratios), ops.zeros_like(ratios), ratios)
    accepted = ratios / ops.reduce_max(ratios)
    rejected = ops.reduce_sum((1 - accepted) * init_probs)
    return cond(
        ops.less(rejected, 0.5),
        lambda: accepted,
        lambda: Print(
            accepted, [accepted], message="Proportion of examples rejected by sampler is high.", first_n=10
        ),
    )
