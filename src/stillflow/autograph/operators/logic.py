"""not, and, or, ==, !=: on tensors, operations; `and` and `or` compute the second value if it counts."""

from __future__ import annotations

from stillflow import ops
from stillflow.autograph.operators.values import is_tensor
from stillflow.ops.control_flow.cond import cond


def not_(a):
    return ops.logical_not(a) if is_tensor(a) else not a


def and_(a, b):
    """`a() and b()`."""
    value = a()
    return cond(value, b, lambda: value) if is_tensor(value) else value and b()


def or_(a, b):
    """`a() or b()`."""
    value = a()
    return cond(value, lambda: value, b) if is_tensor(value) else value or b()


def eq(a, b):
    return ops.equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a, b):
    return not_(eq(a, b))


def loop_test(test, goes_on):
    """Whether a loop with a break has another round."""
    further = goes_on()
    if not is_tensor(further):
        return test() if further else False
    return and_(test, lambda: further)
