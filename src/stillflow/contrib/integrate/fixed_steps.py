"""odeint_fixed: integration of differential equations by steps of given sizes."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.integrate.given import after_check_of_order, check_types
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor


@public("contrib.integrate.odeint_fixed")
def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """The solution of dy/dt = func(y, t), y(t[0]) = y0 at times t: [times, *shape of y0].

    Args:
      func: a function of the state and the time that returns the derivative.
      y0: the state at the first time.
      t: increasing times.
      dt: a size for the steps, or one for each interval between the times; made smaller so that a whole number of
        steps fits. By default each interval is one step.
      method: "midpoint" or "rk4".
      name: of the name scope.

    Raises:
      TypeError: for types that are not floating.
      ValueError: for shapes that do not fit, and another method.
      At run time: tf.errors.InvalidArgumentError for times that do not increase.
    """
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        dt = convert_to_tensor(intervals if dt is None else dt, preferred_dtype=dtypes.float64, name="dt")
        counts = ops.ceil(intervals / dt)
        dt = intervals / counts
        check_types(y0, t, dt)
        _check_shapes(t, dt)
        with after_check_of_order(t), name_scope(method):
            if method not in _METHODS:
                raise ValueError(f"method not supported: {method!s}")
            return _integrate(_METHODS[method], func, y0, t, dt, ops.cast(counts, dtypes.int32))


def _check_shapes(t, dt):
    if len(t.get_shape().as_list()) > 1 or len(dt.get_shape().as_list()) > 1:
        raise ValueError("t must be a 1D tensor")
    if t.get_shape().dims[0] != dt.get_shape().dims[0] + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


def _integrate(change, func, y0, times, sizes, counts):
    """The states at `times`, which `counts` steps of `sizes` lead to from each to the next."""

    def over_interval(states, y, t, interval):
        def step(y, t, number):
            dt = sizes[interval - 1]
            return y + ops.cast(change(func, t, dt, y), y.dtype), t + dt, number + 1

        y, t, _ = while_loop(lambda y, t, number: number < counts[interval - 1], step, (y, t, 0))
        return states.write(interval, y), y, t, interval + 1

    count = ops.size(times)
    states = TensorArray(y0.dtype, count).write(0, y0)
    states, *_ = while_loop(
        lambda states, y, t, interval: interval < count, over_interval, (states, y0, times[0], 1)
    )  # fmt: skip
    found = states.stack()
    found.set_shape(times.get_shape().concatenate(y0.get_shape()))
    return found


def _midpoint(func, t, dt, y):
    size = ops.cast(dt, y.dtype)
    return size * func(y + func(y, t) * size / 2, t + dt / 2)


def _runge_kutta(func, t, dt, y):
    size = ops.cast(dt, y.dtype)
    middle = t + dt / 2
    k1 = func(y, t)
    k2 = func(y + size * k1 / 2, middle)
    k3 = func(y + size * k2 / 2, middle)
    k4 = func(y + size * k3, t + dt)
    return ops.add_n([k1, 2 * k2, 2 * k3, k4]) * (size / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _runge_kutta}
