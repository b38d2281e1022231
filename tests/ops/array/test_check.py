"""CheckNumerics, EnsureShape, Assert, Print and StringFormat: what passes, what fails, and in which words."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.graph.shape import TensorShape
from stillflow.testing import check_gradient, evaluate


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_finite_numbers_pass(dtype, rng):
    x = rng.standard_normal((3, 4)).astype(dtype)
    np.testing.assert_array_equal(evaluate(lambda x: ops.check_numerics(x, "why"), x), x)
    limits = np.finfo(dtype)
    evaluate(lambda x: ops.check_numerics(x, "why"), np.array([limits.max, limits.min, limits.tiny], dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("value", "found"), [([np.inf], "Inf"), ([np.nan], "NaN"), ([-np.inf, np.nan], "Inf and NaN")]
)
def test_others_are_named(value, found, dtype):
    with pytest.raises(errors.InvalidArgumentError, match=f"why : Tensor had {found} values"):
        evaluate(lambda x: ops.check_numerics(x, "why"), np.array([1.0, *value], dtype))


def test_shapes_are_ensured():
    x = np.zeros((2, 3), np.float32)
    unknown = lambda x: ops.placeholder_with_default(x, shape=TensorShape(None))  # noqa: E731
    assert ops.ensure_shape(unknown(x), [None, 3]).shape.as_list() == [None, 3]
    for shape in ([None, 3], [2, 3], [None, None], None):
        np.testing.assert_array_equal(evaluate(lambda x, shape=shape: ops.ensure_shape(unknown(x), shape), x), x)
    for shape, text in (([2, 4], r"\[2,4\]"), ([6], r"\[6\]"), ([], r"\[\]")):
        with pytest.raises(errors.InvalidArgumentError, match=rf"Shape of .*\[2,3\] is not compatible.*{text}"):
            evaluate(lambda x, shape=shape: ops.ensure_shape(unknown(x), shape), x)
    with pytest.raises(ValueError, match="must be equal"):
        ops.ensure_shape(x, [2, 4])


def test_the_tensor_of_another_shape_is_named():
    named = lambda x: ops.placeholder_with_default(x, shape=TensorShape(None), name="batch")  # noqa: E731
    with pytest.raises(errors.InvalidArgumentError, match=r"Shape of tensor batch \[2\] is not .* shape \[\?,3\]\."):
        evaluate(lambda x: ops.ensure_shape(named(x), [None, 3]), np.zeros(2, np.float32))


def test_failed_assertions_show_their_data():
    def build(condition):
        check = ops.assert_op(condition, ["x", [[1, 2], [3, 4]], 5.0], summarize=3)
        with check.graph.control_dependencies([check]):
            return ops.identity(condition)

    assert evaluate(build, np.array(True))
    with pytest.raises(
        errors.InvalidArgumentError, match=r"assertion failed: \[x\] \[\[1 2\]\[3\.{3}\]\.{3}\] \[5\]"
    ):
        evaluate(build, np.array(False))


def test_print_writes_what_it_is_told_as_often_as_it_is_told(capfd):
    from stillflow.session.session import Session

    x = ops.constant([1.0, 2.5, 3.0, 4.0])
    printed = ops.print_op(x, [x, "a\n"], message="m ", first_n=2, summarize=2)
    with Session(graph=x.graph) as session:
        for _ in range(3):
            np.testing.assert_array_equal(session.run(printed), [1, 2.5, 3, 4])
    assert capfd.readouterr().err == "m [1 2.5...][a\\n]\n" * 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"), (np.float32(1 / 3), "0.333333343"), (1 / 3, "0.33333333333333331"), (np.inf, "inf"),
        (np.nan, "nan"), (np.int8(-3), "-3"), (np.uint8(200), "200"), (True, "1"), (np.float16(1.5), "1.5"),
        (np.arange(3), "[0 1 2]"), (np.arange(9), "[0 1 ... 7 8]"), (np.zeros((0, 2)), "[]"),
        (np.arange(4).reshape(2, 2), "[[0 1]\n [2 3]]"),
        (np.arange(8).reshape(2, 2, 2), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
    ],
)  # fmt: skip
def test_values_as_text(value, text):
    value = np.asarray(value)
    result = evaluate(lambda x: ops.string_format("<{}>", [x], summarize=2), value)
    assert result.decode() == f"<{text}>"


def test_templates_must_have_as_many_places_as_tensors():
    with pytest.raises(ValueError, match=r"2 placeholder\(s\) in template does not match 1 tensor\(s\)"):
        ops.string_format("{} {}", [ops.constant(1)])


def test_gradients_pass_through(rng):
    x = rng.standard_normal((2, 3))
    check_gradient(lambda x: ops.check_numerics(x, "why"), x)
    check_gradient(lambda x: ops.ensure_shape(x, [2, None]), x)
