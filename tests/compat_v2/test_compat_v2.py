"""tf.compat.v2: which names it has, and what snippets (tests/programs/snippets/compat_v2.py) do not show."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.names import compat_v2

v2 = tf.compat.v2


def test_what_is_the_same_is_the_same_object():
    assert v2.nn.relu is tf.nn.relu
    assert v2.keras.layers.Dense is tf.keras.layers.Dense
    assert v2.data.Options is tf.data.Options
    assert v2.compat.v1 is tf
    assert v2.newaxis is None
    assert importlib.import_module("stillflow.compat.v2.nn") is v2.nn
    assert v2.math.reduce_sum is v2.reduce_sum is not tf.reduce_sum


def test_what_tensorflow_2_has_no_more_is_not_there():
    for name in ("placeholder", "get_variable", "Session", "layers", "contrib"):
        assert name not in dir(v2)
        with pytest.raises(AttributeError):
            getattr(v2, name)
    assert {"nn", "keras", "reduce_sum", "Variable"} <= set(dir(v2))
    assert "v2" in dir(tf.compat)


def test_every_name_that_is_listed_leads_somewhere():
    for namespace in json.loads((Path(compat_v2.__file__).parent / "compat_v2.json").read_text()):
        if not namespace.startswith(("keras.applications", "raw_ops")):  # which are many, and alike
            module = importlib.import_module(f"stillflow.compat.v2.{namespace}".rstrip("."))
            assert [name for name in dir(module) if not hasattr(module, name)] == []


def test_variables_are_resources():
    variable = v2.Variable([1.0, 2.0], name="v", trainable=False)
    assert variable.op.type == "VarHandleOp"
    assert isinstance(variable, v2.Variable)
    assert isinstance(tf.Variable(1.0), v2.Variable)
    assert issubclass(type(variable), v2.Variable)
    assert variable not in tf.trainable_variables()


def test_constants_have_as_many_values_as_asked_for():
    for value, shape in (([1, 2], [3]), ([1, 2, 3], [2])):
        with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(\d,\), got \(\d,\)."):
            v2.constant(value, shape=shape)
    with tf.Session() as session:
        assert session.run(v2.constant([5], shape=[2])).tolist() == [5, 5]


def test_names_of_scopes_and_devices_are_texts():
    with pytest.raises(ValueError, match="must be a string"):
        v2.name_scope(None)
    with v2.name_scope("a") as scope:
        assert scope == "a/"
    with pytest.raises(RuntimeError, match="does not support functions"):
        v2.device(lambda op: "/cpu:0")
    with v2.device("/cpu:0"):
        assert tf.constant(1).device == "/device:CPU:0"


def test_initializers_know_types_when_called():
    normal = v2.initializers.RandomNormal(1.0, 2.0, 3)
    assert normal.get_config() == {"mean": 1.0, "stddev": 2.0, "seed": 3}
    assert type(normal).from_config({**normal.get_config(), "dtype": "float32"}).stddev == 2.0
    with pytest.raises(ValueError, match="Expected floating point type"):
        normal([2], tf.int32)
    with pytest.raises(ValueError, match="Expected float or integer dtype"):
        v2.initializers.RandomUniform()([2], tf.string)
    with pytest.raises(ValueError, match="Expected numeric or boolean dtype"):
        v2.initializers.Ones()([2], tf.string)
    with tf.Session() as session:  # the same wherever they are drawn
        first, second = session.run([normal([4]), normal([4])])
    np.testing.assert_array_equal(first, second)


def test_seeds():
    v2.random.set_seed(7)
    assert tf.get_default_graph().seed == 7


def test_raw_numbers_of_strings_of_any_length():
    with tf.Session() as session:
        found = session.run(tf.compat.v2.io.decode_raw(["abcd", "e"], tf.uint8, fixed_length=2))
        assert found.tolist() == [[97, 98], [101, 0]]
        assert session.run(tf.compat.v2.io.decode_raw(["ab"], tf.int16)).tolist() == [[25185]]
