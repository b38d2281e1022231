"""Which class tf.Variable makes, and creators that have a say in it. What is expected, TensorFlow 1.15.5 does."""

import copy
import pickle
import threading

import numpy as np
import pytest
from stillflow.python.ops.variable_scope import _pure_variable_scope

import stillflow as tf
from stillflow.variables.ref_variable import RefVariable
from stillflow.variables.resource_variable import ResourceVariable


@pytest.fixture
def resources_by_default():
    tf.enable_resource_variables()
    yield
    tf.disable_resource_variables()


def test_a_variable_is_what_was_asked_for():
    assert type(tf.Variable(1.0)) is RefVariable
    assert type(tf.Variable(1.0, use_resource=True)) is ResourceVariable
    with tf.variable_scope("a", use_resource=True):
        assert type(tf.Variable(1.0)) is ResourceVariable
        assert type(tf.Variable(1.0, use_resource=False)) is RefVariable
        assert type(tf.get_variable("v", [])) is ResourceVariable
    for cls in (RefVariable, ResourceVariable):
        assert isinstance(cls(1.0), tf.Variable)


def test_resource_variables_may_be_the_default(resources_by_default):
    assert type(tf.Variable(1.0)) is ResourceVariable
    assert type(tf.get_variable("v", [])) is ResourceVariable
    with tf.variable_scope("a", use_resource=False):
        assert type(tf.Variable(1.0)) is RefVariable


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_message_becomes_a_variable_of_the_same_class(use_resource):
    variable = tf.Variable(1.0, use_resource=use_resource)
    found = tf.Variable.from_proto(variable.to_proto())
    assert type(found) is type(variable)
    assert found.name == variable.name


def test_copies():
    reference, resource = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    assert copy.copy(reference) is not reference
    assert copy.copy(resource) is resource
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copied(reference)
        with pytest.raises(NotImplementedError, match="only available when eager execution is enabled"):
            copied(resource)


def test_subclasses_are_made_as_they_are():
    class Counter(RefVariable):
        pass

    assert type(Counter(0)) is Counter


# ---- Creators -------------------------------------------------------------------------------------------------


def test_creators_are_asked_from_the_innermost_on():
    asked = []

    def outer(next_creator, **options):
        asked.append(("outer", options))
        return next_creator(**options)

    def inner(next_creator, **options):
        asked.append(("inner", options))
        return next_creator(**{**options, "name": "renamed"})

    with tf.variable_creator_scope(outer), tf.variable_creator_scope(inner):
        variable = tf.Variable(3.0, name="a")
        found = tf.get_variable("b", [2])
    after = tf.Variable(3.0, name="c")
    assert [variable.name, found.name, after.name] == ["renamed:0", "renamed_1:0", "c:0"]
    assert [(who, options["name"]) for who, options in asked] == [
        ("inner", "a"), ("outer", "renamed"), ("inner", "b"), ("outer", "renamed"),
    ]  # fmt: skip
    assert sorted(asked[0][1]) == [
        "aggregation", "caching_device", "collections", "constraint", "dtype", "expected_shape", "import_scope",
        "initial_value", "name", "shape", "synchronization", "trainable", "use_resource", "validate_shape",
        "variable_def",
    ]  # fmt: skip
    assert asked[2][1]["use_resource"] is False
    assert asked[2][1]["trainable"] is True


def test_a_creator_may_choose_the_class_and_the_value():
    def creator(next_creator, **options):
        return next_creator(**{**options, "use_resource": True, "initial_value": 7.0})

    with tf.variable_creator_scope(creator):
        variable = tf.Variable(1.0)
    assert type(variable) is ResourceVariable
    with tf.Session() as sess:
        sess.run(variable.initializer)
        np.testing.assert_equal(sess.run(variable), np.float32(7))


def test_a_creator_may_return_what_it_likes():
    with tf.variable_creator_scope(lambda next_creator, **options: None):
        assert tf.Variable(1.0) is None


def test_messages_and_other_graphs_and_threads_ask_no_creator():
    variable = tf.Variable(1.0, name="v")
    names = []

    def creator(next_creator, **options):
        raise AssertionError("is not asked")

    def make(graph):
        with graph.as_default():
            names.append(tf.Variable(1.0, name="there").name)

    with tf.variable_creator_scope(creator):
        assert tf.Variable.from_proto(variable.to_proto()).name == "v:0"
        make(tf.Graph())
        thread = threading.Thread(target=make, args=[tf.get_default_graph()])
        thread.start()
        thread.join()
    assert names == ["there:0", "there:0"]


def test_scopes_of_creators_are_left_in_order():
    outer = tf.variable_creator_scope(lambda next_creator, **options: next_creator(**options))
    inner = tf.variable_creator_scope(lambda next_creator, **options: next_creator(**options))
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="Exiting variable_creator_scope without proper nesting."):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)


def test_a_pure_variable_scope_opens_no_name_scope():
    with tf.variable_scope("a"):
        with _pure_variable_scope("b", initializer=tf.ones_initializer()) as scope:
            assert scope.name == "a/b" and scope.original_name_scope == "b"
            assert tf.get_variable("v", [2]).name == "a/b/v:0"
            assert tf.constant(1.0).op.name == "a/Const"
        with _pure_variable_scope(scope, reuse=True):
            assert tf.get_variable("v", [2]).name == "a/b/v:0"
        assert tf.get_variable_scope().name == "a"


@pytest.mark.parametrize("is_resource", [False, True])
def test_variables_that_are_read_from_copies_are_not_trained_unless_that_is_said(is_resource):
    options = {"synchronization": tf.VariableSynchronization.ON_READ, "use_resource": is_resource}
    assert tf.Variable(1.0, **options).trainable is False
    assert tf.trainable_variables() == []
    v = tf.Variable(1.0, trainable=True, **options)
    assert v.trainable is True
    assert tf.trainable_variables() == [v]
