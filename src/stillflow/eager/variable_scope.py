"""get_variable while operations are executed eagerly: each call makes a variable, unless a store keeps them."""

from __future__ import annotations

import contextlib

from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import eager_version_of
from stillflow.graph.name_scope import init_scope
from stillflow.names import public
from stillflow.variables import creation, listing, scope, store
from stillflow.variables.scope import AUTO_REUSE, VariableScope, default_variable_store
from stillflow.variables.store import VariableStore
from stillflow.variables.variable import Variable

# ---- What scopes say ------------------------------------------------------------------------------------------


def _no_caching():
    return NotImplementedError("Caching devices are not yet supported when eager execution is enabled.")


@eager_version_of(VariableScope.settle)
def settle(scope):
    """All variables are resource variables, and may exist. Raises NotImplementedError for a caching device."""
    if scope.caching_device is not None:
        raise _no_caching()
    scope._reuse = AUTO_REUSE
    scope._use_resource = True


@eager_version_of(VariableScope.set_caching_device)
def set_caching_device(scope, caching_device):
    raise _no_caching()


@eager_version_of(VariableScope.set_use_resource)
def set_use_resource(scope, use_resource):
    if not use_resource:
        raise ValueError("When eager execution is enabled, use_resource cannot be set to false.")
    scope._use_resource = use_resource


@eager_version_of(VariableScope.reuse_and_kind)
def reuse_and_kind(scope, var_store, reuse, use_resource):
    return AUTO_REUSE if var_store.keeps_variables else False, True


# ---- What stores keep -----------------------------------------------------------------------------------------


@eager_version_of(scope.new_store)
def new_store():
    """A store that keeps nothing: a variable lives as long as the program holds it."""
    return VariableStore(keeps_variables=False)


@eager_version_of(store.variable_is_kept)
def variable_is_kept(variable, collections):
    """Puts a variable into the collections; one that nobody keeps is in none."""
    graph = get_default_graph()
    graph.add_to_collections(collections or [GraphKeys.GLOBAL_VARIABLES], variable)
    if variable.trainable:
        graph.add_to_collection(GraphKeys.TRAINABLE_VARIABLES, variable)


@eager_version_of(creation.made)
def made(cls, options):
    """The variable, made outside of the functions that are being traced: its value is there before they run."""
    with init_scope():
        return cls(**options)


@eager_version_of(listing.variables_initializer)
def variables_initializer(var_list, name="init"):
    """Nothing to do: variables have their values from the start."""


@public("contrib.eager.EagerVariableStore")
class EagerVariableStore:
    """Keeps the variables that get_variable makes in eager execution, while it is the default.

        store = tf.contrib.eager.EagerVariableStore()
        with store.as_default():
            weights = tf.get_variable("weights", [10])  # the same one whenever this is called

    Args:
      store: the VariableStore to use. Raises ValueError for one that does not keep variables.
    """

    def __init__(self, store=None):
        if store is not None and not store.keeps_variables:
            raise ValueError(
                "Cannot construct EagerVariableStore from a VariableStore object that does not hold eager variables."
            )
        self._store = VariableStore() if store is None else store

    @contextlib.contextmanager
    def as_default(self):
        """A context in which get_variable makes and finds the variables of this store."""
        attributes = get_default_graph().__dict__
        outer = default_variable_store()
        attributes["_variable_store"] = self._store
        try:
            yield
        finally:
            attributes["_variable_store"] = outer

    def variables(self):
        """All variables, sorted by name."""
        return sorted(self._store._variables.values(), key=lambda variable: variable.name)

    def trainable_variables(self):
        return [variable for variable in self.variables() if variable.trainable]

    def non_trainable_variables(self):
        return [variable for variable in self.variables() if not variable.trainable]

    def copy(self):
        """Another store, of copies of the variables."""
        copied = EagerVariableStore()
        for name, variable in self._store._variables.items():
            copied._store._variables[name] = Variable(
                variable.read_value(), variable.trainable, name=variable._shared_name
            )
        return copied
