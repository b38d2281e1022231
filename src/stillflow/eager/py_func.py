"""tf.py_func without a graph: a call."""

from __future__ import annotations

from stillflow.composites.py_func import py_func
from stillflow.graph import nest
from stillflow.graph.mode import eager_version_of
from stillflow.ops.convert import convert_to_tensor


@eager_version_of(py_func)
def call(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    """What `func` returns for the values of the tensors `inp`, as tensors. Its errors are its own."""
    values = nest.flatten(func(*[tensor.numpy() for tensor in inp]))
    results = [value if value is None else convert_to_tensor(value) for value in values]
    return results[0] if len(results) == 1 else results
