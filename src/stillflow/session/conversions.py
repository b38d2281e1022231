"""Objects of programs' own classes as fetches and feeds."""

from __future__ import annotations

from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.session import feeds, fetches


@public("python.client.session.register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type, fetch_function, feed_function=None, feed_function_for_partial_run=None
):
    """Lets Session.run fetch and feed objects of a class.

    Args:
      tensor_type: the class.
      fetch_function: a function of an object that returns a list of tensors, and a function from the list of their
        values to what the run returns.
      feed_function: a function of an object and its value that returns pairs of tensors and values.
      feed_function_for_partial_run: a function of an object that returns the list of tensors to feed.

    Raises:
      ValueError: if the class is registered already.
    """
    if any(issubclass(kind, tensor_type) for kind in (SparseTensor, IndexedSlices, *fetches.conversions())):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    fetches.register_conversion(tensor_type, fetch_function)
    if feed_function is not None:
        feeds.register_conversion(tensor_type, feed_function, feed_function_for_partial_run)
