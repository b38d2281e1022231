"""EagerIterator: the iterator over a data set in eager execution."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.datasets import graph_loops, structure
from stillflow.datasets.rewriting import apply_options
from stillflow.datasets.structured import Structured
from stillflow.graph.default_graph import get_default_graph, require_eager_execution
from stillflow.names import public
from stillflow.tracking.base import Trackable


@public("contrib.eager.Iterator")
class EagerIterator(Structured, Trackable):
    """A Python iterator over the elements of a data set, each a structure of tensors that have values.

    Its position is part of tf.train.Checkpoints that track it. What it holds is freed with it.

    Raises RuntimeError in a graph.
    """

    def __init__(self, dataset):
        require_eager_execution("Iterators that are gone through in Python need eager execution to be enabled.")
        dataset = apply_options(dataset)
        self._dataset = dataset  # whose functions live as long
        self._element_spec = dataset.element_spec
        self._flat_structure = dataset._flat_structure
        graph = get_default_graph()
        self._iterator_resource = ops.iterator_v2(container="", shared_name="", **self._flat_structure)
        graph.free_with(self, self._iterator_resource, "iterator")
        ops.make_iterator(dataset._variant_tensor, self._iterator_resource)

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        """The next element. Raises StopIteration at the end."""
        try:
            return self._next_internal()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def get_next(self, name=None):
        """The next element. Raises tf.errors.OutOfRangeError at the end."""
        return self._next_internal()

    def _next_internal(self):
        tensors = ops.iterator_get_next_sync(self._iterator_resource, **self._flat_structure)
        return structure.from_compatible_tensor_list(self._element_spec, tensors)

    def _gather_saveables_for_checkpoint(self):
        from stillflow.saver.iterator_position import IteratorPosition

        return {"ITERATOR_POSITION": lambda name: IteratorPosition(self._iterator_resource, name)}


graph_loops.install_iterator(EagerIterator)
