"""einsum, tensordot and norm against numpy, with gradients and bad input."""

import numpy as np
import pytest

from stillflow.composites.einsum import einsum
from stillflow.composites.linear_algebra import norm, tensordot
from stillflow.testing import check_gradient, evaluate

EQUATIONS = [
    "ij,jk->ik", "ij,jk", "ij->ji", "ij->", "bij,jk->bik", "bij,bjk->bik", "bij,ij->b", "i,j->ij", "ij,ij->ij",
    "abc,cd,da->b", "bhqd,bhkd->bhqk", "ijk,kj->i",
]  # fmt: skip
SIZES = dict(zip("abcdhijkq", [2, 3, 4, 5, 2, 3, 4, 2, 3], strict=True))


def operands(equation, rng):
    return [rng.standard_normal([SIZES[axis] for axis in part]) for part in equation.split("->")[0].split(",")]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_is_numpys(equation, rng):
    arrays = operands(equation, rng)
    result = evaluate(lambda *tensors: einsum(equation, *tensors), *arrays)
    np.testing.assert_allclose(result, np.einsum(equation, *arrays), rtol=1e-9, atol=1e-12)
    check_gradient(lambda *tensors: einsum(equation, *tensors), *arrays)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("i...,i->", "Got 1 arguments"), ("ii->i", "more than once: ii"), ("i->j", "Invalid equation"),
        ("i,j->ij", "Got 1 arguments .* expecting 2"), ("ij->i", "Invalid reduction dimension"),
        ("i->->", "incorrect format"), ("i->ii", "Invalid equation"),
    ],
)  # fmt: skip
def test_bad_equations_are_refused(equation, message):
    with pytest.raises(ValueError, match=message):
        einsum(equation, [1.0, 2.0])


@pytest.mark.parametrize("axes", [0, 1, 2, [[2], [0]], [[1, 2], [1, 0]], [1, 1], [[-1], [0]]])
def test_tensordot_is_numpys(axes, rng):
    a = rng.standard_normal((2, 3, 4))
    b = rng.standard_normal((3, 4) if axes == 2 else (4, 3))
    np.testing.assert_allclose(evaluate(lambda a, b: tensordot(a, b, axes), a, b), np.tensordot(a, b, axes))
    check_gradient(lambda a, b: tensordot(a, b, axes), a, b)


def test_bad_axes_are_refused():
    with pytest.raises(ValueError, match="'axes' must be at least 0"):
        tensordot([1.0], [1.0], -1)
    with pytest.raises(ValueError, match="'axes' must be an integer or have length 2"):
        tensordot([1.0], [1.0], [[0]])
    with pytest.raises(ValueError, match="Different number of contraction axes"):
        tensordot([[1.0]], [[1.0]], [[0, 1], [0]])


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("ord", "axis"),
    [
        (2, 0),
        (1, 1),
        (np.inf, -1),
        (3, 1),
        ("fro", (0, 1)),
        (1, (0, 1)),
        (np.inf, (0, 1)),
        (1, (1, 0)),
        (2, (0, 1)),
        (2, (1, -2)),
    ],
)
def test_norms_are_numpys(ord, axis, keepdims, rng):
    x = rng.standard_normal((3, 4))
    result = evaluate(lambda x: norm(x, ord, axis, keepdims), x)
    np.testing.assert_allclose(result, np.linalg.norm(x, ord, axis, keepdims), rtol=1e-6)
    check_gradient(lambda x: norm(x, ord, axis), x)


def test_bad_norms_are_refused():
    for ord, axis, message in (("fro", None, "vector norm"), (3, (0, 1), "matrix norm"), (1, (0, 0), "2 unique")):
        with pytest.raises(ValueError, match=message):
            norm([[1.0]], ord, axis)
