"""report_uninitialized_variables and kin: what has no value yet in a session, and initializers of tables."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.listing import global_variables, local_variables


@public("initialize_all_tables", "tables_initializer", "initializers.tables_initializer")
def tables_initializer(name="init_all_tables"):
    """An operation that initializes all tables of the graph."""
    initializers = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else ops.no_op(name=name)


def _or_all(var_list):
    """The variables in the list, or all of the graph."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if var_list:
        return var_list
    operations = get_default_graph().get_operations()
    return [op.outputs[0] for op in operations if op._op_def.special == "variable"]


@public("assert_variables_initialized")
def assert_variables_initialized(var_list=None):
    """A tensor that fails unless all variables, or those in the list, have a value; None if there are none."""
    ranks = []
    for variable in _or_all(var_list):
        with get_default_graph().colocate_with(variable.op):
            ranks.append(ops.rank_internal(variable, optimize=False))
    if len(ranks) < 2:
        return ranks[0] if ranks else None
    return ops.stack(ranks)


@public("report_uninitialized_variables")
def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A string vector: the names of the variables that have no value, of all or of those in the list."""
    if var_list is None:
        var_list = _or_all(None)
    with name_scope(name):
        have_values = [variable.is_initialized() for variable in var_list]
        with get_default_graph().device("/cpu:0"):
            if not var_list:
                return ops.constant([], dtype=dtypes.string)
            lacks_value = ops.logical_not(ops.stack(have_values))
            names = ops.constant([variable.op.name for variable in var_list])
            return ops.boolean_mask(names, lacks_value)


# ---- Resources: what a graph's collections have of them, with `handle`, `create` and `is_initialized` -------------


_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized"])


@public("python.ops.resources.register_resource")
def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Adds a resource to the collection of those that all sessions of a cluster see, or of those of one session.

    Args:
      handle: a resource tensor.
      create_op: the operation that makes it.
      is_initialized_op: a bool scalar, whether it has been made.
      is_shared: which collection.
    """
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    get_default_graph().add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


@public("python.ops.resources.shared_resources")
def shared_resources():
    """The resources that all sessions of a cluster see."""
    return get_default_graph().get_collection(GraphKeys.RESOURCES)


@public("python.ops.resources.local_resources")
def local_resources():
    """The resources of one session."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_RESOURCES)


@public("python.ops.resources.initialize_resources")
def initialize_resources(resource_list, name="init"):
    """An operation that makes the resources in the list."""
    if resource_list:
        return group(*[resource.create for resource in resource_list], name=name)
    return ops.no_op(name=name)


@public("python.ops.resources.report_uninitialized_resources")
def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """A string vector: the names of the resources that have not been made, of all or of those in the list."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), get_default_graph().device("/cpu:0"):
        if not resource_list:
            return ops.constant([], dtype=dtypes.string)
        is_missing = ops.logical_not(ops.stack([resource.is_initialized for resource in resource_list]))
        names = ops.constant([resource.handle.name for resource in resource_list])
        return ops.boolean_mask(names, is_missing)
