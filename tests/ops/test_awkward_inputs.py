"""Inputs at the edges: empty, without dimensions, out of range, NaN. What TensorFlow 1.15.5 does with them."""

import numpy as np
import pytest

import stillflow as tf

NAN, INF = float("nan"), float("inf")
SPARSE_PLACES = [[0, 1], [2, 3]]


def run(build, *values):
    """The outputs for constants and for placeholders of unknown shape, which must agree."""
    with tf.Session() as session:
        fed = [tf.placeholder_with_default(value, None) for value in values]
        found = session.run(build(*fed))
        for one, other in zip(*map(tf.nest.flatten, (found, session.run(build(*values)))), strict=True):
            np.testing.assert_array_equal(one, other)
        return found


@pytest.mark.parametrize(
    ("shape", "axes"),
    [([1], [0]), ([1], []), ([2], []), ([2, 1], [1]), ([1, 2], [0]), ([1, 1], [0, 1]), ([], []), ([2, 1, 2], [1])],
)
@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_what_is_not_reduced_stays_nan(name, shape, axes):
    axes = np.array(axes, np.int32)
    assert np.isnan(run(getattr(tf, name), np.full(shape, NAN, np.float32), axes)).all()


def test_what_is_reduced_leaves_out_nan():
    assert run(tf.reduce_max, np.array([NAN, NAN], np.float32), np.array([0])) == -INF


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        (b" x", 1, [b"x", b""]),
        (b"a b  c", 1, [b"a", b"b  c"]),
        (b"a b  c", 2, [b"a", b"b", b"c"]),
        (b"ab ", 1, [b"ab", b""]),
        (b" ", 1, []),
        (b" x", 0, [b" x"]),
        (b" a b ", -1, [b"a", b"b"]),
    ],
)
def test_rests_of_split_texts(text, limit, parts):
    assert run(lambda x: tf.strings.split(x, maxsplit=limit), np.array([text], object)).values.tolist() == parts


@pytest.mark.parametrize(
    ("start", "size", "places", "shape"),
    [
        ([-1, 0], [2, 2], [[1, 1]], [2, 2]),
        ([-5, -5], [9, 9], [[5, 6], [7, 8]], [8, 9]),
        ([1, 1], [0, 5], [], [0, 3]),
        ([-(2**62), 0], [2**62, 9], [], [2**62, 4]),
        ([2, 3], [2**62, 2**62], [[0, 0]], [1, 1]),
    ],
)
def test_slices_that_begin_outside_of_a_sparse_tensor(start, size, places, shape):
    found = run(
        lambda x: tf.sparse.slice(tf.SparseTensor(SPARSE_PLACES, x, [3, 4]), start, size), np.array([1.0, 2.0])
    )
    assert found.indices.tolist() == places
    assert found.dense_shape.tolist() == shape


def test_no_rows_of_nothing_are_looked_for():
    assert run(lambda x: tf.gather(x, [-1], axis=1), np.zeros([0, 3])).shape == (0, 1)
    assert run(lambda x: tf.gather(x, [5]), np.zeros([3, 0])).shape == (1, 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 0\)"):
        run(lambda x: tf.gather(x, [5]), np.zeros([0, 3]))


def test_a_number_reversed_is_the_number():
    with tf.Session() as session:
        assert session.run(tf.reverse(tf.placeholder_with_default(5.0, None), [0])) == 5


def test_transforms_of_nothing_are_zeros():
    assert run(lambda x: tf.signal.rfft(x, [2]), np.zeros([0], np.float32)).tolist() == [0, 0]
    assert run(lambda x: tf.signal.irfft(x, [4]), np.zeros([0], np.complex64)).tolist() == [0] * 4


def test_a_negative_number_of_boxes_is_no_limit():
    boxes = np.array([[0, 0, 1, 1], [0, 0, 0.9, 1], [0.5, 0.5, 1, 1]], np.float32)
    scores = np.array([0.9, 0.8, 0.7], np.float32)
    assert run(lambda b, s: tf.image.non_max_suppression(b, s, -1), boxes, scores).tolist() == [0, 2]


def test_qr_of_half_floats():
    q, r = run(tf.linalg.qr, np.array([[4, 1], [1, 3]], np.float16))
    assert q.dtype == r.dtype == np.float16
    np.testing.assert_allclose(q.astype(float) @ r, [[4, 1], [1, 3]], atol=1e-2)


@pytest.mark.parametrize(
    ("build", "value", "error", "text"),
    [
        (lambda x: tf.transpose(x, [-1, 0, 1]), np.zeros([1, 2, 3]), "InvalidArgumentError", "-1 is out of range"),
        (tf.where, np.float32(5), "InvalidArgumentError", "Unhandled input dimensions: 0"),
        (lambda x: tf.linalg.cross(x, x), np.zeros([4]), "FailedPreconditionError", "only defined for 3-element"),
        (tf.image.rgb_to_hsv, np.zeros([4, 1]), "FailedPreconditionError", "3 channels but input only has 1"),
        (tf.image.encode_png, np.zeros([0, 2, 3], np.uint8), "InternalError", "PNG encoding failed"),
        (lambda x: tf.io.parse_tensor(x, tf.float32), np.array([b"a"], object), "InvalidArgumentError", "parse"),
        (tf.io.read_file, np.array([b"a", b"b"], object), "InvalidArgumentError", r"must be scalar, but .* \[2\]"),
        (tf.io.matching_files, np.full([1, 1], b"a", object), "InvalidArgumentError", r"scalar or vector.*\[1,1\]"),
        (
            lambda x: tf.sparse.reduce_sum(tf.SparseTensor(SPARSE_PLACES, x, [3, 4]), 5), np.ones(2),
            "InvalidArgumentError", "Invalid reduction dimension 5",
        ),
    ],
)  # fmt: skip
def test_errors_while_running(build, value, error, text):
    fed = tf.placeholder(tf.as_dtype(value.dtype) if value.dtype != object else tf.string)
    with tf.Session() as session, pytest.raises(getattr(tf.errors, error), match=text):
        session.run(build(fed), {fed: value})


def test_constants_are_transposed_as_all_else_is():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="-1 is out of range"):
        session.run(tf.transpose(np.zeros([1, 2, 3]), [-1, 0, 1]))


def test_errors_while_building():
    with pytest.raises(TypeError, match="Cannot find minimum value of <dtype: 'bool'>"):
        tf.saturate_cast([1.0], tf.bool)
    with pytest.raises(ValueError, match="Shape must be rank 4 but is rank 3"):
        tf.image.draw_bounding_boxes(np.zeros([2, 2, 3], np.float32), np.zeros([1, 1, 4], np.float32))
    with pytest.raises(ValueError, match="Tensor t0 of rank 2 does not match einsum reduction of length 1"):
        tf.einsum("i,i->", tf.zeros([2, 2]), tf.zeros([2, 2]))


def test_names_with_zeros_match_no_file(tmp_path):
    patterns = [f"{tmp_path}/a\0b".encode(), f"{tmp_path}/*.txt".encode()]
    assert run(tf.io.matching_files, np.array(patterns, object)).tolist() == []


@pytest.mark.parametrize("build", [
    lambda x: tf.image.draw_bounding_boxes(x, tf.zeros([1, 1, 4])),
    lambda x: tf.cast(tf.image.non_max_suppression(x[0, 0], tf.ones([4]), 2), tf.float32),
])  # fmt: skip
def test_marks_and_choices_have_no_gradient(build):
    x = tf.zeros([1, 2, 4, 4])
    assert tf.gradients(build(x), [x]) == [None]
