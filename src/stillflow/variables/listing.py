"""The variables of the default graph, by collection, and the operations that initialize them."""

from __future__ import annotations

from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group


@public("initialize_variables", "variables_initializer", "initializers.variables")
@by_mode
def variables_initializer(var_list, name="init"):
    """An operation that runs the initializers of the variables."""
    if var_list:
        return group(*[variable.initializer for variable in var_list], name=name)
    return group(name=name)


@public("global_variables")
def global_variables(scope=None):
    """All global variables of the default graph, in the order in which they were made.

    Args:
      scope: a regular expression; only variables are returned whose names begin with a match.
    """
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@public("all_variables")
def all_variables():
    """What global_variables returns."""
    return global_variables()


@public("local_variables")
def local_variables(scope=None):
    """All local variables of the default graph, or those whose names begin with `scope`."""
    return get_default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@public("model_variables")
def model_variables(scope=None):
    """The variables of the model of the default graph, or those whose names begin with `scope`."""
    return get_default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


@public("trainable_variables")
def trainable_variables(scope=None):
    """The variables of the default graph that optimizers change, in the order in which they were made.

    Args:
      scope: a regular expression; only variables are returned whose names begin with a match.
    """
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@public("moving_average_variables")
def moving_average_variables(scope=None):
    """The variables that have moving averages of the default graph, or those whose names begin with `scope`."""
    return get_default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


@public("global_variables_initializer", "initialize_all_variables", "initializers.global_variables")
def global_variables_initializer():
    """An operation that gives all global variables of the default graph their initial values.

    It covers the variables that there are by then, and each call adds a node: call it once, after the last variable
    has been made.
    """
    return variables_initializer(global_variables())


@public("initialize_local_variables", "local_variables_initializer", "initializers.local_variables")
def local_variables_initializer():
    """An operation that gives all local variables their initial values."""
    return variables_initializer(local_variables())
