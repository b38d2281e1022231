"""Session.run of a program's own types, which stand for tensors."""

from __future__ import annotations

from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.session import feeds, fetches


@public("python.client.session.register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type, fetch_function, feed_function=None, feed_function_for_partial_run=None
):
    """Lets Session.run fetch and feed objects of a type.

    Args:
      tensor_type: the type.
      fetch_function: called with a fetch of that type; returns a list of tensors, and a function that makes the
        result from the list of their values.
      feed_function: called with a key of that type in a feed_dict and its value; returns [(tensor, value)].
      feed_function_for_partial_run: called with a key that Session.partial_run_setup is given; returns the tensors.

    Raises:
      ValueError: if the type, or one that descends from it, is registered already.
    """
    if any(issubclass(kind, tensor_type) for kind in (SparseTensor, IndexedSlices, *fetches.conversions())):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    fetches.register_conversion(tensor_type, fetch_function)
    if feed_function is not None:
        feeds.register_conversion(tensor_type, feed_function, feed_function_for_partial_run)
