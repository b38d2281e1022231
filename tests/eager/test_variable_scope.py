"""get_variable, templates and the global step without a graph. What is expected is what TensorFlow 1.15.5 does."""

import numpy as np
import pytest
from stillflow.python.eager.function import defun

import stillflow as tf
from stillflow.eager.variable_scope import EagerVariableStore


def test_every_call_makes_a_variable():
    with tf.variable_scope("scope", reuse=True) as scope:
        first = tf.get_variable("w", [2])
        second = tf.get_variable("w", [2])
    assert first is not second
    assert first.name == second.name == "scope/w:0"
    assert scope.reuse is tf.AUTO_REUSE
    assert scope.use_resource


def test_names():
    names = []
    with tf.variable_scope("foo"):
        with tf.name_scope("bar"):
            names += [tf.get_variable("v", [1]).name, tf.Variable(1.0, name="v").name]
        with tf.variable_scope("inner"):
            names.append(tf.get_variable("v", [1]).name)
    with tf.variable_scope(None, "default") as first, tf.variable_scope(None, "default") as second:
        names += [first.name, second.name]
    with tf.variable_scope(None, "default") as third:
        names.append(third.name)
    assert names == ["foo/v:0", "foo/bar/v:0", "foo/inner/v:0", "default", "default/default", "default_1"]


def test_initializers_draw_the_numbers_of_tensorflow():
    tf.set_random_seed(7)
    first, second = tf.get_variable("w", [2, 2]), tf.get_variable("w", [2, 2])
    np.testing.assert_allclose(first.numpy(), [[0.81924117, -0.6531158], [0.92995346, -1.1104782]], rtol=1e-7)
    np.testing.assert_allclose(second.numpy(), [[-1.1780736, 0.3665787], [0.4806069, 0.12265778]], rtol=1e-7)
    tf.set_random_seed(11)
    drawn = [
        tf.get_variable("w", [2, 2], initializer=initializer).numpy()[0]
        for initializer in (
            tf.random_uniform_initializer(-1, 1), tf.random_uniform_initializer(-1, 1),
            tf.random_normal_initializer(), tf.random_normal_initializer(),
            tf.truncated_normal_initializer(stddev=0.1),
        )
    ]  # fmt: skip
    expected = [[0.11650777, -0.89185834], [0.8089824, 1.1437266], [1.158006, -0.25985676], [-0.08585096, 0.0250653]]
    np.testing.assert_allclose(drawn[1:], expected, rtol=1e-6)


def test_defaults_by_type():
    assert tf.get_variable("i", [2], dtype=tf.int32).numpy().tolist() == [0, 0]
    assert tf.get_variable("b", [2], dtype=tf.bool).numpy().tolist() == [False, False]
    assert tf.get_variable("c", initializer=[1.0, 2.0]).shape.as_list() == [2]
    assert not tf.get_local_variable("l", [2]).trainable
    with pytest.raises(ValueError, match="An initializer for variable c of .*complex64.* is required"):
        tf.get_variable("c", [2], dtype=tf.complex64)
    with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape"):
        tf.get_variable("c", [2], initializer=[1.0, 2.0])


def test_regularizers_and_getters():
    seen = []

    def getter(getter, name, *args, **options):
        seen.append(name)
        return getter(name, *args, **options)

    with tf.variable_scope("r", regularizer=tf.reduce_sum, custom_getter=getter):
        tf.get_variable("w", [2], initializer=tf.ones_initializer())
    assert seen == ["r/w"]
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.numpy() == 2.0


def test_what_scopes_refuse():
    with tf.variable_scope("s") as scope:
        with pytest.raises(ValueError, match="use_resource cannot be set to false"):
            scope.set_use_resource(False)
        with pytest.raises(NotImplementedError, match="[Cc]aching devices"):
            scope.set_caching_device("/cpu:0")
    with pytest.raises(NotImplementedError, match="[Cc]aching devices"):
        tf.variable_scope("s", caching_device="/cpu:0").__enter__()


def test_variables_in_parts():
    parts = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    assert [part.name for part in parts] == ["p/part_0:0", "p/part_1:0"]
    assert tf.convert_to_tensor(parts).shape.as_list() == [4, 2]


def test_a_store_keeps_variables():
    store = EagerVariableStore()
    for _ in range(2):
        with store.as_default():
            weights = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            tf.get_variable("b", [2], trainable=False)
    assert [variable.name for variable in store.variables()] == ["b:0", "w:0"]
    assert store.trainable_variables() == [weights]
    assert [variable.name for variable in store.non_trainable_variables()] == ["b:0"]
    (copied,) = store.copy().trainable_variables()
    weights.assign([5.0, 5.0])
    assert copied.numpy().tolist() == [1.0, 1.0]
    assert tf.get_variable("w", [2]) is not weights


def line(x):
    slope = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    return x * slope + tf.get_variable("b", [2], initializer=tf.zeros_initializer(), trainable=False)


def test_templates_share_their_variables():
    template = tf.make_template("line", line)
    assert template.variables == []
    assert template(2.0).numpy().tolist() == [2.0, 2.0]
    (slope,) = template.trainable_variables
    slope.assign([3.0, 3.0])
    assert template(2.0).numpy().tolist() == [6.0, 6.0]
    assert [variable.name for variable in template.variables] == ["line/b:0", "line/w:0"]
    assert [variable.name for variable in template.non_trainable_variables] == ["line/b:0"]
    assert template.local_variables == []
    assert template.global_variables == template.weights == template.variables
    other = tf.make_template("line", line)
    other(1.0)
    assert [variable.name for variable in other.variables] == ["line_1/b:0", "line_1/w:0"]
    assert tf.make_template("now", line, create_scope_now_=True).variable_scope_name == "now/"


def test_templates_within_templates():
    def nested(x):
        inner = tf.make_template("inner", line)
        return inner(x) + inner(x)

    template = tf.make_template("outer", nested)
    assert template(2.0).numpy().tolist() == template(2.0).numpy().tolist() == [4.0, 4.0]
    assert [variable.name for variable in template.variables] == ["outer/inner/b:0", "outer/inner/w:0"]


def test_what_templates_refuse():
    names = iter("abc")
    template = tf.make_template("t", lambda: tf.get_variable(next(names), []))
    template()
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
        template()
    with pytest.raises(ValueError, match="unique_name_ cannot be used when eager"):
        tf.make_template("t", line, unique_name_="u")


def test_the_global_step():
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert repr(step) == "<tf.Variable 'global_step:0' shape=() dtype=int64, numpy=0>"
    assert tf.train.get_or_create_global_step() is tf.train.get_global_step() is step
    step.assign_add(3)
    assert tf.train.global_step(None, step) == 3
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()


def test_a_new_default_graph_forgets_collections_and_scopes():
    store = EagerVariableStore()
    with store.as_default():
        kept = tf.get_variable("a", [2])
        tf.layers.dense(tf.ones([1, 2]), 3)
    assert [v.name for v in tf.trainable_variables()] == ["a:0", "dense/kernel:0", "dense/bias:0"]
    tf.reset_default_graph()
    assert tf.trainable_variables() == []
    with store.as_default():
        assert tf.get_variable("a", [2]) is kept
        tf.layers.dense(tf.ones([1, 2]), 3)
    assert [v.name for v in store.variables()] == ["a:0", "dense/bias:0", "dense/kernel:0"]


def test_variables_of_a_defun_are_made_outside_of_it():
    made = []

    @defun
    def multiplied(x):
        if not made:
            made.append(tf.Variable(5.0))
        return x * made[0]

    assert multiplied(tf.constant(2.0)).numpy() == 10.0
    made[0].assign(7.0)
    assert multiplied(tf.constant(2.0)).numpy() == 14.0
    store = EagerVariableStore()

    @defun
    def kept():
        with store.as_default():
            return tf.get_variable("w", [1], initializer=tf.ones_initializer()) + 1.0

    assert kept().numpy().tolist() == [2.0]
    assert [v.numpy().tolist() for v in store.variables()] == [[1.0]]
