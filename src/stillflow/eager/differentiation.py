"""gradients_function, implicit_gradients and kin: derivatives of Python functions in eager execution."""

from __future__ import annotations

import contextlib
import inspect

from stillflow import ops
from stillflow.autodiff.reverse import UnconnectedGradients
from stillflow.autodiff.tape import Tape
from stillflow.graph import nest, recording
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.eager.gradients_function")
def gradients_function(f, params=None):
    """A function of the arguments of `f` that returns the list of the derivatives of the sum of its results.

    Args:
      f: a function of tensors, or of what converts to them, that returns a tensor or a structure of tensors.
      params: the names or the positions of the arguments to differentiate with respect to; all if None.

    Returns:
      A function with a further argument `dy`: what to multiply the results with before they are added up. It raises
      ValueError for other arguments by name, if `f` returns None, and for `params` of other types.
    """
    with_value = value_and_gradients_function(f, params)

    def gradients(*args, **kwargs):
        return with_value(*args, **kwargs)[1]

    return gradients


@public("contrib.eager.value_and_gradients_function")
def value_and_gradients_function(f, params=None):
    """Like gradients_function; the function returns a pair of what `f` returns, and of the derivatives."""

    def value_and_gradients(*args, **kwargs):
        factors = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        positions = list(_positions(f, params, args))
        args = _own_tensors(args, positions)
        sources = [args[i] for i in positions]
        with _recording(sources) as tape:
            value = f(*args)
            _check(value, f)
            results = [ops.identity(tensor) for tensor in nest.flatten(value)]
        if factors is not None:
            factors = [convert_to_tensor(factor) for factor in nest.flatten(factors)]
        found = tape.gradient(results, sources, factors, UnconnectedGradients.NONE)
        return nest.pack_sequence_as(value, results), found

    return value_and_gradients


@public("contrib.eager.implicit_gradients")
def implicit_gradients(f):
    """A function of the arguments of `f` that returns pairs of a derivative and a variable.

    The derivatives are those of the sum of what `f` returns, with respect to all trainable variables that it uses, in
    the order in which they were made. Raises ValueError if it uses none, or returns None.
    """
    with_value = implicit_value_and_gradients(f)

    def gradients(*args, **kwargs):
        return with_value(*args, **kwargs)[1]

    return gradients


@public("contrib.eager.implicit_value_and_gradients")
def implicit_value_and_gradients(f):
    """Like implicit_gradients; the function returns a pair of what `f` returns, and of those pairs."""

    def value_and_gradients(*args, **kwargs):
        with _recording([]) as tape:
            value = f(*args, **kwargs)
            _check(value, f)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        handles = [variable.handle for variable in variables]
        found = tape.gradient(nest.flatten(value), handles, None, UnconnectedGradients.NONE)
        return value, list(zip(found, variables, strict=True))

    return value_and_gradients


@contextlib.contextmanager
def _recording(watched):
    tape = Tape()
    for tensor in watched:
        tape.watch(tensor)
    recording.start(tape)
    try:
        yield tape
    finally:
        recording.stop(tape)


def _check(value, f):
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value from "
            f"{getattr(f, '__name__', f)}?"
        )


def _positions(f, params, args):
    """The positions of the arguments that `params` says."""
    try:
        names = inspect.getfullargspec(f).args
    except TypeError:
        if params is None or all(isinstance(each, int) for each in params):
            return range(len(args)) if params is None else params
        raise ValueError(f"The arguments of {f} have no names, so they cannot be chosen by them.") from None
    if params is None:
        return range(len(names) or len(args))
    if all(isinstance(each, str) for each in params):
        return [names.index(name) for name in params]
    if all(isinstance(each, int) for each in params):
        return params
    raise ValueError(f"params must be all strings or all integers; got {params}.")


def _own_tensors(args, positions):
    """The arguments, with a tensor of its own at each of `positions`: one that is given twice counts twice."""
    args = [convert_to_tensor(arg) if i in positions else arg for i, arg in enumerate(args)]
    seen: set = set()
    for i in positions:
        if id(args[i]) in seen:
            args[i] = ops.identity(args[i])
        seen.add(id(args[i]))
    return args
