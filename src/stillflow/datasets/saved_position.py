"""tf.data.experimental.make_saveable_from_iterator: the position of an iterator in checkpoints."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver.saveable import SaveableObject, SaveSpec


class IteratorPosition(SaveableObject):
    """The position of an iterator of a graph.

    As in TensorFlow, restoring it needs no initializer: one is run before, if it depends on nothing that is fed.
    """

    def __init__(self, iterator_resource, name=None):
        name = name or iterator_resource.name
        spec = SaveSpec(ops.serialize_iterator(iterator_resource), "", f"{name}-state")
        super().__init__(iterator_resource, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        graph = get_default_graph()
        with graph.colocate_with(self.op), graph.control_dependencies(_initializers(self.op)):
            return ops.deserialize_iterator(self.op, restored_tensors[0])


def _initializers(iterator_resource):
    """The operation that starts an iterator, if there is one alone, and it can be run without feeding anything."""
    found = [op for op in iterator_resource.consumers() if op.type == "MakeIterator"]
    if len(found) != 1:
        return []
    pending, seen = list(found), set()
    while pending:
        op = pending.pop()
        if op.type.startswith("Placeholder"):
            return []
        if op not in seen:
            seen.add(op)
            pending.extend(tensor.op for tensor in op.inputs)
    return found


@public("data.experimental.make_saveable_from_iterator", "contrib.data.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator):
    """What a Saver saves of a tf.data.Iterator: its position, for the collection SAVEABLE_OBJECTS or a `var_list`.

    Only stillflow reads it. Where it is restored the pipeline has to be made in the same way; there the iterator goes
    on, whatever it did before.

    At run time: tf.errors.FailedPreconditionError for an iterator that was not started, and for a position in another
    pipeline.
    """
    return IteratorPosition(iterator._iterator_resource)
