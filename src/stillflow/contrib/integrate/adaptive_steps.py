"""odeint: integration of differential equations by steps that are as large as an error bound allows."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.contrib.integrate.given import after_check_of_order, check_types
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor

# Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980. The last row of the stages gives the solution
# too.
_TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (
    1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192, -12231 / 42400 + 2187 / 6784,
    649 / 6300 - 11 / 84, 1 / 60,
)  # fmt: skip
# Shampine, "Some practical Runge-Kutta formulas", 1986: the state in the middle of a step.
_MIDDLE = (
    6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2, -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip


class _State(NamedTuple):
    """A step: state and derivative at its end, times of both ends, size of the next, polynomial of its states."""

    y: Any
    f: Any
    begin: Any
    end: Any
    dt: Any
    polynomial: Any


class _History(NamedTuple):
    integrate_points: Any
    error_ratio: Any

    def with_step(self, point, ratio):
        return _History(
            *(array.write(array.size(), value) for array, value in zip(self, (point, ratio), strict=True))
        )


class _Control(NamedTuple):
    """What limits steps."""

    first_step: Any = 1.0
    safety: Any = 0.9
    ifactor: Any = 10.0
    dfactor: Any = 0.2
    max_num_steps: Any = 1000

    def next_size(self, dt, ratio):
        """The size of the step after one of size `dt` whose error was `ratio` times what is allowed."""
        ratio = ops.cast(ratio, dt.dtype) ** ops.cast(1 / 5, dt.dtype)
        return dt / ops.maximum(1 / self.ifactor, ops.minimum(ratio / self.safety, 1 / self.dfactor))


@public("contrib.integrate.odeint")
def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None, full_output=False, name=None):
    """The solution of dy/dt = func(y, t), y(t[0]) = y0 at times t: [times, *shape of y0].

    Args:
      func: a function of the state and the time that returns the derivative.
      y0: the state at the first time.
      t: increasing times.
      rtol, atol: a step's error is at most atol + rtol |y|.
      method: "dopri5", the pair of Dormand and Prince.
      options: a dictionary of first_step, the size of the first step; safety, what the size that the error bound
        allows is multiplied by; ifactor and dfactor, by which a step's size is multiplied at the most and at the
        least; max_num_steps, how many steps there may be from one time to the next.
      full_output: whether the result is (solution, {"num_func_evals", "integrate_points", "error_ratio"}).
      name: of the name scope.

    Raises:
      ValueError: for another method, or options without one.
      TypeError: for types that are not floating.
      At run time: tf.errors.InvalidArgumentError for times that do not increase, for states that are not finite, and
        for too many or too small steps.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        check_types(y0, t)
        error_dtype = ops.abs(y0).dtype
        rtol = convert_to_tensor(rtol, dtype=error_dtype, name="rtol")
        atol = convert_to_tensor(atol, dtype=error_dtype, name="atol")
        given = _Control(**(options or {}))
        control = _Control(*(
            convert_to_tensor(value, dtypes.int32 if key == "max_num_steps" else t.dtype, name=key)
            for key, value in given._asdict().items()
        ))  # fmt: skip
        y, history = _integrate(func, y0, t, rtol, atol, control, scope)
        if not full_output:
            return y
        points = history.integrate_points.stack()
        return y, {
            "num_func_evals": 6 * ops.size(points) + 1,
            "integrate_points": points,
            "error_ratio": history.error_ratio.stack(),
        }


def _integrate(func, y0, t, rtol, atol, control, name):
    def step(state, history, number):
        checks = [
            assert_that(state.end + state.dt > state.end, ["underflow in dt", state.dt]),
            assert_that(number < control.max_num_steps, ["max_num_steps exceeded"]),
            assert_that(ops.reduce_all(ops.is_finite(ops.abs(state.y))), ["non-finite values in state `y`", state.y]),
        ]
        with control_dependencies(checks):
            y, f, error, k = _step(func, state)
        ratio = _error_ratio(error, atol + rtol * ops.maximum(ops.abs(state.y), ops.abs(y)))
        is_good = ratio <= 1
        end = state.end + state.dt
        after = _State(
            cond(is_good, lambda: y, lambda: state.y),
            cond(is_good, lambda: f, lambda: state.f),
            state.end,
            cond(is_good, lambda: end, lambda: state.end),
            control.next_size(state.dt, ratio),
            cond(is_good, lambda: _polynomial(state, y, k), lambda: list(state.polynomial)),
        )
        return after, history.with_step(end, ratio), number + 1

    def until_time(solution, history, state, i):
        state, history, _ = while_loop(
            lambda state, *_: t[i] > state.end, step, (state, history, 0), name="integrate_loop"
        )
        return solution.write(i, _value_at(state, t[i])), history, state, i + 1

    with after_check_of_order(t):
        count = ops.size(t)
    solution = TensorArray(y0.dtype, size=count).write(0, y0)
    history = _History(*(TensorArray(dtype, size=0, dynamic_size=True) for dtype in (t.dtype, rtol.dtype)))
    state = _State(y0, func(y0, t[0]), t[0], t[0], control.first_step, [y0] * 5)
    solution, history, _, _ = while_loop(
        lambda solution, history, state, i: i < count, until_time, (solution, history, state, 1),
        name="interpolate_loop",
    )  # fmt: skip
    y = solution.stack(name=name)
    y.set_shape(t.get_shape().concatenate(y0.get_shape()))
    return y, history


def _sum(scale, factors, tensors):
    """The sum of tensors times factors, those that are not 0, times a scale."""
    return ops.add_n([scale * factor * x for factor, x in zip(factors, tensors, strict=True) if factor])


def _step(func, state):
    """(state after one step, derivative there, error, derivatives at all stages)."""
    dt = ops.cast(state.dt, state.y.dtype)
    k = [state.f]
    for at, factors in zip(_TIMES, _STAGES, strict=True):
        y = state.y + _sum(dt, factors, k)
        k.append(func(y, state.end + at * state.dt))
    return y, k[-1], _sum(dt, _ERROR, k), k


def _error_ratio(error, allowed):
    return ops.sqrt(ops.reduce_mean(_squared_size(error) / _squared_size(allowed)))


def _squared_size(x):
    return ops.square(ops.real(x)) + ops.square(ops.imag(x)) if x.dtype.is_complex else ops.square(x)


def _polynomial(state, y, k):
    """The coefficients of the states in a step as a polynomial of degree 4, that of the highest power first."""
    dt = ops.cast(state.dt, state.y.dtype)
    middle = state.y + _sum(dt, _MIDDLE, k)
    known = [k[0], k[-1], state.y, y, middle]
    factors = [
        [-2 * dt, 2 * dt, -8, -8, 16],
        [5 * dt, -3 * dt, 18, 14, -32],
        [-4 * dt, dt, -11, -5, 16],
    ]
    highest = [ops.add_n([factor * x for factor, x in zip(row, known, strict=True)]) for row in factors]
    return [*highest, dt * k[0], state.y]


def _value_at(state, time):
    """The state at a time within a step."""
    check = assert_that((state.begin <= time) & (time <= state.end),
                   ["invalid interpolation, fails `t0 <= t <= t1`:", state.begin, time, state.end])  # fmt: skip
    with control_dependencies([check]):
        x = ops.cast((time - state.begin) / (state.end - state.begin), state.y.dtype)
    powers = [ops.constant(1, x.dtype), x]
    while len(powers) < len(state.polynomial):
        powers.append(powers[-1] * x)
    return ops.add_n([c * power for c, power in zip(state.polynomial, reversed(powers), strict=True)])
