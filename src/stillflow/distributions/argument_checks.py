"""What distributions check of parameters and values when validate_args is set."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor

_INTEGERS_OF_WIDTH = {
    dtypes.float16: dtypes.int16,
    dtypes.float32: dtypes.int32,
    dtypes.float64: dtypes.int64,
}


@public(
    "python.ops.distributions.util.assert_integer_form",
    "contrib.distributions.python.ops.distribution_util.assert_integer_form",
)
def assert_integer_form(x, data=None, summarize=None, message=None, int_dtype=None, name="assert_integer_form"):
    """An operation that fails unless all numbers are whole ones that `int_dtype` holds.

    Raises TypeError for a type of floats for which no integers are known.
    """
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return ops.no_op()
        message = message or f"{x} has non-integer components"
        if int_dtype is None:
            if x.dtype.base_dtype not in _INTEGERS_OF_WIDTH:
                raise TypeError(f"Unrecognized type {x.dtype.name}")
            int_dtype = _INTEGERS_OF_WIDTH[x.dtype.base_dtype]
        whole = ops.cast(ops.cast(x, int_dtype), x.dtype)
        return checks.assert_equal(x, whole, data=data, summarize=summarize, message=message, name=name)


@public(
    "python.ops.distributions.util.embed_check_nonnegative_integer_form",
    "contrib.distributions.python.ops.distribution_util.embed_check_nonnegative_integer_form",
)
def check_nonnegative_integers(x, name="embed_check_nonnegative_integer_form"):
    """x, after checking that its numbers are whole and none is negative."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        needed = [checks.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            needed.append(assert_integer_form(x, message=f"'{x}' cannot contain fractional components."))
        return with_dependencies(needed, x)


def _is_known(dtype):
    return dtype.is_integer or dtype.is_floating or dtype.base_dtype == dtypes.bool_


def _largest_integer(dtype):
    """The largest n so that all integers from 0 to n are numbers of that type."""
    if not _is_known(dtype):
        raise TypeError(f"Unrecognized dtype: {dtype.name}")
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    return np.iinfo(dtype.as_numpy_dtype).max if dtype.is_integer else 1


def _smallest_integer(dtype):
    """0, or, where there are negative numbers of that type, minus the largest integer."""
    is_unsigned = dtype.base_dtype == dtypes.bool_ or dtype.is_unsigned
    return 0 if is_unsigned else -_largest_integer(dtype)


def _is_integer_like(dtype):
    return dtype.is_integer or dtype.base_dtype == dtypes.bool_


@public(
    "python.ops.distributions.util.embed_check_integer_casting_closed",
    "contrib.distributions.python.ops.distribution_util.embed_check_integer_casting_closed",
)
def check_casting_is_exact(x, target_dtype, assert_nonnegative=True, name="embed_check_casting_closed"):
    """x, after checking that all of its numbers are whole ones that another type holds.

    `assert_nonnegative` says whether no number may be negative. Raises TypeError unless one of the types is of
    integers or bools, and the other too or of floats.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not _is_integer_like(x.dtype) and not x.dtype.is_floating:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not _is_integer_like(target_dtype):
            if not target_dtype.is_floating:
                raise TypeError(f"target_dtype ({target_dtype.name}) must be floating- or integer-type.")
            if not _is_integer_like(x.dtype):
                raise TypeError(
                    f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target_dtype.name}) must be "
                    "integer-type."
                )
        needed = []
        if assert_nonnegative:
            needed.append(checks.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            message = f"Elements must be {target_dtype.name}-equivalent."
            needed.append(assert_integer_form(x, int_dtype=target_dtype, message=message))
        else:
            needed += _range_checks(x, target_dtype, assert_nonnegative)
        return with_dependencies(needed, x) if needed else x


def _range_checks(x, dtype, is_nonnegative):
    """Checks that whole numbers are within what a type holds, where the type of x does not say so."""
    needed = []
    largest, smallest = _largest_integer(dtype), _smallest_integer(dtype)
    if _largest_integer(x.dtype) > largest:
        needed.append(checks.assert_less_equal(x, largest, message=f"Elements cannot exceed {largest}."))
    if not is_nonnegative and _smallest_integer(x.dtype) < smallest:
        message = f"Elements cannot be smaller than {smallest}."
        needed.append(checks.assert_greater_equal(x, smallest, message=message))
    return needed


@public(
    "python.ops.distributions.util.embed_check_categorical_event_shape",
    "contrib.distributions.python.ops.distribution_util.embed_check_categorical_event_shape",
)
def check_number_of_classes(parameter, name="embed_check_categorical_event_shape"):
    """A categorical distribution's parameter, after checking that there are two classes or more, and not too many.

    Raises:
      TypeError: for a type that is not of floats.
      ValueError: if the number of classes is known and does not do.
    """
    with name_scope(name, values=[parameter]):
        x = convert_to_tensor(parameter, name="categorical_param")
        dtype = x.dtype.base_dtype
        most = _largest_integer(dtype) if dtype.is_floating else 0
        if most == 0:
            raise TypeError(f"Unable to validate size of unrecognized dtype ({dtype.name}).")
        too_low = "A categorical-distribution parameter must have at least 1 dimension."
        too_few = "A categorical-distribution parameter must have at least 2 events."
        if x.shape.ndims == 0:
            raise ValueError(too_low)
        classes = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if classes is None:
            classes = ops.shape(x, name="x_shape")[-1]
            needed = [
                assert_rank_at_least(x, 1, message=too_low),
                checks.assert_greater_equal(ops.shape(x)[-1], 2, message=too_few),
                checks.assert_less_equal(
                    classes, most,
                    message="Number of classes exceeds `dtype` precision, i.e., "
                    f"{dtype.name} dtype cannot exceed {most} shape.",
                ),
            ]  # fmt: skip
            return with_dependencies(needed, x)
        if classes < 2:
            raise ValueError(too_few)
        if classes > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} implies shape ({classes}) "
                f"cannot exceed {most}."
            )
        return x


def _checked_probabilities(probs, multidimensional):
    with name_scope("validate_probs"):
        one = ops.constant(1.0, probs.dtype)
        needed = [checks.assert_non_negative(probs)]
        if multidimensional:
            probs = check_number_of_classes(probs)
            needed.append(checks.assert_near(ops.reduce_sum(probs, -1), one, message="probs does not sum to 1."))
        else:
            needed.append(checks.assert_less_equal(probs, one, message="probs has components greater than 1."))
        return with_dependencies(needed, probs)


@public(
    "python.ops.distributions.util.get_logits_and_probs",
    "contrib.distributions.python.ops.distribution_util.get_logits_and_probs",
)
def get_logits_and_probs(
    logits=None, probs=None, multidimensional=False, validate_args=False, name="get_logits_and_probs", dtype=None
):
    """(logits, probabilities) of which one is given: of events, or with `multidimensional` of classes.

    Raises:
      ValueError: if both are given or none.
      TypeError: for what is not of floats.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, dtype, "logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not multidimensional:
                return logits, ops.sigmoid(logits, name="probs")
            if validate_args:
                logits = check_number_of_classes(logits)
            return logits, ops.softmax(logits, name="probs")
        probs = convert_to_tensor(probs, dtype, "probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked_probabilities(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return ops.log(probs), probs
            return ops.log(probs) - ops.log1p(-1.0 * probs), probs


@public(
    "python.ops.distributions.util.log_combinations",
    "contrib.distributions.python.ops.distribution_util.log_combinations",
)
def log_combinations(n, counts, name="log_combinations"):
    """The logarithm of the multinomial coefficient n! / (counts[0]! counts[1]! ...), along the last dimension."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        orders = ops.lgamma(n + 1)
        return orders - ops.reduce_sum(ops.lgamma(counts + 1), axis=[-1])
