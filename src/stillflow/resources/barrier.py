"""Barrier: elements that are put in component by component and taken out when they are complete."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public


@public("python.ops.data_flow_ops.Barrier")
class Barrier:
    """A map from keys to elements of which components are inserted one by one, each for many keys.

    Complete elements are taken out in the order in which the first of their components came.

    Args:
      types: the dtype of the component, or a list of those of several.
      shapes: their shapes, or None for any.
      shared_name: the name under which graphs of a session share the barrier.
      name: the name of its node.

    Raises:
      ValueError: for a shape without elements.
    """

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        types = types if isinstance(types, (list, tuple)) else [types]
        self._types = [dtypes.as_dtype(dtype) for dtype in types]
        if shapes is None:
            self._shapes = [TensorShape(None)] * len(self._types)
        else:
            is_one = isinstance(shapes, TensorShape) or not any(
                isinstance(shape, (list, tuple, TensorShape)) for shape in shapes
            )
            self._shapes = [TensorShape(shape) for shape in ([shapes] if is_one else shapes)]
        for index, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {index}")
        self._barrier_ref = ops.barrier(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name, name=name
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self):
        """The handle of the barrier."""
        return self._barrier_ref

    @property
    def name(self):
        """The name of its node."""
        return self._barrier_ref.op.name

    def insert_many(self, component_index, keys, values, name=None):
        """The operation that gives elements a component.

        Args:
          component_index: which one.
          keys: a vector of strings, one for each row of `values`.

        Raises, when it runs, InvalidArgumentError if an element has the component already, and CancelledError if the
        barrier is closed and a key is new.
        """
        name = f"{self._name}_BarrierInsertMany" if name is None else name
        return ops.barrier_insert_many(self._barrier_ref, keys, values, component_index, name=name)

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """(indices, keys, the list of components) of so many complete elements, for which it waits.

        Args:
          allow_small_batch: whether fewer will do once the barrier is closed.
          timeout: accepted; there is no limit.

        Raises, when it runs, OutOfRangeError if the barrier is closed and has not enough elements.
        """
        name = f"{self._name}_BarrierTakeMany" if name is None else name
        taken = ops.barrier_take_many(
            self._barrier_ref, num_elements, self._types, allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout, name=name,
        )  # fmt: skip
        operation = taken[0].op
        size = None if allow_small_batch else constant_value(operation.inputs[1])
        rows = TensorShape([None if size is None else int(size)])
        shapes = [TensorShape([]), TensorShape([]), *self._shapes]
        for output, shape in zip(operation.outputs, shapes, strict=True):
            output.set_shape(rows.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation that closes it: only elements that are begun can be completed, or not even those."""
        name = f"{self._name}_BarrierClose" if name is None else name
        return ops.barrier_close(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name)

    def ready_size(self, name=None):
        """How many elements are complete, an int32 scalar."""
        name = f"{self._name}_BarrierReadySize" if name is None else name
        return ops.barrier_ready_size(self._barrier_ref, name=name)

    def incomplete_size(self, name=None):
        """How many elements are begun and not complete, an int32 scalar."""
        name = f"{self._name}_BarrierIncompleteSize" if name is None else name
        return ops.barrier_incomplete_size(self._barrier_ref, name=name)
