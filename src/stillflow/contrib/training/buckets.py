"""Batches of elements of a kind: tf.contrib.training.bucket and bucket_by_sequence_length."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from stillflow import errors, ops
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond, smart_cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.queues import FIFOQueue, PaddingFIFOQueue
from stillflow.training import batching
from stillflow.training.queue_runner import QueueRunner, add_queue_runner
from stillflow.training.stored_sparse import restore_sparse, store_sparse

_ENDS = (errors.OutOfRangeError, errors.CancelledError)


@public("contrib.training.bucket")
def bucket(
    tensors, which_bucket, batch_size, num_buckets, num_threads=1, capacity=32, bucket_capacities=None, shapes=None,
    dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None, name=None,
):  # fmt: skip
    """Batches of elements that are in one bucket. Queue runners gather them in a queue for each bucket.

    Args:
      tensors: a list or dictionary of the tensors of an element.
      which_bucket: the element's bucket, an int32 scalar.
      batch_size: how many elements a batch has: a number, or a list of one for each bucket.
      num_buckets: how many buckets there are.
      num_threads: how many threads compute elements; with several their order varies.
      capacity: how many batches, and elements of each bucket, queues hold.
      bucket_capacities: how many elements each bucket's queue holds, instead.
      shapes: the shapes of an element's tensors, where they are not known.
      dynamic_pad: whether elements may differ in size; smaller ones are padded with zeros.
      allow_smaller_final_batch: whether the rest in each bucket is a batch; otherwise it is left out.
      keep_input: a bool scalar; where it is False, the element is left out.
      shared_name: the name of the queues, if sessions are to share them.
      name: the scope of the nodes.

    Returns:
      (the bucket, the batch): an int32 scalar, and what `tensors` is, with a dimension more in front.

    Raises:
      ValueError: for no tensors, sizes or capacities of another number of buckets, or shapes that are not known
        well enough.
      At run time: tf.errors.OutOfRangeError when the elements have come to their end.
    """
    has_sizes = isinstance(batch_size, (list, tuple))
    if has_sizes and len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    sizes = list(batch_size) if has_sizes else [batch_size] * num_buckets
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({bucket_capacities}) must have exactly num_buckets ({num_buckets}) "
            "elements."
        )
    listed = batching.as_list(tensors)
    with name_scope(name, "bucket", listed):
        listed = batching.converted(listed)
        if not listed:
            raise ValueError("Expected at least one tensor in bucket().")
        keep_input = batching.checked_keep_input(keep_input, enqueue_many=False)
        (listed,), stored = store_sparse([listed], False, keep_input)
        sizes = [_static(size) for size in sizes]
        types = batching.component_types([listed])
        shapes = batching.component_shapes([listed], shapes, False)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queues = [
            kind(room, types, shapes, shared_name=shared_name and f"{shared_name}_{i}", name=f"bucket_queue_{i}")
            for i, room in enumerate(capacities)
        ]
        known_size = None if allow_smaller_final_batch or has_sizes else sizes[-1]
        top = _top_queue(capacity, types, queues[0].shapes, known_size, shared_name)
        enqueue = smart_cond(keep_input, lambda: _enqueue_in_bucket(queues, which_bucket, listed), ops.no_op)
        _run_queues(top, queues, sizes, [enqueue] * num_threads, allow_smaller_final_batch)
        _summarize(top, queues, capacity)
        which, *dequeued = top.dequeue(name="dequeue_top")
        if any(stored):
            dequeued = batching.there_together(restore_sparse(dequeued, stored))
        return which, batching.like(tensors, dequeued)


def _static(size):
    """The size of a batch, as a number if it is known."""
    size = convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
    known = constant_value(size)
    return size if known is None else int(known)


def _top_queue(capacity, types, shapes, batch_size, shared_name):
    """The queue of batches, with their buckets."""
    batches = [TensorShape([batch_size if isinstance(batch_size, int) else None]).concatenate(s) for s in shapes]
    return PaddingFIFOQueue(
        capacity, [dtypes.int32, *types], [TensorShape([]), *batches], shared_name=shared_name, name="top_queue"
    )


def _enqueue_in_bucket(queues, which_bucket, tensors):
    def enqueue(queue):
        return queue.enqueue(tensors)

    found = [
        cond(ops.equal(which_bucket, i), functools.partial(enqueue, queue), ops.no_op)
        for i, queue in enumerate(queues)
    ]
    return group(*found, name="group_enqueues")


def _run_queues(top, queues, sizes, enqueue_ops, allow_smaller_final_batch):
    """Queue runners: one fills the buckets, the other makes batches of what is in them."""
    to_top = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        number = ops.constant(i)
        dequeue = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
        found = dequeue(size, name=f"read_bucket_{i}")
        found = list(found) if isinstance(found, (list, tuple)) else [found]
        to_top.append(top.enqueue([number, *found], name=f"enqueue_from_bucket_{i}"))
    add_queue_runner(
        QueueRunner(
            queues[0],
            to_top,
            close_op=top.close(),
            cancel_op=top.close(cancel_pending_enqueues=True),
            queue_closed_exception_types=_ENDS,
        )
    )
    add_queue_runner(
        QueueRunner(
            top,
            enqueue_ops,
            close_op=group(*[queue.close() for queue in queues]),
            cancel_op=group(*[queue.close(cancel_pending_enqueues=True) for queue in queues]),
            queue_closed_exception_types=_ENDS,
        )
    )


def _summarize(top, queues, capacity):
    for queue in queues:
        summaries.scalar(f"bucket/{queue.name}/size", ops.cast(top.size(), dtypes.float32))
    full = ops.cast(top.size(), dtypes.float32) * (1.0 / capacity)
    summaries.scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", full)


@public("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length, tensors, batch_size, bucket_boundaries, num_threads=1, capacity=32, bucket_capacities=None,
    shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None, name=None,
):  # fmt: skip
    """Batches of elements of similar length; see bucket, whose arguments the others are.

    Args:
      input_length: the element's length, an int32 scalar.
      bucket_boundaries: increasing lengths; bucket i has those from boundary i - 1 on that are less than boundary i.

    Returns:
      (lengths, the batch): [batch size], and what `tensors` is, with a dimension more in front.

    Raises:
      TypeError: for boundaries that are no list of integers.
      ValueError: for none, or such that do not increase.
    """
    listed = batching.as_list(tensors)
    _check_boundaries(bucket_boundaries)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *listed]):
        input_length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        low, high = [limits.min, *bucket_boundaries], [*bucket_boundaries, limits.max]
        is_within = ops.logical_and(ops.less_equal(low, input_length), ops.less(input_length, high))
        which = ops.cast(ops.reduce_min(ops.where_v2(is_within)), dtypes.int32)
        _, (lengths, *dequeued) = bucket(
            tensors=[input_length, *listed],
            which_bucket=which,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return lengths, batching.like(tensors, dequeued)


def _check_boundaries(boundaries):
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for start, end in itertools.pairwise(boundaries):
        if not isinstance(start, int) or not isinstance(end, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {start} and {end}")
        if start >= end:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {start} before {end}")
