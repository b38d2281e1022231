"""Rules of algebra that users register for operators of their own classes."""

import pytest

import stillflow as tf
from stillflow.linear_operators import algebra
from stillflow.linear_operators.base import LinearOperator


def _operator(hint=True):
    class Mine(LinearOperator):
        def _shape(self):
            return tf.TensorShape([1, 1])

        def _shape_tensor(self):
            return tf.constant([1, 1])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return x

    return Mine, Mine(dtype=None, is_self_adjoint=hint, is_positive_definite=hint)


@pytest.mark.parametrize("name", ["Adjoint", "Cholesky", "Inverse"])
def test_a_rule_for_one_operator_is_used_once_registered(name):
    kind, operator = _operator(hint=True if name == "Cholesky" else None)
    register = getattr(algebra, f"Register{name}")
    register(kind)(lambda a: "found")
    assert getattr(operator, name.lower())() == "found"
    with pytest.raises(ValueError, match=rf"{name}\(.*\) has already been registered to: "):
        register(kind)(lambda a: None)


@pytest.mark.parametrize("name", ["Matmul", "Solve"])
def test_a_rule_for_two_operators_is_used_once_registered(name):
    kind, operator = _operator()
    register = getattr(algebra, f"Register{name}")
    register(kind, kind)(lambda a, b: "found")
    assert getattr(operator, name.lower())(operator) == "found"
    with pytest.raises(ValueError, match=rf"{name}\(.*, .*\) has already been registered."):
        register(kind, kind)(lambda a, b: None)
    with pytest.raises(TypeError, match=f"{name.lower()}_fn must be callable, received: no function"):
        register(kind, object)("no function")
