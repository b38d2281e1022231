"""tf.*: assertions, and printing of values."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks, rank_checks, shape_checks
from stillflow.composites.printing import print_tensors
from stillflow.facade.arguments import renamed

__all__ = [
    "Assert",
    "Print",
    "add_check_numerics_ops",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_type",
    "is_non_decreasing",
    "is_numeric_tensor",
    "is_strictly_increasing",
    "print",
    "verify_tensor_all_finite",
]


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless tensors have the sizes that symbols say, equal symbols meaning equal sizes.

    Args:
      shapes: {tensor: symbols} or pairs of them. A symbol is a number, a name such as "N", or None or "." for any
        size; the first may be `...` or "*" for any number of dimensions.
      data, summarize, message, name: as for the other checks.

    Raises ValueError if sizes are known not to agree, and for symbols of another form.
    """
    return shape_checks.assert_shapes(shapes, data, summarize, message, name)


def assert_proper_iterable(values):
    """Raises TypeError unless `values` is iterable, but no tensor, array or text."""
    shape_checks.assert_proper_iterable(values)


def assert_same_float_dtype(tensors=None, dtype=None):
    """The floating type that all tensors, and `dtype` if it is given, have; float32 without any.

    Raises ValueError if they have different types, or one that is not floating.
    """
    return shape_checks.assert_same_float_dtype(tensors, dtype)


def add_check_numerics_ops():
    """An operation that fails where any floating tensor of the graph, as it is now, has an infinity or a NaN."""
    return shape_checks.add_check_numerics_ops()


def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x == y for all elements."""
    return checks.assert_comparison("assert_equal", x, y, data, summarize, message, name)


def assert_none_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x != y for all elements."""
    return checks.assert_comparison("assert_none_equal", x, y, data, summarize, message, name)


def assert_less(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x < y for all elements."""
    return checks.assert_comparison("assert_less", x, y, data, summarize, message, name)


def assert_less_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x <= y for all elements."""
    return checks.assert_comparison("assert_less_equal", x, y, data, summarize, message, name)


def assert_greater(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x > y for all elements."""
    return checks.assert_comparison("assert_greater", x, y, data, summarize, message, name)


def assert_greater_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x >= y for all elements."""
    return checks.assert_comparison("assert_greater_equal", x, y, data, summarize, message, name)


def assert_positive(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x > 0 for all elements."""
    return checks.assert_sign("assert_positive", x, data, summarize, message, name)


def assert_negative(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x < 0 for all elements."""
    return checks.assert_sign("assert_negative", x, data, summarize, message, name)


def assert_non_negative(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x >= 0 for all elements."""
    return checks.assert_sign("assert_non_negative", x, data, summarize, message, name)


def assert_non_positive(x, data=None, summarize=None, message=None, name=None):
    """An operation that fails, with `message` and `data`, unless x <= 0 for all elements."""
    return checks.assert_sign("assert_non_positive", x, data, summarize, message, name)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """`t`, after a check that it holds no infinities and no NaN; the error says `msg`."""
    return checks.verify_tensor_all_finite(renamed("x", x, "t", t), renamed("message", message, "msg", msg), name)


def is_non_decreasing(x, name=None):
    """A bool scalar: whether no element is smaller than the one before. Raises TypeError if `x` is not numeric."""
    return checks.is_monotonic(x, False, name)


def is_strictly_increasing(x, name=None):
    """A bool scalar: whether each element is larger than the one before. Raises TypeError if `x` is not numeric."""
    return checks.is_monotonic(x, True, name)


def is_numeric_tensor(tensor):
    """Whether `tensor` is a tensor of numbers, except for 16-bit floats, complex128 and wide unsigned integers."""
    return checks.is_numeric(tensor)


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802
    """`input_`, and whenever it is computed `message` and the values of `data` are written to stderr.

    Args:
      first_n: how many times; None for always.
      summarize: how many elements of each tensor; 3 by default.
    """
    attrs = {"message": message, "first_n": first_n, "summarize": summarize}
    return ops.print_op(input_, data, name=name, **attrs)


Assert = checks.assert_that
print = print_tensors
assert_near = checks.assert_near
assert_type = checks.assert_type
assert_integer = checks.assert_integer
assert_scalar = checks.assert_scalar
assert_rank = rank_checks.assert_rank
assert_rank_at_least = rank_checks.assert_rank_at_least
assert_rank_in = rank_checks.assert_rank_in
