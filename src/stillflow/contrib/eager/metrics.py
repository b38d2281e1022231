"""tf.contrib.eager.metrics: objects that sum up what they are called with, in graphs and where operations run."""

from __future__ import annotations

import re
from typing import Any

from stillflow import ops
from stillflow.composites.checks import assert_equal
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.summary import written
from stillflow.traced_functions.polymorphic import defun
from stillflow.tracking.base import Trackable
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope

_NOT_IN_A_SCOPE = re.compile("[^A-Za-z0-9.]")


@public("contrib.eager.metrics.Metric")
class Metric(Trackable):
    """Something that is measured over many batches.

    A call takes one more batch in; in a graph it returns what does so when it is run. Subclasses have `build`, which
    makes variables with `add_variable` at the first call, `call`, which updates them, and `result`.

    Args:
      name: its name, the class's by default; made unique, it is the scope of the variables.
      use_global_variables: whether the variables are global ones rather than local ones.
    """

    # The name of the class of the evaluator that it was added to.
    _added_to_an_evaluator: str | None = None

    def __init__(self, name=None, use_global_variables=False):
        self._built = False
        self._vars: list[Any] = []
        self._initial_values: list[Any] = []
        self._use_global_variables = use_global_variables
        name = name or type(self).__name__
        scope_name = _NOT_IN_A_SCOPE.sub("_", name)
        with variable_scope(scope_name, use_resource=True, reuse=False) as self._scope:
            self._name = name + self._scope.name[self._scope.name.rfind(scope_name) + len(scope_name) :]
        self._graph = get_default_graph()
        self.call = _in_one_operation(self.call)  # type: ignore[method-assign]

    def __call__(self, *args, **kwargs):
        """Takes one more batch in. Arguments and result: as of `call`."""
        if not self._built:
            with self._graph.as_default(), variable_scope(self._scope):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    @property
    def name(self):
        """Its name, unique in its scope."""
        return self._name

    @property
    def variables(self):
        """A list of its variables."""
        return self._vars

    def init_variables(self):
        """Begins anew: the operation that does so in a graph, None where operations run."""
        return _initialize(self._vars, self._initial_values)

    def build(self, *args, **kwargs):
        """Makes the variables; the arguments are those of the first call."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args, **kwargs):
        """Takes one more batch in. All updates are run, in the order of the program."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """The value of what has been seen, a tensor."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self):
        """The result in a graph, the function `result` where operations run."""
        return _value(self)

    def aggregate(self, metrics):
        """Adds what other metrics of this class have seen. Raises TypeError for metrics of another one.

        Raises:
          ValueError: if they have other variables.
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(f"All metrics must be the same type, '{type(self)}' != '{type(metric)}'.")
        for i, variable in enumerate(self._vars):
            if any(metric._vars[i].name != variable.name for metric in metrics):
                raise ValueError("All metrics must have variables in the same order.")
            variable.assign_add(ops.add_n([metric._vars[i].value() for metric in metrics]))

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """Makes a variable that is not trained. Raises RuntimeError anywhere but in `build`."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        kind = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        variable = get_variable(
            name, shape, dtype, initializer, trainable=False, use_resource=True,
            collections=[kind, GraphKeys.METRIC_VARIABLES],
        )  # fmt: skip
        self._track_trackable(variable, name=name, overwrite=True)
        self._vars.append(variable)
        _note_initial_value(self._initial_values, variable)
        return variable


@by_mode
def _in_one_operation(function):
    return defun(function)


@eager_version_of(_in_one_operation)
def _as_it_is(function):
    return function


@by_mode
def _initialize(variables, initial_values):
    return group(*(variable.initializer for variable in variables))


@eager_version_of(_initialize)
def _assign_initial_values(variables, initial_values):
    for variable, value in zip(variables, initial_values, strict=True):
        variable.assign(value)


@by_mode
def _note_initial_value(values, variable):
    """Variables of graphs have initializers."""


@eager_version_of(_note_initial_value)
def _keep_initial_value(values, variable):
    values.append(variable.value())


@by_mode
def _value(metric):
    return metric.result()


@eager_version_of(_value)
def _function_of_value(metric):
    return metric.result


@public("contrib.eager.metrics.Mean")
class Mean(Metric):
    """The mean of values, which may be weighted.

    Args:
      name, use_global_variables: as of Metric.
      dtype: the type of the sums.
    """

    def __init__(self, name=None, dtype=dtypes.float64, use_global_variables=False):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtype

    def build(self, *args, **kwargs):
        """Makes the sums of weighted values and of weights."""
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype, initializer=Zeros)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype, initializer=Zeros)

    def call(self, values, weights=None):
        """Takes values in, of any shape, with weights of that shape; returns them."""
        if weights is None:
            self.denom.assign_add(ops.cast(ops.identity(ops.size(values)), self.dtype))
            values = ops.reduce_sum(values)
            self.numer.assign_add(ops.cast(values, self.dtype))
            return values
        weights = ops.cast(weights, self.dtype)
        self.denom.assign_add(ops.reduce_sum(weights))
        values = ops.cast(values, self.dtype) * weights
        self.numer.assign_add(ops.reduce_sum(values))
        return values, weights

    def result(self, write_summary=True):
        """The mean; also writes it as a summary, if `write_summary`, a bool or a tensor."""
        mean = self.numer / self.denom

        def written_mean():
            written.scalar(self.name, mean)
            return mean

        smart_cond(convert_to_tensor(write_summary), written_mean, lambda: mean, name="")
        return mean


class _MatchRate(Mean):
    """The mean of what says, for each example, whether the prediction is right."""

    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name=name, dtype=dtype)

    def _take_in(self, labels, predictions, matches, weights):
        super().call(ops.cast(matches, self.dtype), weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


def _check_shapes(labels, predictions):
    message = "Shapes of labels and predictions are unequal"
    assert_equal(ops.shape(labels), ops.shape(predictions), message=message)


@public("contrib.eager.metrics.Accuracy")
class Accuracy(_MatchRate):
    """How often predictions are the labels."""

    def call(self, labels, predictions, weights=None):
        """Takes labels and predictions in, of one shape and type; returns the arguments."""
        _check_shapes(labels, predictions)
        return self._take_in(labels, predictions, ops.equal(labels, predictions), weights)


@public("contrib.eager.metrics.CategoricalAccuracy")
class CategoricalAccuracy(_MatchRate):
    """How often the largest prediction is that of the class of a one-hot label."""

    def call(self, labels, predictions, weights=None):
        """Takes labels and predictions [..., classes] in; returns the classes that they are."""
        _check_shapes(labels, predictions)
        labels, predictions = ops.argmax(labels, axis=-1), ops.argmax(predictions, axis=-1)
        return self._take_in(labels, predictions, ops.equal(labels, predictions), weights)


@public("contrib.eager.metrics.BinaryAccuracy")
class BinaryAccuracy(_MatchRate):
    """How often predictions lie on the right side of a threshold: 0.5 for probabilities, 0 for logits."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def call(self, labels, predictions, weights=None):
        """Takes labels 0 and 1 and predictions of their shape in; returns both as bools."""
        _check_shapes(labels, predictions)
        predictions = convert_to_tensor(predictions) > self.threshold
        labels = ops.cast(labels, dtypes.bool_)
        return self._take_in(labels, predictions, ops.equal(labels, predictions), weights)


@public("contrib.eager.metrics.SparseAccuracy")
class SparseAccuracy(_MatchRate):
    """How often the largest prediction is that of the class that a label says."""

    def call(self, labels, predictions, weights=None):
        """Takes labels [batch] and predictions [batch, classes] in; returns labels and predicted classes."""
        message = "First axis of labels and predictions is unequal"
        assert_equal(ops.shape(labels), ops.shape(predictions)[0], message=message)
        predictions = ops.argmax(predictions, axis=-1)
        labels = ops.cast(labels, dtypes.int64)
        return self._take_in(labels, predictions, ops.equal(labels, predictions), weights)
