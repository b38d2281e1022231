"""EagerTemplate: what tf.make_template returns while operations are executed eagerly."""

from __future__ import annotations

from stillflow.eager.variable_scope import EagerVariableStore
from stillflow.graph.collections import GraphKeys
from stillflow.graph.mode import eager_version_of
from stillflow.variables.scope import AUTO_REUSE, default_variable_store, variable_scope
from stillflow.variables.template import Template


@eager_version_of(Template)
class EagerTemplate(Template):
    """A Template that keeps its variables itself, or in the template that it is called in.

    Raises ValueError for a `unique_name`: no variable is found by its name alone.
    """

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        if unique_name is not None:
            raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
        super().__init__(name, func, create_scope_now, custom_getter=custom_getter)
        outer = default_variable_store()
        self._template_store = EagerVariableStore(outer if outer.keeps_variables else None)

    def __call__(self, *args, **kwargs):
        """Calls the function. Raises ValueError if a later call makes a variable to be trained."""
        if self._variable_scope is not None:
            scope = variable_scope(self._variable_scope, reuse=AUTO_REUSE)
        else:
            scope = variable_scope(None, self._name, custom_getter=self._custom_getter)
        with scope as opened:
            if self._variable_scope is None:
                self._variable_scope = opened
            with self._template_store.as_default():
                return self._call(args, kwargs)

    def _to_be_trained(self):
        return self._own(self._template_store.trainable_variables())

    def _own(self, variables):
        return [variable for variable in variables if variable.name.startswith(self.variable_scope_name)]

    def _collected(self, key):
        if not self._has_been_called or key == GraphKeys.LOCAL_VARIABLES:
            return []
        trains = key == GraphKeys.TRAINABLE_VARIABLES
        return self._own(self._template_store.trainable_variables() if trains else self._template_store.variables())
