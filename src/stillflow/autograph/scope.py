"""FunctionScope: what is in force while a converted function runs."""

from __future__ import annotations

import contextlib
from typing import Any

from stillflow.autograph.settings import Feature
from stillflow.functions.automatic_control import control_of_graph
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.platform.conversion_status import ControlStatusCtx, Status


class FunctionScope:
    """A context around the body of a converted function.

    Args:
      function_name: the function's name, of a name scope where the options say so.
      scope_name: the variable of the function that has this.
      options: the ConversionOptions of the function.
    """

    def __init__(self, function_name, scope_name, options):
        self.name = scope_name
        self.call_options = options.call_options()
        self._options = options
        self._function_name = f"fn{function_name}" if function_name.startswith("_") else function_name
        self._control: Any = None
        self._contexts = contextlib.ExitStack()

    def __enter__(self):
        if self._options.user_requested:
            self._contexts.enter_context(ControlStatusCtx(Status.ENABLED, self._options))
        if self._options.uses(Feature.NAME_SCOPES):
            self._contexts.enter_context(name_scope(self._function_name))
        if self._options.uses(Feature.AUTO_CONTROL_DEPS):
            self._control = control_of_graph()
        return self

    def __exit__(self, *exception):
        if self._control is not None and exception[0] is None:
            self._control.end()
        return self._contexts.__exit__(*exception)

    def mark_return_value(self, value):
        """What the function returns for `value`: tensors that wait for what has effects, if the options say so."""
        if self._control is None or value is None:
            return value
        control = self._control
        return nest.map_structure(lambda x: control.mark_as_return(x) if isinstance(x, Tensor) else x, value)


def assert_stmt(test, message):
    """`assert test, message()`; of a tensor, a tf.Assert."""
    from stillflow.autograph.operators.values import is_tensor
    from stillflow.composites.checks import assert_that

    if not is_tensor(test):
        assert test, message()
        return None
    data = message()
    return assert_that(test, data if isinstance(data, list) else [data])
