"""tf.contrib.rate.Rate: the change of values since the last call, over that of a denominator."""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public_module
from stillflow.ops.math.division import div_no_nan
from stillflow.traced_functions.polymorphic import defun
from stillflow.variables.assignments import assign
from stillflow.variables.resource_variable import ResourceVariable
from stillflow.variables.scope import variable_scope

public_module("contrib.rate.rate", "contrib.rate.python.rate")


@by_mode
def _in_a_function(function):
    return defun(function)


@eager_version_of(_in_a_function)
def _as_it_is(function):
    return function


class Rate:
    """Called with values and a denominator, it returns (values - those before) / (denominator - the one before).

    Where the denominator has not grown, the rate is 0.

    Args:
      name: of the scope of its variables; by default that of the class.
    """

    def __init__(self, name=None):
        self._built = False
        self._vars: list = []
        name = name or type(self).__name__
        scope_name = re.sub("[^A-Za-z0-9.]", "_", name)
        with variable_scope(scope_name, use_resource=True, reuse=False) as scope:
            self._name = name + scope.name.rpartition(scope_name)[2]
            self._scope = scope
        self._construction_scope = get_default_graph().as_default
        self.call = _in_a_function(self.call)  # type: ignore[method-assign]

    @property
    def name(self):
        """The name."""
        return self._name

    @property
    def variables(self):
        """The variables: what it was called with last, and the differences."""
        return self._vars

    def build(self, values, denominator):
        """Makes the variables."""
        self.numer = self._add_variable("numer", values.shape)
        self.denom = self._add_variable("denom", denominator.shape)
        self.prev_values = self._add_variable("prev_values", values.shape)
        self.prev_denominator = self._add_variable("prev_denominator", denominator.shape)
        self._built = True

    def _add_variable(self, name, shape):
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        variable = ResourceVariable(
            lambda: ops.zeros(shape, dtypes.float64),
            trainable=False,
            validate_shape=True,
            name=name,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        self._vars.append(variable)
        return variable

    def __call__(self, *args, **kwargs):
        if not self._built:
            with variable_scope(self._scope), self._construction_scope():
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    def call(self, values, denominator):
        """The rate, float64, of tensors."""
        denominator = ops.cast(denominator, dtypes.float64)
        values = ops.cast(values, dtypes.float64)
        assign(self.numer, ops.sub(values, self.prev_values))
        assign(self.denom, ops.sub(denominator, self.prev_denominator))
        assign(self.prev_values, values)
        assign(self.prev_denominator, denominator)
        return div_no_nan(self.numer, ops.maximum(self.denom, 0), name="safe_rate")
