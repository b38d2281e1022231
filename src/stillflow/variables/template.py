"""tf.make_template: a function whose variables are made in its first call and shared by later ones."""

from __future__ import annotations

import functools

from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import MadeByMode
from stillflow.names import public
from stillflow.tracking.base import Trackable
from stillflow.tracking.capture import capture_dependencies
from stillflow.variables.scope import variable_scope


@public("make_template", "contrib.eager.make_template")
def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """A callable that calls `func_` in a variable scope of its own: later calls find the variables of the first.

    Args:
      name_: the name of the scope, made unique.
      func_: a function of tensors that makes its variables with get_variable.
      create_scope_now_: whether the scope's name is taken now, and not at the first call.
      unique_name_: the name of the scope, not made unique: templates of one name share their variables.
      custom_getter_: as for variable_scope.
      **kwargs: arguments that every call gets.

    Raises ValueError for a `unique_name_` in eager execution.
    """
    function = functools.partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


class Template(Trackable, metaclass=MadeByMode):
    """What make_template returns.

    tf.train.Checkpoint saves the variables that the first call makes, by their names within the scope; those of a
    template within this one are saved as that one's.
    """

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        if name is None:
            raise ValueError("name cannot be None.")
        self._name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._variable_scope = None
        self._has_been_called = False
        if create_scope_now:
            with variable_scope(unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False) as scope:
                self._variable_scope = scope

    def __call__(self, *args, **kwargs):
        """Calls the function. Raises ValueError if a later call makes a variable to be trained."""
        if self._variable_scope is not None:
            with variable_scope(self._variable_scope, reuse=self._has_been_called):
                return self._call(args, kwargs)
        with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
            self._variable_scope = scope
            return self._call(args, kwargs)

    def _call(self, args, kwargs):
        before = self._to_be_trained()
        if self._has_been_called:
            result = self._func(*args, **kwargs)
        else:
            with capture_dependencies(self):
                result = self._func(*args, **kwargs)
        known = set(map(id, before))
        made = [variable for variable in self._to_be_trained() if id(variable) not in known]
        if self._has_been_called and made:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps you used "
                f"tf.Variable when you meant tf.get_variable: {made}"
            )
        self._has_been_called = True
        return result

    def _to_be_trained(self):
        """Where variables show that are made to be trained."""
        return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def name(self):
        """The name given, or that of the scope."""
        return self._name

    @property
    def func(self):
        return self._func

    @property
    def variable_scope(self):
        """The VariableScope, or None before the first call."""
        return self._variable_scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self):
        """The prefix of the variables' names, with a slash at its end; None before the first call."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return f"{name}/" if name and not name.endswith("/") else name

    def _collected(self, key):
        if not self._has_been_called:
            return []
        return get_default_graph().get_collection(key, self.variable_scope_name)

    @property
    def variables(self):
        """The variables of the scope, global and local."""
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self):
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self):
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self):
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def non_trainable_variables(self):
        """The global variables that optimizers leave alone."""
        trainable = {id(variable) for variable in self.trainable_variables}
        return [variable for variable in self.global_variables if id(variable) not in trainable]

    # As layers call them.
    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
