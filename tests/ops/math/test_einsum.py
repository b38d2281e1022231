"""The op Einsum, beside numpy's function."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import assert_same_bits, evaluate

CASES = [
    ("ab,bc->ac", (2, 3), (3, 4)),
    ("ab->ba", (2, 3)),
    ("ab->", (2, 3)),
    ("abc->b", (2, 3, 4)),
    ("aab->b", (3, 3, 2)),
    ("...ij,...jk->...ik", (5, 2, 3), (5, 3, 2)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 2)),
    ("...ij,...jk->ki...", (5, 1, 2, 3), (4, 3, 2)),
    ("abc,cd->ad", (2, 3, 4), (4, 5)),
    ("abc,bad->cd", (2, 3, 4), (3, 2, 5)),
    ("ab,ab->", (2, 3), (2, 3)),
    ("a,b->ba", (2,), (3,)),
    ("ab,ab->ab", (2, 3), (2, 3)),
    ("aabb,bc->ca", (2, 2, 3, 3), (3, 2)),
    (",->", (), ()),
    ("...a->a...", (2, 3, 4)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
    ("bijl,bjkm->bik", (9, 2, 3, 5), (9, 3, 4, 7)),
    ("...,...->...", (2, 1), (3,)),
    ("abcd,ad->bc", (2, 3, 4, 5), (2, 5)),
]


def samples(shapes, dtype, rng):
    parts = [[rng.standard_normal(shape) for shape in shapes] for _ in range(2)]
    if np.dtype(dtype).kind == "c":
        return [np.asarray(re + 1j * im, dtype) for re, im in zip(*parts, strict=True)]
    return [np.asarray(part, dtype) for part in parts[0]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_values(case, dtype, rng):
    equation, *shapes = case
    arrays = samples(shapes, dtype, rng)
    expected = np.einsum(equation, *arrays)
    known = ops.einsum_op(arrays, equation=equation)
    assert known.shape.as_list() == list(expected.shape)
    found = evaluate(lambda *inputs: ops.einsum_op(inputs, equation=equation), *arrays)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(("equation", "expected"), [("a->aa", [[1, 0], [0, 2]]), ("a->aaa", None)])
def test_an_index_twice_in_the_output_makes_a_diagonal(equation, expected):
    found = evaluate(lambda x: ops.einsum_op([x], equation=equation), np.float32([1, 2]))
    if expected is None:
        expected = np.zeros((2, 2, 2))
        expected[0, 0, 0], expected[1, 1, 1] = 1, 2
    np.testing.assert_array_equal(found, expected)


def test_shapes_as_far_as_they_are_known():
    a, b = tf.placeholder(tf.float32, [None, 3, None, 2]), tf.placeholder(tf.float32, [4, None])
    assert ops.einsum_op([a, b], equation="...ij,...->...i").shape.as_list() is not None
    assert ops.einsum_op([a], equation="abcd->dca").shape.as_list() == [2, None, None]
    assert ops.einsum_op([tf.placeholder(tf.float32)], equation="a...->...a").shape.rank is None


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(1, 2, 3), (3, 4)]),
        ("...ij,jk->ik", [(3,), (3, 4)]),
        ("ij,jk->ik", [(2, 3), (4, 4)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (7, 3, 4)]),
        ("...ij,...jk->ik", [(2, 2, 3), (3, 4)]),
    ],
)
def test_inputs_that_do_not_fit(equation, shapes):
    with pytest.raises(ValueError):
        ops.einsum_op([np.ones(shape) for shape in shapes], equation=equation)
    inputs = [tf.placeholder_with_default(np.ones(shape), None) for shape in shapes]
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError):
        session.run(ops.einsum_op(inputs, equation=equation))


@pytest.mark.parametrize("equation", ["ab,bc", "a..b->", "ab,bc,cd->ad", "ab->ac", "a.->a", "......->"])
def test_malformed_equations(equation):
    with pytest.raises(ValueError):
        ops.einsum_op([np.ones((2, 3))] * (equation.count(",") + 1), equation=equation)


def test_bits_do_not_depend_on_threads(rng):
    x, y = samples([(6, 40, 30), (6, 30, 50)], np.float32, rng)
    assert_same_bits(lambda x, y: ops.einsum_op([x, y], equation="bij,bjk->bki"), x, y)
    assert_same_bits(lambda x: ops.einsum_op([x], equation="bij->j"), x)


def test_other_types_have_no_kernel():
    with pytest.raises(errors.OpError, match="No OpKernel was registered to support 'Einsum' with type int32"):
        evaluate(lambda x: ops.einsum_op([x], equation="a->"), np.int32([1]))
