"""Lists that hold numpy's numbers, and arguments of numpy's bool: as TensorFlow 1.15.5 takes them eagerly."""

import numpy as np
import pytest

import stillflow as tf

TYPES = [
    ([np.float64(1.5)], "float64"),
    ((np.float64(1.5),), "float64"),
    ([np.float64(1), np.float32(2)], "float64"),
    ([np.float64(1), 1], "float64"),
    ([np.array(1.5)], "float64"),
    ([np.array([1.5])], "float64"),
    ([np.float32(1), np.float64(2)], "float32"),
    ([1, np.float64(2)], "float32"),
    ([np.int8(1), 2.5], "float32"),
    ([np.float16(1), np.float64(2)], "float16"),
    ([np.complex64(1)], "complex128"),
    ([np.array([1j], np.complex64)], "complex128"),
    ([np.int8(1), np.int8(2)], "int32"),
    ([np.uint16(1)], "int32"),
    ([np.int64(1)], "int32"),
    ([np.array([1, 2], np.int8), [3, 4]], "int32"),
    ([np.uint32(2**31)], "int64"),
    ([np.int64(2**40)], "int64"),
    ([np.zeros([2, 0], np.int8)], "float32"),
    ([range(2), range(2)], "int32"),
    ([np.bytes_(b"a")], "string"),
]


@pytest.mark.parametrize(("value", "dtype"), TYPES)
def test_the_first_number_decides(value, dtype):
    assert tf.constant(value).dtype.name == dtype
    assert tf.convert_to_tensor(value).dtype.name == dtype


def test_bytes_are_plain():
    assert type(tf.constant(["a", np.bytes_(b"b")]).numpy()[1]) is bytes


@pytest.mark.parametrize("value", [1e300, [1e39], [[1.0, -3.5e38]]])
def test_what_float32_cannot_hold_is_refused(value):
    with pytest.raises(ValueError, match="a value out of range for a double-precision float"):
        tf.constant(value)


def test_what_is_infinite_stays_so():
    assert tf.constant([float("inf"), 1.0]).numpy().tolist() == [float("inf"), 1.0]
    assert tf.constant(1e300, tf.float32).numpy() == float("inf")


def test_integers_that_int64_cannot_hold_are_refused():
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant([np.uint64(2**63)])


def test_narrow_indices_in_lists():
    assert tf.nn.embedding_lookup(tf.constant([[1.0], [2.0]]), [np.uint8(1)]).numpy().tolist() == [[2.0]]


def test_numpys_bool_is_an_attribute():
    assert tf.cumsum([1, 2], exclusive=np.True_).numpy().tolist() == [0, 1]
    assert tf.linalg.svd(tf.ones([2, 2]), compute_uv=np.False_).shape == (2,)


@pytest.mark.parametrize("name", [1, None, "", b"x", np.str_("x"), "x/", 2.5])
def test_names_do_not_matter_to_an_op(name):
    assert tf.acos([1.0], name=name).numpy().tolist() == [0]


def test_scopes_of_no_name():
    assert tf.boolean_mask([1, 2], [True, False], name=None).numpy().tolist() == [1]
    assert tf.linalg.matrix_transpose([[1, 2]], name=None).numpy().tolist() == [[1], [2]]
    with tf.name_scope("/") as scope:
        assert scope == "/"
    with pytest.raises(AttributeError):
        tf.name_scope(1).__enter__()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.split(tf.zeros([2, 3]), 0, 0), "less than minimum 1"),
        (lambda: tf.one_hot([0], 3, axis=-2), "axis must be >= -1"),
        (lambda: tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 0, 0, 1], "SAME"), "Stride must be > 0"),
        (lambda: tf.strings.length(["a"], unit="X"), "not in"),
        (lambda: tf.strings.to_hash_bucket(["a"], 0), "less than minimum 1"),
    ],
)
def test_kernels_refuse_what_a_graph_refuses_at_once(call, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()


def test_einsum_tells_of_ranks():
    with pytest.raises(ValueError, match="Tensor t0 of rank 2 does not match"):
        tf.einsum("i,i->", tf.zeros([2, 2]), tf.zeros([2, 2]))
