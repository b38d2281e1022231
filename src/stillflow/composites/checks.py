"""Assertions about values, signs, ranks and types."""

from __future__ import annotations

import operator

import numpy as np

from stillflow import errors, ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_n_to_tensor, convert_to_tensor


@public("Assert", "debugging.Assert")
@by_mode
def assert_that(condition, data, summarize=None, name=None):
    """An operation that fails with the values of `data` where `condition` is false."""
    with name_scope(name, "Assert", [condition, *data]):
        tensors = convert_n_to_tensor(data)

        def check():
            return ops.assert_op(condition, data, summarize=summarize, name="Assert")

        if all(tensor.dtype in (dtypes.string, dtypes.int32) for tensor in tensors):
            return check()
        # What is in another place comes here only to be shown.
        condition = convert_to_tensor(condition, name="Condition")
        return cond(condition, ops.no_op, check, name="AssertGuard").op


# ---- Comparisons ----------------------------------------------------------------------------------------------

# Name -> the sign in messages, the op, and the same for known values.
_COMPARISONS = {
    "assert_equal": ("==", "equal", operator.eq),
    "assert_none_equal": ("!=", "not_equal", operator.ne),
    "assert_less": ("<", "less", operator.lt),
    "assert_less_equal": ("<=", "less_equal", operator.le),
    "assert_greater": (">", "greater", operator.gt),
    "assert_greater_equal": (">=", "greater_equal", operator.ge),
}


def assert_comparison(kind, x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails where a comparison does not hold for all elements; `kind` is a name as "assert_less".

    Raises InvalidArgumentError if it is known not to hold.
    """
    sign, op_name, known = _COMPARISONS[kind]
    if kind == "assert_equal":
        with name_scope(name, kind, [x, y, *(data or ())]):  # TensorFlow takes a name for this question alone
            if x is y:
                return ops.no_op()
    with name_scope(name, kind, [x, y, *(data or ())]):
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        return check_comparison(sign, getattr(ops, op_name), known, x, y, data, summarize, message)


@by_mode
def check_comparison(sign, compare, known, x, y, data, summarize, message):
    """assert_comparison of tensors: `compare` is the op, `known` the same for arrays, `sign` what messages have."""
    if data is None:
        data = [
            f"Condition x {sign} y did not hold element-wise:", f"x ({x.name}) = ", x, f"y ({y.name}) = ", y,
        ]  # fmt: skip
    if message is not None:
        data = [message, *data]
    condition = ops.reduce_all(compare(x, y))
    x_value, y_value = constant_value(x), constant_value(y)
    if x_value is not None and y_value is not None and not np.all(known(x_value, y_value)):
        raise _known_to_fail(data)
    return assert_that(condition, data, summarize)


def _known_to_fail(data):
    lines = []
    for item in data:
        value = constant_value(item) if isinstance(item, Tensor) else item
        lines.append(str(item if value is None else value))
    return errors.InvalidArgumentError(None, None, "\n".join(lines))


@public("assert_near", "debugging.assert_near")
def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless |x - y| <= atol + rtol * |y| for all elements.

    The tolerances are ten times the type's machine epsilon where they are not given.
    """
    message = message or ""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype, name="y")
        default = 10 * np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(default if rtol is None else rtol, x.dtype, name="rtol")
        atol = convert_to_tensor(default if atol is None else atol, x.dtype, name="atol")
        if data is None:
            data = [
                message, f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
                f"x ({x._description}) = ", x, f"y ({y._description}) = ", y,
            ]  # fmt: skip
        tolerance = atol + rtol * ops.abs(y)
        condition = ops.reduce_all(ops.less(ops.abs(x - y), tolerance))
        return assert_that(condition, data, summarize)


# Name -> the sign in messages, the comparison, and whether zero is its first side.
_SIGNS = {
    "assert_positive": (">", "assert_less", True),
    "assert_negative": ("<", "assert_less", False),
    "assert_non_negative": (">=", "assert_less_equal", True),
    "assert_non_positive": ("<=", "assert_less_equal", False),
}


def assert_sign(kind, x, data=None, summarize=None, message=None, name=None):
    """An operation that fails where elements do not have the sign that `kind` names, as "assert_positive"."""
    sign, comparison, zero_first = _SIGNS[kind]
    with name_scope(name, kind, [x, *(data or ())]):
        x = convert_to_tensor(x, name="x")
        if data is None:
            text, value = f"Condition x {sign} 0 did not hold element-wise:", f"x ({x._description}) = "
            texts = [text + value] if kind == "assert_non_positive" else [text, value]  # as TensorFlow has it
            data = [message or "", *texts, x]
        zero = convert_to_tensor(0, x.dtype)
        sides = (zero, x) if zero_first else (x, zero)
        return assert_comparison(comparison, *sides, data=data, summarize=summarize)


# ---- Types and finiteness ---------------------------------------------------------------------------------------


@public("assert_type", "debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless `tensor` is of type `tf_type`; returns an operation that does nothing."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype is not dtypes.as_dtype(tf_type):
            what = f"  {tensor._label}" if tensor._label else " tensor"
            raise TypeError(f"{message or ''}{what} must be of type {tf_type}")
        return ops.no_op(name="statically_determined_correct_type")


@public("assert_integer", "debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """Raises TypeError unless `x` is of an integer type; returns an operation that does nothing."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            what = x._label or "tensor"
            raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {what} of dtype {x.dtype}')
        return ops.no_op(name="statically_determined_was_integer")


@public("assert_scalar", "debugging.assert_scalar", "contrib.framework.assert_scalar")
def assert_scalar(tensor, name=None, message=None):
    """`tensor`. Raises ValueError unless it is known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.rank != 0:
            which = f" for {tensor._label}" if tensor._label else ""
            raise ValueError(f"{message or ''}Expected scalar shape{which}, saw shape: {tensor.shape}.")
        return tensor


@public("verify_tensor_all_finite", "debugging.assert_all_finite")
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """`t`, after a check that it holds no infinities and no NaN; the error says `msg`."""
    x = renamed("x", x, "t", t)
    message = renamed("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with get_default_graph().colocate_with(x._op):
            checked = ops.check_numerics(x, message)
            return with_dependencies([checked], x)


# ---- Order ------------------------------------------------------------------------------------------------------


# What TensorFlow takes for numbers here.
_NUMBERS = frozenset(
    (
        dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
        dtypes.qint8, dtypes.qint32, dtypes.quint8, dtypes.complex64,
    )
)  # fmt: skip


@public("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric(tensor):
    """Whether `tensor` is a tensor of numbers, except for 16-bit floats, complex128 and wide unsigned integers."""
    return isinstance(tensor, Tensor) and tensor.dtype in _NUMBERS


def is_monotonic(x, is_strict, name=None):
    """A bool scalar: whether no element is smaller than the one before, or, if `is_strict`, each is larger.

    Elements are compared in the order in which they lie. Raises TypeError if `x` is not numeric.
    """
    with name_scope(name, "is_strictly_increasing" if is_strict else "is_non_decreasing", [x]):
        x = ops.reshape(x, [-1])
        dtype = x.dtype.base_dtype
        if not is_numeric(x):
            raise TypeError(f"Expected x to be numeric, instead found: {x}")
        is_short = ops.less(ops.size(x), 2)
        count = ops.shape(x) - 1

        def differences():
            return ops.strided_slice(x, [1], [1] + count) - ops.strided_slice(x, [0], count)

        steps = cond(is_short, lambda: convert_to_tensor([], dtype=dtype), differences)
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return ops.reduce_all((ops.less if is_strict else ops.less_equal)(zero, steps))


@public("assert_equal", "debugging.assert_equal")
def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x == y for all elements."""
    return assert_comparison("assert_equal", x, y, data, summarize, message, name)


@public("assert_none_equal", "debugging.assert_none_equal")
def assert_none_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x != y for all elements."""
    return assert_comparison("assert_none_equal", x, y, data, summarize, message, name)


@public("assert_less", "debugging.assert_less")
def assert_less(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x < y for all elements."""
    return assert_comparison("assert_less", x, y, data, summarize, message, name)


@public("assert_less_equal", "debugging.assert_less_equal")
def assert_less_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x <= y for all elements."""
    return assert_comparison("assert_less_equal", x, y, data, summarize, message, name)


@public("assert_greater", "debugging.assert_greater")
def assert_greater(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x > y for all elements."""
    return assert_comparison("assert_greater", x, y, data, summarize, message, name)


@public("assert_greater_equal", "debugging.assert_greater_equal")
def assert_greater_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x >= y for all elements."""
    return assert_comparison("assert_greater_equal", x, y, data, summarize, message, name)


@public("assert_positive", "debugging.assert_positive")
def assert_positive(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x > 0 for all elements."""
    return assert_sign("assert_positive", x, data, summarize, message, name)


@public("assert_negative", "debugging.assert_negative")
def assert_negative(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x < 0 for all elements."""
    return assert_sign("assert_negative", x, data, summarize, message, name)


@public("assert_non_negative", "debugging.assert_non_negative")
def assert_non_negative(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x >= 0 for all elements."""
    return assert_sign("assert_non_negative", x, data, summarize, message, name)


@public("assert_non_positive", "debugging.assert_non_positive")
def assert_non_positive(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x <= 0 for all elements."""
    return assert_sign("assert_non_positive", x, data, summarize, message, name)


@public("is_non_decreasing", "debugging.is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x, name=None):
    """A bool scalar: whether no element is smaller than the one before. Raises TypeError if `x` is not numeric."""
    return is_monotonic(x, False, name)


@public("is_strictly_increasing", "debugging.is_strictly_increasing", "math.is_strictly_increasing")
def is_strictly_increasing(x, name=None):
    """A bool scalar: whether each element is larger than the one before. Raises TypeError if `x` is not numeric."""
    return is_monotonic(x, True, name)
