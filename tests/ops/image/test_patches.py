"""ExtractImagePatches: every type and window, gradients, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session, of_unknown_shape

TYPES = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


def patches(x, size, stride=(1, 1), rate=(1, 1), padding="VALID"):
    return tf.extract_image_patches(x, [1, *size, 1], [1, *stride, 1], [1, *rate, 1], padding)


def expected(x, size, stride, rate, padding):
    batch, *sizes, _ = x.shape
    effective = [k + (k - 1) * (r - 1) for k, r in zip(size, rate, strict=True)]
    same = [-(-n // s) for n, s in zip(sizes, stride, strict=True)]
    valid = [(n - e + s) // s for n, e, s in zip(sizes, effective, stride, strict=True)]
    counts = same if padding == "SAME" else valid
    missing = [max((c - 1) * s + e - n, 0) for c, s, e, n in zip(counts, stride, effective, sizes, strict=True)]
    x = np.pad(x, [(0, 0), *[(m // 2, m) for m in missing], (0, 0)])
    rows = [
        x[
            :,
            i * stride[0] : i * stride[0] + effective[0] : rate[0],
            j * stride[1] : j * stride[1] + effective[1] : rate[1],
        ]
        for i in range(counts[0])
        for j in range(counts[1])
    ]
    return np.stack([row.reshape(batch, -1) for row in rows], 1).reshape(batch, *counts, -1)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize(
    ("size", "stride", "rate"),
    [
        ((1, 1), (1, 1), (1, 1)),
        ((3, 2), (1, 1), (1, 1)),
        ((2, 3), (3, 2), (1, 1)),
        ((3, 3), (2, 2), (2, 3)),
        ((2, 2), (9, 9), (1, 1)),
    ],
)
def test_patches_are_parts_of_the_images(size, stride, rate, padding, rng):
    x = rng.normal(size=(3, 11, 13, 2))
    found = evaluate(lambda x: patches(x, size, stride, rate, padding), x)
    np.testing.assert_array_equal(found, expected(x, size, stride, rate, padding))
    check_gradient(lambda x: patches(x, size, stride, rate, padding) ** 2, x[:1, :8, :8, :1])


@pytest.mark.parametrize("dtype", TYPES)
def test_every_number_type(dtype):
    with new_session() as session:
        x = tf.cast(tf.reshape(tf.range(24), [1, 4, 6, 1]), dtype)
        found = session.run(patches(x, (2, 2), (2, 2)))
        assert found.dtype == tf.as_dtype(dtype).as_numpy_dtype
        assert found[0, 1, 2].astype(int).tolist() == [16, 17, 22, 23]


def test_nothing_and_much(rng):
    assert evaluate(lambda x: patches(x, (2, 2)), np.zeros((0, 4, 4, 1))).shape == (0, 3, 3, 4)
    assert evaluate(lambda x: patches(x, (2, 2)), np.zeros((2, 4, 4, 0))).shape == (2, 3, 3, 0)
    x = rng.normal(size=(4, 60, 70, 3)).astype(np.float32)
    assert_same_bits(lambda x: patches(x, (5, 5), (2, 1), (1, 2), "SAME"), x)


def test_bad_windows_are_refused():
    x = np.ones((2, 5, 6, 2), np.float32)
    with new_session() as session:
        with pytest.raises(ValueError, match="Computed output size would be negative: -1"):
            patches(x, (7, 7))
        with pytest.raises(ValueError, match="requires the ksizes attribute to contain 4 values, but got: 5"):
            tf.extract_image_patches(x, [1] * 5, [1] * 4, [1] * 4, "SAME")
        with pytest.raises(ValueError, match="Shape must be rank 4"):
            patches(np.ones((3, 3)), (2, 2))
        unknown = of_unknown_shape(tf.constant(x))
        for tensor, message in (
            (patches(unknown, (7, 7)), "Computed output size would be negative: -1"),
            (patches(of_unknown_shape(tf.ones([3, 3])), (2, 2)), "input must be 4-dimensional"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(tensor)
        with pytest.raises(tf.errors.OutOfRangeError, match="strides is out of range"):
            session.run(patches(unknown, (2, 2), (0, 1)))
        with pytest.raises(tf.errors.UnimplementedError, match="Only support ksizes across space"):
            session.run(tf.extract_image_patches(unknown, [2, 2, 2, 1], [1] * 4, [1] * 4, "SAME"))
