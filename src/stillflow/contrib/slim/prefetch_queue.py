"""Tensors computed ahead by threads: tf.contrib.slim.prefetch_queue."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.graph import dtypes as _dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.resources.queues import FIFOQueue, PaddingFIFOQueue
from stillflow.training.queue_runner import QueueRunner, add_queue_runner

public_module("contrib.slim.prefetch_queue", "contrib.slim.python.slim.data.prefetch_queue")


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    """A queue that threads fill with the values of tensors.

    Args:
      tensors: a list, or a dictionary, of tensors.
      capacity: how many elements it holds.
      num_threads: how many threads fill it.
      dynamic_pad: whether elements may differ in size, if several are taken at once.
      shared_name: the name of the queue, if sessions are to share it.
      name: the scope of the nodes.

    Returns:
      The queue, whose components have names if the tensors have.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = tensors if names is None else [tensors[key] for key in names]
    with name_scope(name, "prefetch_queue", listed):
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue = kind(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in listed],
            shapes=[tensor.get_shape() for tensor in listed],
            names=names,
            shared_name=shared_name,
        )
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        full = ops.cast(queue.size(), _dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", full)
        return queue
