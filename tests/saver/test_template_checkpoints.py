"""tf.train.Checkpoint saves the variables of templates under TensorFlow's keys, and restores them when they come."""

import numpy as np
import pytest

import stillflow as tf


def inner():
    return tf.get_variable("v", initializer=1.0)


def outer(template):
    a = tf.get_variable("a", initializer=2.0)
    with tf.variable_scope("sub"):
        tf.get_variable("b", initializer=3.0)
    tf.Variable(4.0, name="direct", trainable=False)
    template()
    return a


def names(template):
    return [(name, child.name) for name, child in template._checkpoint_dependencies]


def test_a_template_depends_on_its_variables_and_on_templates_within_it():
    within = tf.make_template("inner", inner)
    template = tf.make_template("outer", lambda: outer(within))
    assert names(template) == []
    template()
    found = [("a", "outer/a:0"), ("sub/b", "outer/sub/b:0"), ("inner", "inner")]
    assert names(template) == found
    assert names(within) == [("v", "outer/inner/v:0")]
    template()
    assert names(template) == found


def test_a_partitioned_variable_is_its_parts():
    def function():
        return tf.get_variable("w", shape=[4, 2], partitioner=tf.fixed_size_partitioner(2))

    template = tf.make_template("p", function)
    template()
    assert names(template) == [("w/part_0", "p/w/part_0:0"), ("w/part_1", "p/w/part_1:0")]


def test_a_resource_variable_in_an_outer_scope_is_found():
    template = tf.make_template("r", lambda: tf.get_variable("w", shape=[4], use_resource=True))
    with tf.variable_scope("s"):
        template()
    assert names(template) == [("w", "s/r/w:0")]


def test_a_failed_first_call_leaves_nothing_behind():
    def fails():
        tf.get_variable("v", initializer=1.0)
        raise ValueError("no")

    template = tf.make_template("t", fails)
    with pytest.raises(ValueError, match="no"):
        template()
    tf.get_variable("t/other", initializer=1.0)
    assert names(template) == [("v", "t/v:0")]
    assert template.variables == []


def saved(tmp_path):
    """A checkpoint of two templates in one, with the values 5 and 6."""
    with tf.Graph().as_default():
        two = tf.make_template("two", lambda: [tf.make_template("n", inner)(), tf.make_template("n", inner)()])
        variables = two()
        checkpoint = tf.train.Checkpoint(t=two)
        with tf.Session() as session:
            session.run([tf.assign(variables[0], 5.0), tf.assign(variables[1], 6.0)])
            return checkpoint.save(str(tmp_path / "m"), session=session)


def test_keys_are_those_of_tensorflow(tmp_path):
    keys = [name for name, _ in tf.train.list_variables(saved(tmp_path))]
    assert keys == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
        "t/n/v/.ATTRIBUTES/VARIABLE_VALUE",
        "t/n_1/v/.ATTRIBUTES/VARIABLE_VALUE",
    ]


@pytest.mark.parametrize("is_called_before", [True, False])
def test_values_are_restored_before_and_after_the_first_call(tmp_path, is_called_before):
    path = saved(tmp_path)
    template = tf.make_template("x", lambda: [tf.make_template("n", inner)(), tf.make_template("n", inner)()])
    variables = template() if is_called_before else None
    status = tf.train.Checkpoint(t=template).restore(path)
    variables = variables or template()
    with tf.Session() as session:
        status.assert_consumed().run_restore_ops(session)
        np.testing.assert_array_equal(session.run(variables), [5.0, 6.0])


def test_weights_are_the_variables():
    template = tf.make_template("t", lambda: outer(tf.make_template("n", inner)))
    assert template.weights == []
    template()
    assert [v.name for v in template.weights] == ["t/a:0", "t/sub/b:0", "t/direct:0", "t/n/v:0"]
    assert [v.name for v in template.non_trainable_weights] == ["t/direct:0"]
    assert [v.name for v in template.trainable_weights] == ["t/a:0", "t/sub/b:0", "t/n/v:0"]
