"""Functions that run a graph, and others of whole graphs."""

from __future__ import annotations

import inspect
import sys

import numpy as np

from stillflow import ops
from stillflow.autodiff.reverse import gradients as gradients_of
from stillflow.composites import functional
from stillflow.composites.printing import print_tensors
from stillflow.graph import nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import get_session
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.session.session import Session
from stillflow.variables import assignments
from stillflow.variables.variable import Variable


class GraphFunction:
    """A function of arrays: it feeds them to tensors, runs updates, and returns what other tensors then are.

    Args:
      inputs: the tensors that are fed. A value that is None is not fed, and a tensor as value is used itself.
      outputs: a tensor, or a list of some.
      updates: operations, and pairs of a variable and its new value.
      feed_dict: values of further tensors.
      fetches: further tensors; `fetch_callbacks` has functions that get their values.
      options, run_metadata: as for Session.run.
    """

    def __init__(
        self, inputs, outputs, updates=None, name=None, feed_dict=None, fetches=(), options=None, run_metadata=None
    ):
        updates = updates or []
        if not isinstance(updates, (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.inputs = nest.flatten(inputs, expand_composites=True)
        self._structure = outputs
        fetched = [convert_to_tensor(each) if isinstance(each, Variable) else each for each in nest.flatten(outputs)]
        self.outputs = nest.flatten(fetched, expand_composites=True)
        self._fetched = fetched
        with control_dependencies([self.outputs[0]]):
            self.updates_op = group(
                *(assignments.assign(*each) if isinstance(each, tuple) else each for each in updates)
            )
        self.name = name
        self.feed_dict = feed_dict or {}
        self.fetches = [ops.identity(each) for each in (fetches if isinstance(fetches, list) else [*fetches])]
        self.fetch_callbacks: dict = {}
        self.run_options = options
        self.run_metadata = run_metadata
        self._types = [tensor.dtype.as_numpy_dtype for tensor in self.inputs]
        self._is_list = isinstance(outputs, (list, tuple)) and not any(
            isinstance(each, (list, tuple, dict)) for each in outputs
        )

    def __call__(self, inputs):
        """The values of the outputs, in a structure like theirs, for values of the inputs."""
        feeds = {}
        for tensor, kind, value in zip(self.inputs, self._types, self._flat(inputs), strict=False):
            if value is None:
                continue
            if isinstance(value, (Tensor, Variable)):
                return self._called_with_tensors(inputs)
            feeds[tensor] = value if type(value) is np.ndarray and value.dtype == kind else np.asarray(value, kind)
        if self.feed_dict:
            feeds.update(self.feed_dict)
        return self._outcome(self._run(get_session(), feeds))

    def _flat(self, inputs):
        if isinstance(inputs, list) and len(inputs) == len(self.inputs):
            return inputs
        return nest.flatten(inputs, expand_composites=True)

    def _run(self, session, feeds):
        # A callback may have added to `fetches` since.
        fetched = [*self._fetched, *self.fetches, self.updates_op]
        return session.run(fetched, feeds, self.run_options, self.run_metadata)

    def _outcome(self, fetched):
        count = len(self._fetched)
        for tensor, value in zip(self.fetches, fetched[count:-1], strict=True):
            if tensor in self.fetch_callbacks:
                self.fetch_callbacks[tensor](value)
        if self._is_list:
            return fetched[:count]
        return nest.pack_sequence_as(self._structure, fetched[:count])

    def _called_with_tensors(self, inputs):
        """Feeds tensors by their values, which are computed first: both have the same step of what makes them."""
        session = get_session()
        pairs = [
            (tensor, value)
            for tensor, value in zip(self.inputs, self._flat(inputs), strict=False)
            if value is not None
        ]
        tensors = [value for _, value in pairs if isinstance(value, (Tensor, Variable))]
        values = iter(session.run(tensors, self.feed_dict or None))
        feeds = {tensor: next(values) if isinstance(value, (Tensor, Variable)) else value for tensor, value in pairs}
        feeds = {tensor: np.asarray(value, tensor.dtype.as_numpy_dtype) for tensor, value in feeds.items()}
        feeds.update(self.feed_dict)
        return self._outcome(self._run(session, feeds))


_OPTIONS = {*inspect.signature(Session.run).parameters} | {"inputs", "outputs", "updates", "name"}


@public("keras.backend.function")
def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function of arrays; see `GraphFunction`.

    Args:
      inputs: the tensors that are fed.
      outputs: the tensors whose values are returned.
      updates: operations that are run, and pairs of a variable and its new value.
      name: a name.
      kwargs: `feed_dict`, `fetches`, `options` and `run_metadata` of Session.run.

    Raises:
      TypeError: for updates that are no list.
      ValueError: for other arguments.
    """
    for key in kwargs:
        if key not in _OPTIONS:
            raise ValueError(f'Invalid argument "{key}" passed to K.function with TensorFlow backend')
    return make_function(inputs, outputs, updates, name, **kwargs)


@by_mode
def make_function(inputs, outputs, updates=None, name=None, **kwargs):
    return GraphFunction(inputs, outputs, updates, name, **kwargs)


@eager_version_of(make_function)
def _make_lifted_function(inputs, outputs, updates=None, name=None, **kwargs):
    from stillflow.keras.backend.lifted_function import LiftedFunction

    if kwargs:
        raise ValueError(f"Session keyword arguments are not support during eager execution. You passed: {kwargs}")
    return LiftedFunction(inputs, outputs, updates, name)


@public("keras.backend.gradients")
def gradients(loss, variables):
    """The gradients of a loss with respect to variables."""
    return gradients_of(loss, variables, colocate_gradients_with_ops=True)


@public("keras.backend.stop_gradient")
def stop_gradient(variables):
    """A tensor, or an iterator of several, that counts as constant for gradients."""
    if isinstance(variables, (list, tuple)):
        return map(ops.stop_gradient, variables)
    return ops.stop_gradient(variables)


@public("keras.backend.print_tensor")
def print_tensor(x, message=""):
    """x; when it is computed, the message and its value are printed."""
    printed = print_tensors(message, x, output_stream=sys.stdout)
    if printed is None:
        return x
    with control_dependencies([printed]):
        return ops.identity(x)


@public("keras.backend.map_fn")
def map_fn(fn, elems, name=None, dtype=None):
    """A function of each row."""
    return functional.map_fn(fn, elems, name=name, dtype=dtype)


@public("keras.backend.foldl")
def foldl(fn, elems, initializer=None, name=None):
    """fn(... fn(fn(initializer, first row), second row) ...)."""
    return functional.foldl(fn, elems, initializer=initializer, name=name)


@public("keras.backend.foldr")
def foldr(fn, elems, initializer=None, name=None):
    """fn(... fn(fn(initializer, last row), last but one) ...)."""
    return functional.foldr(fn, elems, initializer=initializer, name=name)
