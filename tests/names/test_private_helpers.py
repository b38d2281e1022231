"""Names that programs import from inside TensorFlow although they begin with an underscore or are not public."""

import collections
import typing

import numpy as np
import pytest

import stillflow as tf

inner = tf.python


class Plain(collections.namedtuple("Plain", "a b")):
    __slots__ = ()


def test_named_tuples():
    is_namedtuple = inner.util.nest._is_namedtuple
    strict = collections.namedtuple("Strict", "a b")(1, 2)
    assert is_namedtuple(strict)
    assert is_namedtuple(strict, strict=True)
    assert is_namedtuple(Plain(1, 2))
    assert not is_namedtuple(Plain(1, 2), strict=True)
    assert not is_namedtuple((1, 2))
    assert not is_namedtuple([1])
    assert is_namedtuple(typing.NamedTuple("Typed", [("a", int)])(1))


def test_saver_of_a_graph():
    tf.Variable(1.0)
    find = inner.training.saver._get_saver_or_default
    saver = find()
    assert tf.get_collection(tf.GraphKeys.SAVERS) == [saver]
    assert find() is saver
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    with pytest.raises(RuntimeError, match="More than one item in collection savers"):
        find()


def test_readiness():
    tf.Variable(1.0, name="v")
    ready = inner.training.session_manager._ready
    report = tf.report_uninitialized_variables()
    with tf.Session() as session:
        assert ready(None, session, "why") == (True, None)
        assert ready(report, session, "why") == (False, "Variables not initialized: v")
        session.run(tf.global_variables_initializer())
        assert ready(report, session, "why") == (True, None)


def test_confusions_at_thresholds():
    values, updates = inner.ops.metrics_impl._confusion_matrix_at_thresholds(
        tf.constant([True, False, True]), tf.constant([0.9, 0.4, 0.1]), [0.2, 0.5], includes=("tp", "fp")
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        found = session.run(values)
    assert {key: value.tolist() for key, value in found.items()} == {"tp": [1, 1], "fp": [1, 0]}


def test_normal_numbers_between_bounds():
    draw = inner.ops.random_ops.parameterized_truncated_normal
    rows = draw([2, 1000], [0.0, 10.0], [1.0, 2.0], [-1.0, 11.0], [0.5, 12.0], seed=3)
    assert rows.op.type == "ParameterizedTruncatedNormal"
    assert rows.op.name == "parameterized_truncated_normal/ParameterizedTruncatedNormal"
    with tf.Session() as session:
        found = session.run(rows)
    for row, (least, most) in zip(found, [(-1, 0.5), (11, 12)], strict=True):
        assert least <= row.min() < row.max() <= most
    assert inner.framework.common_shapes.unknown_shape(rows.op)[0].ndims is None


def test_functions_as_text():
    utils = inner.keras.utils.generic_utils
    factor = 3

    def scaled(x, offset=1):
        return factor * x + offset

    code, defaults, closure = utils.func_dump(scaled)
    assert (defaults, closure) == ((1,), (3,))
    for loaded in (utils.func_load(code, defaults, closure), utils.func_load([code, [1], [3]])):
        assert loaded(2) == 7
        assert loaded.__name__ == "scaled"


def test_bfloat16_scope():
    with tf.tpu.bfloat16_scope():
        v = tf.get_variable("v", dtype=tf.bfloat16, initializer=tf.constant_initializer(1.5), shape=[2])
        w = tf.get_variable("w", dtype=tf.float32, shape=[2])
    assert (v.dtype, w.dtype.base_dtype) == (tf.bfloat16, tf.float32)
    assert [each.dtype.base_dtype for each in tf.global_variables()] == [tf.float32, tf.float32]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.cast(v, tf.float32)), [1.5, 1.5])


def test_types_of_references():
    assert inner.framework.dtypes.float32_ref == tf.Variable(1.0).dtype
    assert inner.framework.dtypes.string_ref.base_dtype == tf.string


def test_products_with_a_hessian():
    x = tf.constant([1.0, 2.0, -1.0])
    y = tf.reduce_sum(x**3) * x[0]
    product = inner.ops.gradients_impl._hessian_vector_product
    (found,) = product(y, [x], [tf.constant([1.0, 0.5, 2.0])])
    (hessian,) = tf.hessians(y, x)
    with tf.Session() as session:
        found, hessian = session.run([found, hessian])
    np.testing.assert_allclose(found, hessian @ [1.0, 0.5, 2.0], rtol=1e-6)
    with pytest.raises(ValueError, match="xs and v must have the same length"):
        product(y, [x], [])


def test_values_that_are_not_finite():
    has = inner.debug.has_inf_or_nan
    infinite = [np.array([1.0, np.nan]), np.array([1, np.inf + 0j]), np.float32(np.inf)]
    finite = [
        np.array([1, 2]),
        np.array(["a"]),
        np.array([True]),
        np.array([b"x"], dtype=object),
        np.zeros([0]),
        None,
    ]
    assert [has(None, each) for each in infinite + finite] == [True] * 3 + [False] * 6


def test_registered_ops():
    found = inner.framework.op_def_registry.get_registered_ops()
    assert [arg.name for arg in found["MatMul"].input_arg] == ["a", "b"]
    assert found["Conv2D"].attr[0].name == "T"
    assert found["VariableV2"].is_stateful


def test_modules_that_slim_passes_on():
    slim = tf.contrib.slim
    assert slim.init_ops.zeros_initializer is tf.zeros_initializer
    assert slim.nn_ops.bias_add is tf.nn.bias_add
    assert not hasattr(slim, "no_such_ops")


def test_build():
    build = inner.platform.build_info
    assert (build.is_cuda_build, build.is_rocm_build) == (False, False)


def test_a_namespace_has_its_names_in_its_dict():
    rnn = tf.contrib.rnn
    cells = [x for x in rnn.__dict__.values() if isinstance(x, type) and issubclass(x, rnn.RNNCell)]
    assert {rnn.LSTMCell, rnn.GRUBlockCell, rnn.AttentionCellWrapper} <= set(cells)
    assert vars(tf.nn)["relu"] is tf.nn.relu
    names: dict = {}
    exec("from stillflow.contrib.rnn import *", names)
    assert names["NASCell"] is rnn.NASCell
