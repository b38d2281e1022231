"""Batches of what a graph computes, gathered by threads in a queue: tf.train.batch, shuffle_batch and their kin."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import summaries
from stillflow.graph import dtypes
from stillflow.graph.default_graph import require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse, parts
from stillflow.resources.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from stillflow.training.queue_runner import NO_QUEUES, QueueRunner, add_queue_runner
from stillflow.training.stored_sparse import restore_sparse, store_sparse

# ---- What is put in -----------------------------------------------------------------------------------------


def as_list(tensors):
    """The tensors of an element: those of a dictionary in the order of its keys."""
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return list(tensors)


def _as_lists(tensors_list):
    tensors_list = list(tensors_list)
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(tensors.keys() != first.keys() for tensors in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [as_list(tensors) for tensors in tensors_list]


def converted(tensors):
    return [as_sparse_tensor(tensor) if is_sparse(tensor) else convert_to_tensor(tensor) for tensor in tensors]


def checked_keep_input(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def component_types(tensors_list):
    types = []
    for component in zip(*tensors_list, strict=False):
        found = [tensor.dtype.base_dtype for tensor in component]
        for dtype in found:
            if dtype != found[0]:
                raise TypeError(f"Expected types to be consistent: {found[0].name} vs. {dtype.name}.")
        types.append(found[0])
    return types


def component_shapes(tensors_list, shapes, enqueue_many):
    if shapes is not None:
        return shapes
    found = []
    for component in zip(*tensors_list, strict=False):
        for tensor in component:
            if tensor.shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensor}")
        candidates = [as_shape(tensor.shape) for tensor in component]
        if enqueue_many:
            candidates = [shape.with_rank_at_least(1)[1:] for shape in candidates]
        for shape in candidates[1:]:
            candidates[0].merge_with(shape)  # raises if they do not fit
        found.append(candidates[0])
    return found


def _enqueue_op(queue, tensors, enqueue_many, keep_input):
    """The operation that puts in what is to be kept."""
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        which = ops.cast(keep_input, dtypes.int32)
        return enqueue([ops.dynamic_partition(tensor, which, num_partitions=2)[1] for tensor in tensors])
    return smart_cond(keep_input, lambda: enqueue(tensors), lambda: ops.no_op())


# ---- Batches ------------------------------------------------------------------------------------------------


def _batches(tensors_list, keep_input, threads, make_queue, summary, batch_size, scope, enqueue_many, shapes,
             allow_smaller_final_batch):  # fmt: skip
    """The tensors of a batch; `tensors_list` has the tensors of an element once for each enqueue operation.

    `threads` run each of the operations; `make_queue(types, shapes)` makes the queue and `summary(queue)` its
    summary.
    """
    tensors_list, stored = store_sparse(tensors_list, enqueue_many, keep_input)
    types = component_types(tensors_list)
    queue = make_queue(types, component_shapes(tensors_list, shapes, enqueue_many))
    enqueue_ops = [_enqueue_op(queue, tensors, enqueue_many, keep_input) for tensors in tensors_list]
    add_queue_runner(QueueRunner(queue, [op for op in enqueue_ops for _ in range(threads)]))
    summary(queue)
    dequeue = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
    dequeued = dequeue(batch_size, name=scope)
    dequeued = list(dequeued) if isinstance(dequeued, (list, tuple)) else [dequeued]
    if not any(stored):
        return dequeued
    return there_together(restore_sparse(dequeued, stored))


def there_together(tensors):
    """The same tensors, each of which is there only when all are."""
    flat = [part for tensor in tensors for part in (parts(tensor) if is_sparse(tensor) else [tensor])]
    together = iter([with_dependencies(flat, part) for part in flat])
    return [
        SparseTensor(next(together), next(together), next(together)) if is_sparse(tensor) else next(together)
        for tensor in tensors
    ]


def like(tensors, batch):
    """A batch in the form of an element."""
    if isinstance(tensors, dict):
        return dict(zip(sorted(tensors, key=str), batch, strict=True))
    return batch[0] if len(batch) == 1 else batch


def _fifo_queue(capacity, dynamic_pad, shared_name):
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda types, shapes: kind(capacity, types, shapes, shared_name=shared_name)


def _shuffle_queue(capacity, min_after_dequeue, seed, shared_name):
    if capacity <= min_after_dequeue:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
    return lambda types, shapes: RandomShuffleQueue(
        capacity, min_after_dequeue, types, shapes, seed=seed, shared_name=shared_name
    )


def _fullness(capacity):
    def summary(queue):
        full = ops.cast(queue.size(), dtypes.float32) * (1.0 / capacity)
        summaries.scalar(f"fraction_of_{capacity}_full", full)

    return summary


def _fullness_over(capacity, min_after_dequeue):
    room = capacity - min_after_dequeue

    def summary(queue):
        full = ops.cast(ops.maximum(0, queue.size() - min_after_dequeue), dtypes.float32) * (1.0 / room)
        summaries.scalar(f"fraction_over_{min_after_dequeue}_of_{room}_full", full)

    return summary


@public("train.maybe_batch")
def maybe_batch(
    tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `batch`, of the elements for which the bool tensor `keep_input` is true alone.

    `keep_input` is a scalar; with `enqueue_many` it may be a vector with a value for each element. Raises ValueError
    for other shapes.
    """
    require_graph(NO_QUEUES, ValueError)
    tensor_list = as_list(tensors)
    with name_scope(name, "batch", [*tensor_list, keep_input]) as scope:
        tensor_list = converted(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in batch().")
        keep_input = checked_keep_input(keep_input, enqueue_many)
        batch = _batches(
            [tensor_list], keep_input, num_threads, _fifo_queue(capacity, dynamic_pad, shared_name),
            _fullness(capacity), batch_size, scope, enqueue_many, shapes, allow_smaller_final_batch,
        )  # fmt: skip
    return like(tensors, batch)


@public("train.batch")
def batch(
    tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """The tensors of a batch of elements. A queue runner gathers them in a queue.

    Args:
      tensors: a list or dictionary of the tensors of an element.
      batch_size: how many elements a batch has.
      num_threads: how many threads compute elements; with several their order varies.
      capacity: how many elements the queue holds.
      enqueue_many: whether each tensor has a first dimension for several elements.
      shapes: the shapes of an element's tensors, where they are not known.
      dynamic_pad: whether elements may differ in size; smaller ones are padded with zeros.
      allow_smaller_final_batch: whether the rest, when the elements come to their end, is a batch; otherwise it is
        left out.
      shared_name: the name of the queue, if sessions are to share it.
      name: the scope of the nodes.

    Returns:
      What `tensors` is, a single tensor for a list of one, with a dimension more in front.

    Raises:
      ValueError: for no tensors, and if shapes are not known well enough.
      At run time: tf.errors.OutOfRangeError when the elements have come to their end.
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@public("train.maybe_batch_join")
def maybe_batch_join(
    tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `batch_join`, of the elements for which the bool tensor `keep_input` is true alone."""
    require_graph(NO_QUEUES, ValueError)
    lists = _as_lists(tensors_list)
    with name_scope(name, "batch_join", [*(tensor for tensors in lists for tensor in tensors), keep_input]) as scope:
        lists = [converted(tensors) for tensors in lists]
        keep_input = checked_keep_input(keep_input, enqueue_many)
        batch = _batches(
            lists, keep_input, 1, _fifo_queue(capacity, dynamic_pad, shared_name), _fullness(capacity), batch_size,
            scope, enqueue_many, shapes, allow_smaller_final_batch,
        )  # fmt: skip
    return like(tensors_list[0], batch)


@public("train.batch_join")
def batch_join(
    tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `batch`, of elements that are computed in several ways, by a thread each.

    Args:
      tensors_list: a list of what `batch` takes as `tensors`.
      batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch, shared_name, name: as for
        `batch`.

    Raises:
      ValueError: as `batch`, and for tensors whose shapes do not fit, or dictionaries with other keys.
      TypeError: for tensors of different dtypes.
    """
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


@public("train.maybe_shuffle_batch")
def maybe_shuffle_batch(
    tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None, enqueue_many=False,
    shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `shuffle_batch`, of the elements for which the bool tensor `keep_input` is true alone."""
    require_graph(NO_QUEUES, ValueError)
    tensor_list = as_list(tensors)
    with name_scope(name, "shuffle_batch", [*tensor_list, keep_input]) as scope:
        tensor_list = converted(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in shuffle_batch().")
        make_queue = _shuffle_queue(capacity, min_after_dequeue, seed, shared_name)
        keep_input = checked_keep_input(keep_input, enqueue_many)
        batch = _batches(
            [tensor_list], keep_input, num_threads, make_queue, _fullness_over(capacity, min_after_dequeue),
            batch_size, scope, enqueue_many, shapes, allow_smaller_final_batch,
        )  # fmt: skip
    return like(tensors, batch)


@public("train.shuffle_batch")
def shuffle_batch(
    tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `batch`, of elements in random order.

    Args:
      tensors, batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: as for
        `batch`.
      capacity: how many elements the queue holds.
      min_after_dequeue: how many stay in the queue while there are more to come; more make a better mixture.
      seed: the seed of the order.

    Raises:
      ValueError: as `batch`, and unless `capacity` is larger than `min_after_dequeue`.
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


@public("train.maybe_shuffle_batch_join")
def maybe_shuffle_batch_join(
    tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `shuffle_batch_join`, of the elements for which the bool tensor `keep_input` is true alone."""
    require_graph(NO_QUEUES, ValueError)
    lists = _as_lists(tensors_list)
    inputs = [*(tensor for tensors in lists for tensor in tensors), keep_input]
    with name_scope(name, "shuffle_batch_join", inputs) as scope:
        lists = [converted(tensors) for tensors in lists]
        make_queue = _shuffle_queue(capacity, min_after_dequeue, seed, shared_name)
        keep_input = checked_keep_input(keep_input, enqueue_many)
        batch = _batches(
            lists, keep_input, 1, make_queue, _fullness_over(capacity, min_after_dequeue), batch_size, scope,
            enqueue_many, shapes, allow_smaller_final_batch,
        )  # fmt: skip
    return like(tensors_list[0], batch)


@public("train.shuffle_batch_join")
def shuffle_batch_join(
    tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False, shapes=None,
    allow_smaller_final_batch=False, shared_name=None, name=None,
):  # fmt: skip
    """Like `batch_join`, of elements in random order; see `shuffle_batch`."""
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip
