"""Optimizers that are not in the graph: scipy's, fed with losses and gradients that a session computes."""

from __future__ import annotations

import itertools
import math

import numpy as np

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.graph.scopes import get_default_session
from stillflow.names import public
from stillflow.platform import logging
from stillflow.variables.listing import trainable_variables


@public("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """Base class of optimizers of a function of one vector, which is all the variables in a row.

    A subclass says in `_minimize` what it does.

    Args:
      loss: the scalar to make small.
      var_list: the variables to change, of static shapes; by default all trainable ones.
      equalities: scalars or vectors that are to be zero.
      inequalities: scalars or vectors that are to be zero or more.
      var_to_bounds: {variable: (least, greatest)}, of numbers or arrays that broadcast to the variable.
      optimizer_kwargs: further arguments for the optimizer.
    """

    def __init__(
        self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs
    ):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else _packed_bounds(self._vars, var_to_bounds)
        self._update_placeholders = [ops.placeholder(v.dtype) for v in self._vars]
        self._var_updates = [
            v.assign(ops.reshape(value, _shape(v)))
            for v, value in zip(self._vars, self._update_placeholders, strict=True)
        ]
        loss_grads = _gradients(loss, self._vars)
        equality_grads = [_gradients(equality, self._vars) for equality in self._equalities]
        inequality_grads = [_gradients(inequality, self._vars) for inequality in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._pack(loss_grads)
        self._packed_equality_grads = [self._pack(each) for each in equality_grads]
        self._packed_inequality_grads = [self._pack(each) for each in inequality_grads]
        ends = [0, *itertools.accumulate(math.prod(_shape(v)) for v in self._vars)]
        self._packing_slices = [slice(start, end) for start, end in itertools.pairwise(ends)]

    def minimize(
        self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None, **run_kwargs
    ):
        """Makes the loss small, and sets the variables to what has been found.

        Args:
          session: the session to compute in; by default the default session.
          feed_dict: what to feed in each computation.
          fetches: what to compute besides the loss.
          step_callback: a function that the optimizer calls after each step, with the vector of all variables.
          loss_callback: a function that is called with the fetches whenever the loss has been computed.
          run_kwargs: further arguments of the Session.run that sets the variables.
        """
        session = session or get_default_session()
        feed_dict = feed_dict or {}
        fetches = fetches or []
        run = _Runs(session, feed_dict, fetches, self._vars, self._packing_slices)
        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=run.function([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=[run.function([each]) for each in self._equalities],
            equality_grad_funcs=[run.function([each]) for each in self._packed_equality_grads],
            inequality_funcs=[run.function([each]) for each in self._inequalities],
            inequality_grad_funcs=[run.function([each]) for each in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda position: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [found[part] for part in self._packing_slices]
        session.run(
            self._var_updates, feed_dict=dict(zip(self._update_placeholders, values, strict=True)), **run_kwargs
        )

    def _minimize(
        self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
        inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs,
    ):  # fmt: skip
        """The vector that minimizes the loss. For subclasses.

        Args:
          initial_val: the vector to start from.
          loss_grad_func: a function from a vector to [loss, gradient].
          equality_funcs, equality_grad_funcs, inequality_funcs, inequality_grad_funcs: functions from a vector to a
            list of one value.
          packed_bounds: a pair (least, greatest) for each element of the vector, or None.
          step_callback: a function to call with the vector after each step.
          optimizer_kwargs: further arguments for the optimizer.
        """
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method."
        )

    @classmethod
    def _pack(cls, tensors):
        """One vector of all tensors."""
        if not tensors:
            return None
        vectors = [ops.reshape(tensor, [-1]) for tensor in tensors]
        return vectors[0] if len(vectors) == 1 else ops.concat(vectors, 0)


@public("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Makes a loss small by scipy.optimize.minimize; needs scipy (`pip install stillflow[scipy]`).

    Further arguments are those of scipy.optimize.minimize, as `method`, by default "L-BFGS-B", and `options`.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
        inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs,
    ):  # fmt: skip
        def loss_and_gradient(position):
            loss, gradient = loss_grad_func(position)
            return float(loss), gradient.astype(np.float64)

        kwargs = dict(optimizer_kwargs)
        method = kwargs.pop("method", self._DEFAULT_METHOD)
        own = {
            "jac": True,
            "callback": step_callback,
            "method": method,
            "constraints": [
                *_constraints("eq", equality_funcs, equality_grad_funcs),
                *_constraints("ineq", inequality_funcs, inequality_grad_funcs),
            ],
            "bounds": packed_bounds,
        }
        if "bounds" in kwargs:
            raise ValueError("Bounds must be set using the var_to_bounds argument")
        for name in own:
            if name in kwargs:
                raise ValueError(
                    f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually"
                )
        start = np.asarray(initial_val, np.float64)
        result = _scipy_minimize()(loss_and_gradient, start, **own, **kwargs)
        _log(result)
        return result["x"]


class _Runs:
    """Functions of a vector that a session computes."""

    def __init__(self, session, feed_dict, fetches, variables, slices):
        self._session = session
        self._feed_dict = feed_dict
        self._fetches = fetches
        self._variables = variables
        self._slices = slices

    def function(self, tensors, callback=None):
        """A function from a vector to the values of tensors; the callback gets those of the fetches."""

        def values_at(position):
            feeds = {
                v: position[part].reshape(_shape(v)) for v, part in zip(self._variables, self._slices, strict=True)
            }
            values = self._session.run([*tensors, *self._fetches], feed_dict={**feeds, **self._feed_dict})
            if callback is not None:
                callback(*values[len(tensors) :])
            return values[: len(tensors)]

        return values_at


def _scipy_minimize():
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise ImportError("ScipyOptimizerInterface needs scipy: pip install stillflow[scipy]") from None
    return minimize


def _constraints(kind, functions, gradient_functions):
    """Constraints as scipy has them, of values that are lists of one."""
    for function, gradient in zip(functions, gradient_functions, strict=True):
        yield {"type": kind, "fun": _as_double(function), "jac": _as_double(gradient)}


def _as_double(function):
    return lambda position: np.asarray(function(position)[0], np.float64)  # SLSQP insists on it


def _log(result):
    lines = [
        "Optimization terminated with:",
        f"  Message: {_text(result.message)}",
        f"  Objective function value: {float(result.fun):f}",
    ]
    if hasattr(result, "nit"):
        lines.append(f"  Number of iterations: {result.nit}")
    if hasattr(result, "nfev"):
        lines.append(f"  Number of functions evaluations: {result.nfev}")
    logging.info("%s", "\n".join(lines))


def _text(message):
    return message.decode() if isinstance(message, bytes) else message


def _packed_bounds(variables, var_to_bounds):
    """A pair for each element of the vector of all variables."""
    pairs: list[tuple[float, float]] = []
    for v in variables:
        least, greatest = var_to_bounds.get(v, (-np.inf, np.inf))
        pairs.extend(
            zip(np.broadcast_to(least, _shape(v)).flat, np.broadcast_to(greatest, _shape(v)).flat, strict=True)
        )
    return pairs


def _shape(v):
    return tuple(v.get_shape().as_list())


def _gradients(tensor, variables):
    found = gradients(tensor, variables)
    return [ops.zeros_like(v) if grad is None else grad for grad, v in zip(found, variables, strict=True)]
