"""Metric: variables that sum up what is seen, and a result that is computed of them."""

from __future__ import annotations

import functools
from typing import Any

from stillflow import ops
from stillflow.functions.automatic_control import AutomaticControl
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.backend.values import batch_set_value
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.copies import VariableAggregation, VariableSynchronization


@public("keras.metrics.Metric")
class Metric(Layer):
    """Something that is measured over many batches.

    Subclasses make variables with `add_weight`, and have `update_state`, which takes one more batch in, and `result`,
    which computes the value of the variables. A call is both.

    Args:
      name: its name.
      dtype: the type of its variables; `floatx` by default.
    """

    _is_metric = True
    stateful = True
    _call_result: Any

    def __new__(cls, *args, **kwargs):
        metric = super().__new__(cls)
        update = metric.update_state
        if not cls.__module__.startswith("stillflow.keras."):
            update = functools.partial(_run_in_order, update)
        result = metric.result

        @functools.wraps(metric.update_state)
        def update_state(*args, **kwargs):
            operation = update(*args, **kwargs)
            if operation is not None:
                metric.add_update(operation)
            return operation

        @functools.wraps(result)
        def identity_of_result(*args):
            metric.__dict__["_call_result"] = value = ops.identity(result(*args))
            return value

        metric.__dict__.update(update_state=update_state, result=identity_of_result)
        return metric

    def __init__(self, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.built = True
        self._dtype = floatx() if dtype is None else dtypes.as_dtype(dtype).name

    def __call__(self, *args, **kwargs):
        """The result after `update_state` of these arguments."""
        operation = self.update_state(*args, **kwargs)
        with control_dependencies([operation]):
            result = self.result()
            result._metric_obj = self
            return result

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}

    def reset_states(self):
        """Sets the variables to 0: what is seen from now on is another measurement."""
        batch_set_value([(variable, 0) for variable in self.variables])

    def update_state(self, *args, **kwargs):
        """Takes one more batch in."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self):
        """The value of what has been seen."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def add_weight(  # type: ignore[override]
        self, name, shape=(), aggregation=VariableAggregation.SUM, synchronization=VariableSynchronization.ON_READ,
        initializer=None, dtype=None,
    ):  # fmt: skip
        """Makes a variable that is not trained; see `Layer.add_weight`."""
        return super().add_weight(
            name=name, shape=shape, dtype=self._dtype if dtype is None else dtype, trainable=False,
            initializer=initializer, collections=[], synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip


@by_mode
def _run_in_order(update, *args, **kwargs):
    """An operation that does all that a program's own `update_state` does, in the order of the program."""
    control = AutomaticControl(get_default_graph())
    update(*args, **kwargs)
    return group(*control.end())


@eager_version_of(_run_in_order)
def _run_at_once(update, *args, **kwargs):
    return update(*args, **kwargs)


@public("python.keras.metrics.clone_metric")
def clone_metric(metric):
    """Another metric like it; what is no Metric is returned as it is."""
    if not isinstance(metric, Metric):
        return metric
    return type(metric).from_config(metric.get_config())
