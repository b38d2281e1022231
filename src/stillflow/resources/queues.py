"""Queues of tensors that live in a session: tf.FIFOQueue and its kin, and what they have in common."""

from __future__ import annotations

import hashlib

from stillflow import ops
from stillflow.graph import dtypes as _dtypes
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension, TensorShape, as_shape, dimension_at_index
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.random import seeds


@public("QueueBase", "io.QueueBase", "queue.QueueBase")
class QueueBase:
    """A queue whose elements are tuples of tensors of given dtypes and, if given, shapes.

    Ops that put elements in wait for room, and ops that take them out wait for elements: the run that they are in
    waits, until the queue or the session is closed, the run's time is over, or Ctrl-C is pressed.

    Args:
      dtypes: the dtypes of the components.
      shapes: their shapes, or None.
      names: names of the components; elements are then dictionaries by these names.
      queue_ref: the handle, as a queue op makes it.

    Raises:
      ValueError: if there are not as many shapes, or names, as dtypes.
    """

    def __init__(self, dtypes, shapes, names, queue_ref):
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes")
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._dtypes = dtypes
        self._shapes = [TensorShape(None)] * len(dtypes) if shapes is None else [as_shape(shape) for shape in shapes]
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_name(queue_ref)

    @staticmethod
    def from_list(index, queues):
        """The queue `queues[index]`, where the scalar tensor `index` is known when the graph runs.

        Raises TypeError unless `queues` is a list of queues whose components have the same dtypes and names.
        """
        if not isinstance(queues, list) or not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(queue.dtypes != first.dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != first.names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = []
        for component in zip(*(queue.shapes for queue in queues), strict=True):
            common = component[0]
            for shape in component[1:]:
                common = _common_shape(common, shape)
            shapes.append(common)
        handle = ops.gather(ops.stack([queue.queue_ref for queue in queues]), index)
        return QueueBase(first.dtypes, shapes, first.names, handle)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def queue_ref(self):
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self):
        """The name of the node that stands for the queue."""
        return self._name

    @property
    def dtypes(self):
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components, a list of TensorShape."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    # ---- Elements -------------------------------------------------------------------------------------------

    def _scope(self, name, method, values=()):
        """The scope of a method's nodes; the node of the op itself has the scope's name."""
        return name_scope(name, f"{self._name.rpartition('/')[2]}_{method}", list(values))

    def _components(self, vals):
        """`vals` as a list of tensors of the queue's dtypes."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(_as_list(vals), self._dtypes, strict=False))
        ]

    def enqueue(self, vals, name=None):
        """The operation that puts one element in, waiting for room.

        Args:
          vals: a value or tensor for the component, a list or tuple of them, or a dict by the queue's names.

        Raises:
          ValueError: for values of other dtypes or shapes, and for a dict where the queue has no names or others.
          At run time: tf.errors.CancelledError if the queue is closed or its pending enqueues are cancelled.
        """
        with self._scope(name, "enqueue", _inputs(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                tensor.get_shape().assert_is_compatible_with(shape)
            build = ops.queue_enqueue_v2 if self._has_resource else ops.queue_enqueue
            return build(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals, name=None):
        """The operation that puts an element in for each row of the components, waiting for room.

        Args:
          vals: as for `enqueue`, with a first dimension that is the same for all components.

        Raises:
          ValueError: as in `enqueue`, for scalars, and for different numbers of rows.
          At run time: tf.errors.CancelledError as in `enqueue`.
        """
        with self._scope(name, "EnqueueMany", _inputs(vals)) as scope:
            tensors = self._components(vals)
            rows = Dimension(None)
            for tensor, shape in zip(tensors, self._shapes, strict=False):
                rows = rows.merge_with(dimension_at_index(tensor.get_shape().with_rank_at_least(1), 0))
                tensor.get_shape()[1:].assert_is_compatible_with(shape)
            build = ops.queue_enqueue_many_v2 if self._has_resource else ops.queue_enqueue_many
            return build(self._queue_ref, tensors, name=scope)

    def _element(self, tensors):
        """What users see of an element's tensors."""
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name=None):
        """The tensors of an element that is taken out, waiting for one.

        Returns:
          A tensor, a list of them if there are several components, or a dict if the queue has names.

        Raises:
          At run time: tf.errors.OutOfRangeError if the queue is closed and empty, CancelledError if the session is
          closed.
        """
        build = ops.queue_dequeue_v2 if self._has_resource else ops.queue_dequeue
        name = f"{self.name.rpartition('/')[2]}_Dequeue" if name is None else name
        tensors = build(self._queue_ref, component_types=self._dtypes, name=name)
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._element(tensors)

    def dequeue_many(self, n, name=None):
        """The tensors of `n` elements that are taken out, stacked; waits for as many. Shapes must be known.

        Raises:
          ValueError: if `n` is negative.
          At run time: tf.errors.OutOfRangeError if the queue is closed and has fewer; what was taken goes back.
        """
        build = ops.queue_dequeue_many_v2 if self._has_resource else ops.queue_dequeue_many
        name = f"{self.name.rpartition('/')[2]}_DequeueMany" if name is None else name
        tensors = build(self._queue_ref, n, component_types=self._dtypes, name=name)
        return self._stacked(tensors, dequeued_count(tensors))

    def dequeue_up_to(self, n, name=None):
        """Like `dequeue_many`, but of a closed queue the last batch may have fewer elements, at least one.

        Raises:
          At run time: tf.errors.OutOfRangeError if the queue is closed and empty.
        """
        build = ops.queue_dequeue_up_to_v2 if self._has_resource else ops.queue_dequeue_up_to
        name = f"{self.name.rpartition('/')[2]}_DequeueUpTo" if name is None else name
        return self._stacked(build(self._queue_ref, n, component_types=self._dtypes, name=name), None)

    def _stacked(self, tensors, count):
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape([count]).concatenate(shape))
        return self._element(tensors)

    # ---- The queue as a whole -------------------------------------------------------------------------------

    @property
    def _has_resource(self):
        return self._queue_ref.dtype == _dtypes.resource

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation that closes the queue: nothing more comes in, and what is there may be taken out.

        It waits for the enqueues that are waiting already, unless these are cancelled.

        Raises:
          At run time: tf.errors.CancelledError if the queue is closed already and nothing is to be cancelled.
        """
        build = ops.queue_close_v2 if self._has_resource else ops.queue_close
        name = f"{self.name.rpartition('/')[2]}_Close" if name is None else name
        return build(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def is_closed(self, name=None):
        """A bool scalar: whether the queue is closed."""
        build = ops.queue_is_closed_v2 if self._has_resource else ops.queue_is_closed
        name = f"{self.name.rpartition('/')[2]}_Is_Closed" if name is None else name
        return build(self._queue_ref, name=name)

    def size(self, name=None):
        """An int32 scalar: how many elements are in the queue."""
        build = ops.queue_size_v2 if self._has_resource else ops.queue_size
        name = f"{self.name.rpartition('/')[2]}_Size" if name is None else name
        return build(self._queue_ref, name=name)


def _common_shape(a, b):
    """The most that is true of both shapes."""
    if a.rank is None or b.rank is None or a.rank != b.rank:
        return TensorShape(None)
    sizes = [x if x == y else None for x, y in zip(a.as_list(), b.as_list(), strict=True)]
    return TensorShape(sizes)


def _as_list(vals):
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


def _inputs(vals):
    """The tensors among what is to be put in: they say which graph it is."""
    values = vals.values() if isinstance(vals, dict) else _as_list(vals)
    return [value for value in values if isinstance(value, Tensor) or hasattr(value, "_as_graph_element")]


# ---- What users may write for dtypes, shapes and names ----------------------------------------------------------


def _dtype_list(dtypes):
    return [_dtypes.as_dtype(dtype) for dtype in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]


def _shape_list(shapes, allows_unknown=False):
    is_partial_list = isinstance(shapes, (list, tuple)) and len(shapes) > 0 and not _is_one_shape(shapes)
    if allows_unknown and not is_partial_list:
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if _is_one_shape(shapes):
        shapes = [shapes]
    shapes = [as_shape(shape) for shape in shapes]
    if not allows_unknown and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(shape.rank is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def _is_one_shape(shapes):
    """Whether a list is the sizes of one shape, not several shapes."""
    return all(size is None or isinstance(size, (int, Dimension)) for size in shapes)


# ---- What eager execution replaces ------------------------------------------------------------------------------


@by_mode
def queue_name(queue_ref):
    """What a queue is called."""
    return queue_ref.op.name


@by_mode
def shared(name):
    """The name under which several nodes are one queue of a session, or None."""
    return name


@by_mode
def dequeued_count(tensors):
    """How many elements there are in what dequeue_many returned, or None."""
    count = constant_value(tensors[0].op.inputs[1])
    return None if count is None else int(count)


def _name_list(names, dtypes):
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    if any(name is None for name in names):
        raise ValueError("All names must be set")
    return names


# ---- The kinds --------------------------------------------------------------------------------------------------


@public("FIFOQueue", "queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue whose elements leave in the order in which they came.

    Args:
      capacity: how many elements it holds; negative for no limit.
      dtypes: a dtype, or a list of one for each component.
      shapes: None, or a list of fully defined shapes, one for each component; without them elements may have any
        shapes and leave one by one.
      names: None, or a list of names of the components.
      shared_name: if not empty, queues of that name in one session are one queue.
      name: the name of the node.

    Raises:
      ValueError: for shapes that are not fully defined, and for lists of another length than `dtypes`.
    """

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        dtypes = _dtype_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        handle = ops.fifo_queue_v2(
            component_types=dtypes, shapes=shapes, capacity=capacity, shared_name=shared(shared_name), name=name
        )
        super().__init__(dtypes, shapes, names, handle)


@public("PaddingFIFOQueue", "io.PaddingFIFOQueue", "queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose elements may differ in size: `dequeue_many` and `dequeue_up_to` pad them with zeros.

    Args:
      shapes: a list of shapes of known ranks, one for each component; None stands for a size that varies.
      capacity, dtypes, names, shared_name, name: as for FIFOQueue.

    Raises:
      ValueError: as FIFOQueue does, and if `shapes` is no list of shapes.
    """

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        dtypes = _dtype_list(dtypes)
        shapes = _shape_list(shapes, allows_unknown=True)
        names = _name_list(names, dtypes)
        if len(dtypes) != len(shapes):
            given = f"{len(dtypes)} dtypes and {len(shapes)} shapes"
            raise ValueError(f"Shapes must be provided for all components, but received {given}.")
        handle = ops.padding_fifo_queue_v2(
            component_types=dtypes, shapes=shapes, capacity=capacity, shared_name=shared(shared_name), name=name
        )
        super().__init__(dtypes, shapes, names, handle)


@public("RandomShuffleQueue", "io.RandomShuffleQueue", "queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue whose elements leave in random order.

    Args:
      min_after_dequeue: how many elements stay in the queue, for a good mixture, until it is closed.
      seed: the seed of the order; see tf.set_random_seed.
      capacity, dtypes, shapes, names, shared_name, name: as for FIFOQueue.

    Raises:
      ValueError: as FIFOQueue does.
      At run time: tf.errors.InvalidArgumentError unless 0 <= min_after_dequeue < capacity.
    """

    def __init__(
        self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
        name="random_shuffle_queue",
    ):  # fmt: skip
        dtypes = _dtype_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        seed1, seed2 = seeds.get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Queues of one name are one queue: the seed must not depend on where in the graph they stand.
            seed2 = int(hashlib.md5(f"{seed1}{shared_name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
        handle = ops.random_shuffle_queue_v2(
            component_types=dtypes, shapes=shapes, capacity=capacity, min_after_dequeue=min_after_dequeue,
            seed=seed1, seed2=seed2, shared_name=shared(shared_name), name=name,
        )  # fmt: skip
        super().__init__(dtypes, shapes, names, handle)


@public("PriorityQueue", "io.PriorityQueue", "queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue whose elements leave in the order of an int64 scalar, smallest first, that is their first component.

    Args:
      types: the dtypes of the components after that.
      shapes: their shapes, fully defined.
      capacity, names, shared_name, name: as for FIFOQueue.

    Raises:
      ValueError: as FIFOQueue does.
    """

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = _dtype_list(types)
        shapes = _shape_list(shapes)
        handle = ops.priority_queue_v2(
            component_types=types, shapes=shapes, capacity=capacity, shared_name=shared(shared_name), name=name
        )
        all_types = [_dtypes.int64, *types]
        all_shapes = [TensorShape([]), *shapes] if shapes else shapes
        super().__init__(all_types, all_shapes, _name_list(names, all_types), handle)
