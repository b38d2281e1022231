"""Initial values that depend on other variables."""

import pytest

import stillflow as tf


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def test_all_variables_are_initialized_in_one_run(session):
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(v * 2.0 + tf.reduce_sum(v))
    u = tf.Variable(v)
    session.run(tf.global_variables_initializer())
    assert session.run([w, u])[0].tolist() == [5, 7]
    assert session.run(u).tolist() == [1, 2]


def test_the_value_counts_once_there_is_one(session):
    v = tf.Variable(1.0)
    w = tf.Variable(v * 2.0)
    session.run(w.initializer)
    assert session.run(w) == 2
    assert not session.run(tf.is_variable_initialized(v))
    session.run(v.initializer)
    session.run(v.assign(5.0))
    session.run(w.initializer)
    assert session.run(w) == 10
    assert session.run(v.initialized_value()) == 5


def test_random_initial_values_are_drawn_once(session):
    v = tf.Variable(tf.random_normal([3]))
    w = tf.Variable(v.initialized_value() + 0.0)
    session.run(tf.global_variables_initializer())
    first, second = session.run([v, w])
    assert first.tolist() == second.tolist()


def test_what_depends_on_no_variable_is_left_alone(session, new_graph):
    before = tf.constant(1.0) * 2.0
    count = new_graph.version
    tf.Variable(before)
    assert new_graph.version == count + 3


def test_variables_that_are_in_no_collection_are_left_alone(session, new_graph):
    v = tf.Variable(1.0, collections=[], trainable=False)
    count = new_graph.version
    w = tf.Variable(v * 1.0)
    assert "Merge" not in {op.type for op in new_graph.get_operations()[count:]}
    session.run(v.initializer)
    session.run(w.initializer)
    assert session.run(w) == 1


def test_circles_are_left_alone(session, new_graph):
    v = tf.Variable(1.0)
    a = tf.identity(v.value(), name="a")
    b = tf.identity(a, name="b")
    a.op._update_input(0, b)
    tf.Variable(b)
    assert "Merge" not in {op.type for op in new_graph.get_operations()}


def test_long_chains_are_no_problem(session):
    x = tf.Variable(0.0).value()
    for _ in range(3000):
        x = x + 1.0
    v = tf.Variable(x)
    session.run(v.initializer)
    assert session.run(v) == 3000


@pytest.mark.parametrize("use_resource", [False, True])
def test_initial_values_do_not_come_from_branches(session, use_resource):
    p = tf.placeholder(tf.bool, [])

    def build():
        return tf.Variable(tf.constant(1.0), use_resource=use_resource).value()

    with pytest.raises(ValueError, match="is from inside a control-flow construct"):
        tf.cond(p, build, lambda: tf.constant(0.0))
    y = tf.cond(
        p, lambda: tf.Variable(lambda: tf.constant(1.0), use_resource=use_resource) + 0.0, lambda: tf.constant(0.0)
    )
    session.run(tf.global_variables_initializer())
    assert session.run(y, {p: True}) == 1


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("validate", [True, False])
def test_slots_of_unknown_shape(session, use_resource, validate):
    start = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [2] if validate else None)
    v = tf.Variable(start, validate_shape=validate, use_resource=use_resource)
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.square(v)))
    session.run(tf.global_variables_initializer())
    session.run(train)
    session.run(train)
    assert session.run(v) == pytest.approx([0.46, 0.92], rel=1e-5)
