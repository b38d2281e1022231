"""Variables without an initial value: something else assigns their first one, such as what loads a SavedModel."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.variables.resource_variable import ResourceVariable


class UninitializedVariable(ResourceVariable):
    """See `uninitialized_variable`."""

    def __init__(
        self, trainable=None, caching_device=None, name=None, shape=None, dtype=None, constraint=None,
        synchronization=None, aggregation=None, extra_handle_data=None, distribute_strategy=None, **unused,
    ):  # fmt: skip
        self._trainable = trainable
        self._constraint = constraint
        self._caching_device = caching_device
        self._synchronization = synchronization
        self._aggregation = aggregation
        self._save_slice_info = self._cached_value = None
        self._initializer_op = self._initial_value = self._is_initialized_op = None
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._shape = TensorShape(shape)
        self._add_handle(get_default_graph(), name)
        self._show_to_tapes()

    def _add_handle(self, graph, name):
        with name_scope(name, "Variable") as scope:
            self._handle = ops.var_handle_op(dtype=self._dtype, shape=self._shape, shared_name=scope[:-1], name=scope)
            with name_scope("Read"), graph.device(self._handle.device):
                self._graph_element = self._new_read()
        # Whether to train what was loaded is for those to say who build on it.
        graph.add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)


@public("python.ops.resource_variable_ops.UninitializedVariable")
def uninitialized_variable(**options):
    """A resource variable without an initializer; it is made outside of the function that is being traced.

    Args:
      **options: `shape` and `dtype`, and what tf.Variable has: `trainable`, `caching_device`, `name`, `constraint`,
        `synchronization`, `aggregation`. Others are ignored.
    """
    with init_scope():
        return UninitializedVariable(**options)


@public("python.ops.resource_variable_ops.copy_to_graph_uninitialized")
def copy_to_graph_uninitialized(var):
    """A variable of the default graph that is like `var` of another one, but for the value."""
    return UninitializedVariable(
        trainable=var.trainable, constraint=var._constraint, shape=var.shape, dtype=var.dtype, name=var._shared_name,
        synchronization=var.synchronization, aggregation=var.aggregation,
    )  # fmt: skip
