"""Trees and the statistics of their leaves as what a session initializes and a Saver saves."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.saver.saveable import SaveableObject, SaveSpec
from stillflow.variables.readiness import register_resource


class _Serialized(SaveableObject):
    """A resource that is saved as one string, and restored by it after it has been created."""

    def __init__(self, handle, tensor, restore, create_op, name):
        super().__init__(handle, [SaveSpec(tensor, "", name)], name)
        self._restore = restore
        self._create_op = create_op

    def restore(self, restored_tensors, restored_shapes):
        with control_dependencies([self._create_op]):
            return self._restore(restored_tensors[0])


def _registered(handle, create_op, is_initialized, saveable):
    get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
    register_resource(handle, create_op, is_initialized)
    return handle


@public("contrib.tensor_forest.python.ops.model_ops.tree_variable")
def tree_variable(params, tree_config, stats_handle, name, container=None):
    """The handle of a tree, which is saved with the graph's variables.

    Args:
      params: ForestHParams with a `serialized_params_proto`.
      tree_config: a serialized tree to begin with, or an empty string.
      stats_handle: not used.
      name: of the handle, also the name that sessions share it by.
      container: where they do.
    """
    settings = params.serialized_params_proto
    with name_scope(name, "TreeVariable") as scope:
        handle = ops.decision_tree_resource_handle_op(container or "", shared_name=scope, name=scope)
        create_op = ops.create_tree_variable(handle, tree_config, params=settings)
        is_initialized = ops.tree_is_initialized_op(handle)
        saveable = _Serialized(
            handle,
            ops.tree_serialize(handle),
            lambda config: ops.tree_deserialize(handle, config, params=settings),
            create_op,
            handle.name,
        )
        return _registered(handle, create_op, is_initialized, saveable)


@public("contrib.tensor_forest.python.ops.stats_ops.fertile_stats_variable")
def fertile_stats_variable(params, stats_config, name, container=None):
    """The handle of what a tree's leaves have counted; see tree_variable."""
    settings = params.serialized_params_proto
    with name_scope(name, "FertileStatsVariable") as scope:
        handle = ops.fertile_stats_resource_handle_op(container or "", shared_name=scope, name=scope)
        create_op = ops.create_fertile_stats_variable(handle, stats_config, params=settings)
        is_initialized = ops.fertile_stats_is_initialized_op(handle)
        saveable = _Serialized(
            handle,
            ops.fertile_stats_serialize(handle, params=settings),
            lambda config: ops.fertile_stats_deserialize(handle, config, params=settings),
            create_op,
            handle.name,
        )
        return _registered(handle, create_op, is_initialized, saveable)
