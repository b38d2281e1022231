"""Session.partial_run: one run in several calls."""

import numpy as np
import pytest

import stillflow as tf

BAD = tf.errors.InvalidArgumentError


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


@pytest.fixture
def chain():
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32, [], "b")
    c = tf.add(a, 1.0, name="c")
    return a, b, c, tf.multiply(c, b, name="d")


def test_values_go_from_call_to_call(session, chain):
    a, b, c, d = chain
    handle = session.partial_run_setup({"x": c, "y": [d]}, [a, "b:0"])
    assert isinstance(handle, str)
    assert session.partial_run(handle, {"x": c}, {a: 2}) == {"x": 3}
    assert session.partial_run(handle, [d], {b: 3}) == [9]
    with pytest.raises(BAD, match="Must run 'setup' before performing partial runs"):
        session.partial_run(handle, d)


def test_a_call_may_only_feed(session, chain):
    a, b, c, d = chain
    handle = session.partial_run_setup([c, d], [a, b])
    assert session.partial_run(handle, [], {a: 2}) == []
    assert session.partial_run(handle, [c, d], {b: 3}) == [3, 9]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lambda a, b, c, d: (d, {}), "Fetch d:0 can't be computed from the feeds that have been fed so far"),
        (lambda a, b, c, d: (c, {}), "The fetch c:0 has already been fetched"),
        (lambda a, b, c, d: (d, {a: 1, b: 1}), "The feed a:0 has already been fed"),
        (lambda a, b, c, d: (d, {c: 1, b: 1}), "The feed c:0 was not specified in partial_run_setup"),
        (lambda a, b, c, d: (b, {b: 1}), "The fetch b:0 was not specified in partial_run_setup"),
    ],
)
def test_what_was_not_announced_or_comes_twice_is_refused_and_harms_nothing(session, chain, second, message):
    a, b, c, d = chain
    handle = session.partial_run_setup([c, d], [a, b])
    session.partial_run(handle, c, {a: 2})
    with pytest.raises(BAD, match=message):
        session.partial_run(handle, *second(*chain))
    assert session.partial_run(handle, d, {b: 3}) == 9


def test_no_operation_runs_twice(session):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    w = tf.Variable(1.0)
    drawn = tf.random_uniform([4], seed=1)
    step = tf.assign_add(w, x)
    with tf.control_dependencies([step]):
        after = drawn * y + 0.0 * w
    again = tf.assign_add(step, y)
    session.run(w.initializer)
    handle = session.partial_run_setup([drawn, step, after, again], [x, y])
    first = session.partial_run(handle, drawn)
    assert session.partial_run(handle, step, {x: 5.0}) == 6
    np.testing.assert_array_equal(session.partial_run(handle, after, {y: 2.0}), first * 2)
    assert session.partial_run(handle, again) == 8
    assert session.run(w) == 8
    assert not np.array_equal(session.run(drawn), first)


def test_operations_are_fetched_and_several_runs_may_be_under_way(session):
    x = tf.placeholder(tf.float32, [])
    w = tf.Variable(0.0)
    add = tf.assign_add(w, x).op
    session.run(w.initializer)
    one, other = (session.partial_run_setup([add, w], [x]) for _ in range(2))
    assert one != other
    assert session.partial_run(one, add, {x: 1.0}) is None
    assert session.partial_run(other, [add], {x: 2.0}) == [None]
    assert session.partial_run(one, w) == 3


def test_life_cycle(new_graph):
    session = tf.Session(graph=new_graph)
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        session.partial_run_setup([], [])
    c = tf.constant(1.0)
    with pytest.raises(BAD, match="Must run 'setup'"):
        session.partial_run("nothing", c)
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        session.partial_run_setup([c], ["nope:0"])
    handle = session.partial_run_setup(c)
    session.close()
    for call in (lambda: session.partial_run_setup(c), lambda: session.partial_run(handle, c)):
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            call()
