"""BiasAdd and its gradient: values, formats, types, bad input, bits."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape

SHAPES = [
    (1, 1),
    (2, 3),
    (0, 3),
    (3, 0),
    (5, 1000),
    (40000, 3),
    (2, 3, 4),
    (2, 3, 4, 5),
    (2, 0, 4, 5),
    (2, 1, 2, 3, 4),
]


def integers(rng, shape, dtype=np.float32):
    return rng.integers(-9, 9, shape).astype(dtype)


def spread(bias, rank, data_format):
    return bias.reshape([-1 if axis == (1 if data_format == "NCHW" else rank - 1) else 1 for axis in range(rank)])


@pytest.mark.parametrize("data_format", [None, "NHWC", "NCHW"])
@pytest.mark.parametrize("shape", SHAPES)
def test_values_match_numpy(shape, data_format, rng):
    x = integers(rng, shape)
    axis = 1 if data_format == "NCHW" else len(shape) - 1
    bias = integers(rng, shape[axis])
    result = evaluate(lambda x, b: ops.bias_add(x, b, data_format), x, bias)
    np.testing.assert_array_equal(result, x + spread(bias, len(shape), data_format))
    grad = evaluate(lambda x: ops.bias_add_grad(x, data_format=data_format or "NHWC"), x)
    np.testing.assert_array_equal(grad, x.sum(tuple(i for i in range(len(shape)) if i != axis)))


@pytest.mark.parametrize(
    "shape", [(3, 5, 4, 19), (1, 40, 30, 3), (2, 3, 4, 5, 6), (2000, 3, 16), (0, 4, 3), (4, 9, 9, 1)]
)
def test_sums_of_both_formats_have_the_same_bits(shape, rng):
    for dtype in (np.float32, np.float16, np.complex64):
        x = rng.standard_normal(shape).astype(dtype)
        expected = evaluate(ops.bias_add_grad, x)
        found = evaluate(lambda x: ops.bias_add_grad(x, data_format="NCHW"), np.moveaxis(x, -1, 1))
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "dtype", ["float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16"]
)
def test_every_type(dtype, rng):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    x, bias = rng.integers(0, 9, (4, 6)).astype(dtype), rng.integers(0, 9, 6).astype(dtype)
    for data_format in ("NHWC", "NCHW"):
        result = evaluate(lambda x, b, f=data_format: ops.bias_add(x, b, f), x, bias)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, x + bias)


def test_other_spellings_of_formats(rng):
    x, bias = integers(rng, (2, 3, 4)), integers(rng, 3)
    np.testing.assert_array_equal(evaluate(lambda x, b: ops.bias_add(x, b, "NCW"), x, bias), x + bias[:, None])
    np.testing.assert_array_equal(
        evaluate(lambda x, b: ops.bias_add(x, b[:2], "NWC"), x[..., :2], bias), x[..., :2] + bias[:2]
    )


def test_bad_formats_and_shapes_are_refused():
    x = ops.constant(np.zeros((2, 3, 4), np.float32))
    with pytest.raises(ValueError, match=r"data_format must be of the form `N...C` or `NC...`"):
        ops.bias_add(x, [1.0], data_format="CHW")
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 4 and 3"):
        ops.bias_add(x, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 4"):
        ops.bias_add(x, [1.0, 2.0, 3.0, 4.0], "NCHW")
    with pytest.raises(ValueError, match="Shape must be at least rank 2 but is rank 1"):
        ops.bias_add([1.0], [1.0])
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0"):
        ops.bias_add(x, 1.0)


@pytest.mark.parametrize(
    ("shape", "bias_shape", "data_format", "message"),
    [
        (
            (2, 3),
            (1,),
            "NHWC",
            r"Must provide as many biases as the last dimension of the input tensor: \[1\] vs. \[2,3\]",
        ),
        ((2, 3, 2), (2,), "NCHW", "Must provide as many biases as the channel dimension"),
        ((3,), (3,), "NHWC", r"Input tensor must be at least 2D: \[3\]"),
        ((2, 3), (1, 3), "NHWC", r"Biases must be 1D: \[1,3\]"),
    ],
)
def test_shapes_that_turn_out_not_to_fit_are_refused(shape, bias_shape, data_format, message):
    def build(x, bias):
        x, bias = of_unknown_shape(x), of_unknown_shape(bias)
        return ops.bias_add(x, bias, data_format)

    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(build, np.zeros(shape, np.float32), np.zeros(bias_shape, np.float32))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_gradients(data_format, rng):
    x, bias = rng.normal(size=(2, 3, 2, 3)), rng.normal(size=3)
    check_gradient(lambda x, b: ops.bias_add(x, b, data_format), x, bias)
    check_gradient(lambda x: ops.bias_add_grad(x, data_format=data_format), x)
    check_gradient(ops.bias_add_v1, x, bias)


def test_the_value_of_a_variable_stays_as_it_is(rng):
    from stillflow.testing import new_session
    from stillflow.variables.listing import global_variables_initializer
    from stillflow.variables.variable import Variable

    with new_session() as session:
        variable = Variable(np.ones((2, 3), np.float32))
        result = ops.bias_add(variable, [1.0, 2.0, 3.0], "NCHW")
        session.run(global_variables_initializer())
        for _ in range(2):
            np.testing.assert_array_equal(session.run(result), [[2, 3, 4]] * 2)
        np.testing.assert_array_equal(session.run(variable), 1)


def test_same_bits(rng):
    x = rng.normal(0, 1, (64, 33, 65)).astype(np.float32)
    for data_format, channels in (("NHWC", 65), ("NCHW", 33)):
        bias = rng.normal(0, 1, channels).astype(np.float32)
        assert_same_bits(lambda x, b, f=data_format: ops.bias_add(x, b, f), x, bias)
        assert_same_bits(lambda x, f=data_format: ops.bias_add_grad(x, data_format=f), x)
