"""What an input function returns: features and labels, or a tf.data.Dataset of them."""

from __future__ import annotations

from stillflow.datasets.dataset import DatasetV2
from stillflow.datasets.iterator import make_initializable_iterator
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunHook


@public("python.estimator.util._DatasetInitializerHook")
class DatasetInitializerHook(SessionRunHook):
    """Starts the iterator of a dataset: at its beginning, or where the checkpoint says that it was."""

    def __init__(self, iterator):
        self._iterator = iterator

    def begin(self):
        self._initializer = self._iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


@public("python.estimator.util.parse_input_fn_result")
def parse(result):
    """(features, labels, hooks) of what an input function returns. Raises ValueError for a tuple of another length.

    Labels are None if there are none.
    """
    hooks: list[SessionRunHook] = []
    if isinstance(result, DatasetV2):
        iterator = make_initializable_iterator(result)
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, (list, tuple)):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return result[0], result[1], hooks


def ends_some_time(features):
    """Whether features come from a dataset or a queue, and not from tensors, of which there is no end."""
    tensors = [item for item in nest.flatten(features) if isinstance(item, Tensor)]
    if any(tensor.op.type == "IteratorGetNext" for tensor in tensors):
        return True
    return bool(get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS))
