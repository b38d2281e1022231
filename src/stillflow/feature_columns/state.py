"""Where the variables of feature columns come from: a layer that keeps them, or the scope they are used in."""

from __future__ import annotations

from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.variables.get_variable import get_variable


@public("python.feature_column.feature_column_v2.StateManager")
class StateManager:
    """Makes and keeps the variables and tables of columns. Subclasses say how."""

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        """Makes a variable of a column."""
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column, var):
        """Keeps a variable that the column has made itself."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column, name):
        """The variable of that name."""
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column, name, resource):
        """Keeps a table."""
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column, name):
        """The table of that name."""
        raise NotImplementedError("StateManager.get_resource")


class ScopedVariables(StateManager):
    """Makes variables in the variable scope in which they are asked for.

    Args:
      weight_collections: the collections to add them to, or None.
      trainable: whether those that may be trained are; None for what the columns say.
    """

    def __init__(self, weight_collections=None, trainable=None):
        self._collections = weight_collections
        self._trainable = trainable
        self._made = None

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        collections = self._collections
        if collections and GraphKeys.GLOBAL_VARIABLES not in collections:
            collections.append(GraphKeys.GLOBAL_VARIABLES)
        self._made = get_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable and self._trainable,
            collections=collections,
        )
        return self._made

    def get_variable(self, feature_column, name):
        feature_column.create_state(self)
        return self._made

    def add_resource(self, feature_column, name, resource):
        """Nothing: the graph keeps tables."""
