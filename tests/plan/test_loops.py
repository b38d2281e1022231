"""Loops in the plan: what runs in each round, what values live, and what ends a loop."""

import re
import threading
import time

import numpy as np
import pytest

import stillflow as tf
from stillflow import _engine, ops
from stillflow.formats import protobuf

BAD = tf.errors.InvalidArgumentError


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def count_to(n, body=lambda i: (), start=0):
    """A loop with a counter, which returns the counter."""

    def step(i):
        with tf.control_dependencies(body(i) or []):
            return i + 1

    return tf.while_loop(lambda i: i < n, step, [tf.constant(start)], parallel_iterations=1)


def steps(session, fetches, feed_dict=None):
    known = {id(p) for request in session._requests.values() for p in request.plans}
    session.run(fetches, feed_dict)
    (new,) = [p for request in session._requests.values() for p in request.plans if id(p) not in known]
    return re.findall(r"^ *\d+  (\S+)", new.text, re.MULTILINE)


# ---- What runs ----------------------------------------------------------------------------------------------


def test_a_loop_is_a_run_of_steps(session):
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [3])
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.cumsum(y) * 2.0), [tf.constant(0), x])
    assert steps(session, y, {n: 2, x: [1, 0, 0]}) == [
        "loop_enter", "elementwise", "loop_test", "elementwise", "cumulative", "elementwise", "loop_next", "loop_end",
    ]  # fmt: skip
    for rounds in (0, 1, 2, 5):
        expected = np.array([1.0, 0.0, 0.0])
        for _ in range(rounds):
            expected = np.cumsum(expected) * 2
        assert session.run(y, {n: rounds, x: [1, 0, 0]}).tolist() == expected.tolist()


def test_side_effects_happen_in_every_round(session):
    v = tf.Variable([0.0, 0.0])
    session.run(v.initializer)
    end = count_to(5, lambda i: [tf.scatter_add(v, [i % 2], [1.0]).op])
    session.run(end)
    assert session.run(v).tolist() == [3, 2]


def test_reads_see_the_round_before(session):
    v = tf.Variable(1.0)
    session.run(v.initializer)

    def body(i, s):
        before = v.read_value()
        with tf.control_dependencies([before]), tf.control_dependencies([tf.assign_add(v, 1.0)]):
            return i + 1, s + before

    _, total = tf.while_loop(lambda i, s: i < 4, body, [tf.constant(0), v.read_value() * 0.0])
    assert session.run(total) == 1 + 2 + 3 + 4
    assert session.run(v) == 5


def test_what_waits_for_a_loop_comes_after_it(session):
    v = tf.Variable(0.0)
    session.run(v.initializer)
    with tf.control_dependencies([count_to(3, lambda i: [tf.assign_add(v, 1.0).op])]):
        after = v.read_value()
    before = v.read_value()
    with tf.control_dependencies([before]):
        later = count_to(2, lambda i: [tf.assign_add(v, 10.0).op])
    assert session.run(after) == 3
    assert session.run([before, later])[0] == 3
    assert session.run(v) == 23


def test_nothing_runs_in_a_loop_of_a_branch_that_is_not_taken(session):
    p, v = tf.placeholder(tf.bool, []), tf.Variable(0.0)
    session.run(v.initializer)
    end = tf.cond(p, lambda: count_to(3, lambda i: [tf.assign_add(v, 1.0).op]), lambda: tf.constant(-1))
    assert session.run(end, {p: False}) == -1
    assert session.run(v) == 0
    assert session.run(end, {p: True}) == 3
    assert session.run(v) == 3
    assert session.run(end, {p: False}) == -1
    assert session.run(v) == 3


@pytest.mark.parametrize("rounds", range(5))
def test_branches_are_decided_anew_in_every_round(session, rounds):
    n = tf.placeholder(tf.int32, [])

    def body(i, x):
        outer = tf.cond(
            tf.equal(i % 2, 0),
            lambda: tf.cond(tf.less(i, 2), lambda: x + 1, lambda: x * 2),
            lambda: tf.cond(tf.greater(x, 3), lambda: x - 3, lambda: x * 5),
        )
        return i + 1, outer

    _, y = tf.while_loop(lambda i, x: i < n, body, [tf.constant(0), tf.constant(1)])
    x = 1
    for i in range(rounds):
        x = (x + 1 if i < 2 else x * 2) if i % 2 == 0 else (x - 3 if x > 3 else x * 5)
    assert session.run(y, {n: rounds}) == x


def test_loops_in_loops_in_branches(session):
    n = tf.placeholder(tf.int32, [])

    def body(i, s):
        inner = tf.cond(
            tf.equal(i % 2, 0),
            lambda: tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + 10), [tf.constant(0), s])[1],
            lambda: s + 1,
        )
        return i + 1, inner

    _, y = tf.while_loop(lambda i, s: i < n, body, [tf.constant(0), tf.constant(0)])
    for rounds in range(7):
        expected = sum(10 * i if i % 2 == 0 else 1 for i in range(rounds))
        assert session.run(y, {n: rounds}) == expected


def test_a_condition_that_needs_work(session):
    x = tf.placeholder(tf.float32, [None])

    def goes_on(y):
        inner = tf.while_loop(lambda j, s: j < 3, lambda j, s: (j + 1, s + tf.reduce_sum(y)), [0, 0.0])[1]
        return tf.cond(tf.reduce_max(y) > 100, lambda: False, lambda: inner < 300)

    y = tf.while_loop(goes_on, lambda y: y * 2.0, [x])
    value = np.array([1.0, 2.0], np.float32)
    while not (value.max() > 100 or 3 * value.sum() >= 300):
        value = value * 2
    assert session.run(y, {x: [1, 2]}).tolist() == value.tolist()
    assert session.run(y, {x: [200]}).tolist() == [200]


# ---- Values -------------------------------------------------------------------------------------------------


def test_shapes_may_change_from_round_to_round(session):
    x = tf.placeholder(tf.float32, [None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, y = tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, y + 1], 0)), [tf.constant(0), x], shapes
    )
    total = tf.reduce_sum(y * 2.0)
    assert session.run(y, {x: [1]}).tolist() == [1, 2, 2, 3, 2, 3, 3, 4]
    assert session.run(total, {x: [1]}) == 40
    assert session.run(y, {x: []}).tolist() == []
    assert session.run(y, {x: [1, 5]}).shape == (16,)


def test_ranks_may_change_from_round_to_round(session):
    x = tf.placeholder(tf.float32)
    shapes = [tf.TensorShape([]), tf.TensorShape(None)]
    _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.expand_dims(y, 0)), [tf.constant(0), x], shapes)
    assert session.run(y, {x: 3.0}).shape == (1, 1)
    assert session.run(y, {x: [3.0]}).shape == (1, 1, 1)


def test_variables_change_places(session):
    a, b = tf.while_loop(lambda a, b: a < 100, lambda a, b: (b, a + b), [tf.constant(0), tf.constant(1)])
    assert session.run([a, b]) == [144, 233]
    many = [tf.constant([float(i)]) for i in range(11)]
    rotated = tf.while_loop(lambda i, *v: i < 25, lambda i, *v: (i + 1, *v[1:], v[0]), [0, *many])[1:]
    assert [value[0] for value in session.run(rotated)] == [(i + 25) % 11 for i in range(11)]


def test_constants_and_fed_arrays_stay_what_they_are(session):
    fed = np.arange(4000, dtype=np.float32)
    x = tf.placeholder(tf.float32, [4000])
    c = tf.constant(np.full(4000, 2.0, np.float32))
    _, y, z = tf.while_loop(
        lambda i, y, z: i < 3, lambda i, y, z: (i + 1, y + 1.0, tf.cumsum(z) * 0.0 + z + y), [tf.constant(0), x, c]
    )
    for _ in range(2):
        first, second = session.run([y, z], {x: fed})
        np.testing.assert_array_equal(first, np.arange(4000) + 3.0)
        np.testing.assert_array_equal(second, 2.0 + 3 * np.arange(4000) + 3)
    np.testing.assert_array_equal(fed, np.arange(4000))
    np.testing.assert_array_equal(session.run(c), np.full(4000, 2.0))


def test_memory_does_not_grow_with_the_rounds(session):
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [1000])
    most = []

    def note(_):
        most.append(_engine.allocator_statistics()[0])
        return np.float32(0)

    def body(i, y, z):
        noted = tf.reshape(tf.py_func(note, [y], tf.float32), [])
        return i + 1, tf.cumsum(y) * 0.0 + z + noted, tf.cond(i % 2 > 0, lambda: tf.cumprod(z), lambda: y)

    def goes_on(i, y, z):
        return tf.reduce_sum(tf.cumsum(z)) * 0.0 + tf.to_float(i) < tf.to_float(n)

    _, y, _ = tf.while_loop(goes_on, body, [tf.constant(0), x, x + 1])
    ones = np.ones(1000, np.float32)
    session.run(y, {n: 3, x: ones})
    used, _ = _engine.allocator_statistics()
    most.clear()
    for rounds in (200, 0, 7):
        session.run(y, {n: rounds, x: ones})
        assert _engine.allocator_statistics()[0] == used
    assert max(most[100:200]) <= max(most[:20])


def test_strings_go_round(session):
    s = tf.placeholder(tf.string, [None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y, s], 0)), [tf.constant(0), s], shapes)
    assert session.run(y, {s: ["a", "b"]}).tolist() == [b"a", b"b"] * 4


def test_which_way_a_merge_was_reached(session):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        frame = {"frame_name": "frame"}
        first = ops.enter(tf.constant(0), "frame", parallel_iterations=1)
        limit = ops.enter(tf.constant(3), "frame", is_constant=True)
        one = ops.enter(tf.constant(1), "frame", is_constant=True)
        merged, index = ops.merge([first, first])
        test = ops.loop_cond(ops.less(merged, limit))
        over, goes_on = ops.switch(merged, test)
        merged.op._update_input(1, ops.next_iteration(ops.add(goes_on, one)))
        seen = ops.switch(index, test)[0]
        assert session.run([ops.exit_loop(over), ops.exit_loop(seen)]) == [3, 1]
        with pytest.raises(BAD, match="is in a loop: only what leaves a loop can be fetched"):
            session.run(goes_on)
        assert first.op.get_attr("frame_name") == frame["frame_name"].encode()


# ---- What cannot be run -------------------------------------------------------------------------------------


def test_frames_do_not_mix(session):
    inside = ops.enter(tf.constant(1), "frame")
    mixed = ops.add(inside, tf.constant(1))
    with pytest.raises(BAD, match="has inputs from different frames"):
        session.run(ops.exit_loop(mixed))


def test_loops_without_a_test_are_refused(session):
    merged, _ = ops.merge([ops.enter(tf.constant(1), "frame")] * 2)
    merged.op._update_input(1, ops.next_iteration(ops.identity(merged)))
    with pytest.raises(tf.errors.UnimplementedError, match="a loop without a LoopCond cannot be run"):
        session.run(ops.exit_loop(merged))


def test_what_enters_may_leave_without_a_round(session):
    inside = ops.enter(tf.constant([1.0, 2.0]), "frame", is_constant=True)
    assert session.run(ops.exit_loop(tf.identity(inside) * inside)).tolist() == [1, 4]


# ---- Ending -------------------------------------------------------------------------------------------------


def test_a_failing_round_fails_the_run(session):
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + tf.gather([1, 2, 3], i)), [tf.constant(0), tf.constant(0)]
    )
    with pytest.raises(BAD, match=r"indices = 3 is not in \[0, 3\)") as error:
        session.run(y, {n: 5})
    assert error.value.op.type == "GatherV2"
    assert session.run(y, {n: 3}) == 6


def test_endless_loops_can_be_timed_out(session):
    endless = tf.while_loop(lambda i: tf.constant(True), lambda i: i + 1, [tf.constant(0)])
    options = protobuf.message("RunOptions")(timeout_in_ms=200)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(endless, options=options)


def test_closing_a_session_ends_its_loops(new_graph):
    session = tf.Session(graph=new_graph)
    endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [tf.constant(0)])
    found = []

    def run():
        try:
            session.run(endless)
        except tf.errors.CancelledError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    session.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(found) == 1


def test_threads_share_a_loop(session):
    n = tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.int32, n)
    _, array = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, i * i)), [tf.constant(0), array])
    y = array.stack()
    wrong = []

    def run(rounds):
        for _ in range(50):
            if session.run(y, {n: rounds}).tolist() != [i * i for i in range(rounds)]:
                wrong.append(rounds)

    threads = [threading.Thread(target=run, args=(rounds,)) for rounds in (1, 2, 9, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_partial_runs_with_loops(session):
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    _, first = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2.0), [tf.constant(0), tf.constant(1.0)])
    _, second = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x * first), [tf.constant(0), first])
    handle = session.partial_run_setup([first, second], [n, x])
    assert session.partial_run(handle, first, {n: 3}) == 8
    assert session.partial_run(handle, second, {x: 2.0}) == 8 + 3 * 16


def test_an_exit_outside_of_a_loop_is_an_error():
    value = ops.exit_op(tf.constant(1.0))
    with tf.Session() as session, pytest.raises(BAD, match="Exit outside of a loop"):
        session.run(value)
