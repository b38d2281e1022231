"""Branches in the plan: what runs, what has a value, and what the passes make of nodes that may not run."""

import re

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.plan.guards import ALWAYS, alternatives, both_ways, common, implies, joined

BAD = tf.errors.InvalidArgumentError


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


@pytest.fixture
def pred():
    return tf.placeholder(tf.bool, [], "pred")


def steps(session, fetches, feed_dict=None):
    """The plan's steps: names, and whether they are guarded."""
    known = {id(p) for request in session._requests.values() for p in request.plans}
    session.run(fetches, feed_dict)
    (new,) = [p for request in session._requests.values() for p in request.plans if id(p) not in known]
    lines = re.findall(r"^ *\d+  (\S+)(.*)", new.text, re.MULTILINE)
    return [name + ("?" if " if " in rest else "") for name, rest in lines]


# ---- guards -------------------------------------------------------------------------------------------------


def test_inner_conditions_imply_outer_ones():
    (outer, not_outer), (inner, _) = both_ways(ALWAYS), both_ways(ALWAYS)
    within = frozenset({outer})
    inner, not_inner = both_ways(within)
    assert joined([within, frozenset({inner})]) == frozenset({inner})
    assert implies(frozenset({inner}), within)
    assert not implies(within, frozenset({inner}))
    assert implies(within, ALWAYS)
    assert alternatives([frozenset({inner}), frozenset({not_inner})]) == within
    assert alternatives([within, frozenset({not_outer})]) == ALWAYS
    assert alternatives([frozenset({inner}), within]) == within
    assert alternatives([frozenset({inner}), frozenset({not_outer})]) is None
    assert common([frozenset({inner}), frozenset({not_inner})]) == within
    assert common([frozenset({inner}), frozenset({not_outer})]) == ALWAYS


def test_alternatives_of_unrelated_predicates_are_none():
    (a, not_a), (b, _) = both_ways(ALWAYS), both_ways(ALWAYS)
    assert alternatives([frozenset({a}), frozenset({b})]) is None
    assert alternatives([frozenset({a, b}), frozenset({not_a, b})]) == frozenset({b})
    assert alternatives([frozenset({a, b}), frozenset({not_a})]) is None


# ---- what runs ----------------------------------------------------------------------------------------------


def test_only_the_taken_branch_runs(session, pred):
    v = tf.Variable(0.0)
    session.run(v.initializer)
    calls = []

    def count(x):
        calls.append(float(x))
        return x

    y = tf.cond(
        pred,
        lambda: tf.py_func(count, [v + 1.0], tf.float32),
        lambda: tf.assign_add(v, 10.0),
    )
    assert session.run(y, {pred: True}) == 1
    assert calls == [1]
    assert session.run(y, {pred: False}) == 10
    assert calls == [1]
    assert session.run(y, {pred: True}) == 11


def test_a_failing_branch_fails_only_when_it_is_taken(session, pred):
    x = tf.constant([1, 2])
    index = tf.placeholder(tf.int32, [])
    y = tf.cond(pred, lambda: tf.gather(x, index), lambda: x[0])
    assert session.run(y, {pred: False, index: 7}) == 1
    with pytest.raises(BAD, match=r"indices = 7 is not in \[0, 2\)"):
        session.run(y, {pred: True, index: 7})
    assert session.run(y, {pred: True, index: 1}) == 2


def test_what_fails_when_folded_fails_only_when_it_is_taken(session, pred):
    y = tf.cond(pred, lambda: tf.floordiv(tf.constant(1), tf.constant(0)), lambda: tf.constant(3) * tf.constant(4))
    assert session.run(y, {pred: False}) == 12
    with pytest.raises(BAD, match="by zero"):
        session.run(y, {pred: True})


def test_nested_branches(session):
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    v = tf.Variable([0, 0, 0])
    session.run(v.initializer)

    def count(i):
        return lambda: tf.scatter_add(v, [i], [1]).op

    target = tf.cond(p, lambda: tf.cond(q, count(0), count(1)), count(2))
    for outer, inner in ((1, 1), (1, 0), (0, 1), (0, 0), (0, 1)):
        session.run(target.op, {p: bool(outer), q: bool(inner)})
    assert session.run(v).tolist() == [1, 1, 3]


def test_an_inner_predicate_is_computed_only_where_it_is_needed(session):
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [None])
    y = tf.cond(p, lambda: tf.cond(x[0] > 0, lambda: x[0], lambda: -x[0]), lambda: tf.constant(-1.0))
    assert session.run(y, {p: True, x: [-3]}) == 3
    assert session.run(y, {p: True, x: [4]}) == 4
    assert session.run(y, {p: False, x: []}) == -1
    with pytest.raises(BAD):
        session.run(y, {p: True, x: []})


def test_what_waits_for_a_branch_runs_with_it(session, pred):
    v = tf.Variable(0)
    session.run(v.initializer)
    on_true = ops.switch(tf.constant(1), pred)[1]
    with tf.control_dependencies([tf.identity(on_true)]):
        change = tf.assign_add(v, 1)
        late = tf.constant(5)
    for value in (True, False, True):
        session.run(change.op, {pred: value})
    assert session.run(v) == 2
    with tf.control_dependencies([late]):
        after = tf.add(late, 1)
    assert session.run(after, {pred: True}) == 6
    with pytest.raises(BAD, match=r"Retval\[0\] does not have value"):
        session.run(after, {pred: False})


def test_a_switch_that_is_waited_for_runs_itself(session, pred):
    switch = ops.switch(tf.constant(1), pred)
    with tf.control_dependencies([switch[0].op]):
        after = tf.constant(3)
    assert session.run(after, {pred: True}) == session.run(after, {pred: False}) == 3


def test_merge_takes_what_is_there(session, pred):
    q = tf.placeholder(tf.bool, [])
    a, b = ops.switch(tf.constant(1), pred), ops.switch(tf.constant(2), q)
    merged, index = ops.merge([a[0] + 10, b[1] + 20])
    after = merged * 2
    feed = {pred: True, q: True}
    assert session.run([merged, index, after], feed) == [22, 1, 44]
    assert session.run([merged, index, after], {pred: False, q: False}) == [11, 0, 22]
    with pytest.raises(BAD, match=r"Retval\[\d\] does not have value"):
        session.run([merged, index, after], {pred: True, q: False})


def test_predicates_must_be_scalars(session):
    p = tf.placeholder(tf.bool)
    y = ops.merge([ops.switch(tf.constant(1), p)[0] + 1, ops.switch(tf.constant(1), p)[1] + 2])[0]
    assert session.run(y, {p: True}) == 3
    with pytest.raises(BAD, match=r"The second input must be a scalar, but it has shape \[2\]"):
        session.run(y, {p: [True, False]})


# ---- feeding and fetching -----------------------------------------------------------------------------------


def test_what_is_in_a_branch_cannot_be_fetched_through_cond(session, pred):
    inner = []
    tf.cond(pred, lambda: inner.append(tf.constant(1) + 1) or inner[0], lambda: tf.constant(2))
    with pytest.raises(ValueError, match="'cond/add' has been marked as not fetchable"):
        session.run(inner[0], {pred: True})


def test_a_dead_fetch_is_an_error(session, pred):
    a = tf.identity(ops.switch(tf.constant([1.0]), pred)[1], name="a")
    z = tf.negative(ops.switch(tf.constant([1.0]), pred)[0], name="z")
    assert session.run(a, {pred: True}).tolist() == [1]
    with pytest.raises(BAD, match=r"Retval\[0\] does not have value"):
        session.run(a, {pred: False})
    with pytest.raises(BAD, match=r"Retval\[1\] does not have value"):
        session.run([z, a], {pred: True})  # they are numbered by name
    with pytest.raises(BAD, match=r"Retval\[1\] does not have value"):
        session.run([a, z], {pred: True})


@pytest.mark.parametrize("value", [True, False])
def test_a_dead_fetch_of_a_known_predicate_is_an_error(session, value):
    on_false, on_true = ops.switch(tf.constant([1.0]), tf.constant(value))
    fetches = [on_false + 1.0, on_true + 1.0]
    assert session.run(fetches[value]).tolist() == [2]
    with pytest.raises(BAD, match=r"Retval\[0\] does not have value"):
        session.run(fetches[not value])


def test_what_is_fed_is_alive(session, pred):
    on_true = ops.switch(tf.constant(1.0), pred)[1]
    inside = on_true + 1.0
    after = inside * 2.0
    assert session.run(after, {pred: False, inside: 5.0}) == 10
    assert session.run(after, {pred: False, on_true: 5.0}) == 12
    y, _ = ops.merge([ops.switch(tf.constant(1.0), pred)[0], after])
    assert session.run(y, {pred: True, inside: 5.0}) == 10


def test_results_of_cond_can_be_fed(session, pred):
    y = tf.cond(pred, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    assert session.run(y + 1.0, {y: 7.0}) == 8


# ---- passes -------------------------------------------------------------------------------------------------


def test_one_predicate_is_decided_once(session, pred):
    x, y = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3])
    z = tf.cond(pred, lambda: tf.cumsum(x) + y, lambda: tf.cumsum(y) + x)
    assert steps(session, z, {pred: True, x: [1, 2, 3], y: [1, 1, 1]}) == [
        "branch", "cumulative?", "elementwise?", "cumulative?", "elementwise?", "merge",
    ]  # fmt: skip


def test_a_known_predicate_leaves_one_branch(session):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cond(tf.less(1, 2), lambda: tf.cumsum(x), lambda: tf.cumprod(x))
    assert steps(session, y, {x: [1, 2, 3]}) == ["cumulative"]
    assert session.run(y, {x: [1, 2, 3]}).tolist() == [1, 3, 6]


def test_a_known_inner_predicate_leaves_one_branch(session, pred):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cond(
        pred, lambda: tf.cond(tf.less(2, 1), lambda: tf.cumsum(x), lambda: tf.cumprod(x)), lambda: tf.negative(x)
    )
    assert steps(session, y, {x: [1, 2, 3], pred: True}) == ["branch", "cumulative?", "elementwise?", "merge"]
    assert session.run(y, {x: [1, 2, 3], pred: True}).tolist() == [1, 2, 6]
    assert session.run(y, {x: [1, 2, 3], pred: False}).tolist() == [-1, -2, -3]


def test_known_outer_predicate_with_an_open_inner_one(session, pred):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cond(
        tf.less(1, 2), lambda: tf.cond(pred, lambda: tf.cumsum(x), lambda: tf.cumprod(x)), lambda: tf.negative(x)
    )
    assert steps(session, y, {x: [1, 2, 3], pred: True}) == ["branch", "cumulative?", "cumulative?", "merge"]
    assert session.run(y, {x: [1, 2, 3], pred: True}).tolist() == [1, 3, 6]
    assert session.run(y, {x: [1, 2, 3], pred: False}).tolist() == [1, 2, 6]


def test_what_fails_in_nested_branches_of_known_predicates(session):
    x = tf.constant(b"abc")

    def starts_with(letter):
        return tf.equal(tf.substr(x, 0, 1), letter)

    def inner():
        return tf.cond(starts_with(b"z"), lambda: tf.substr(x, 0, 1), lambda: tf.substr(x, 7, 1))

    y = tf.cond(starts_with(b"x"), lambda: x, lambda: tf.cond(starts_with(b"y"), lambda: x, inner))
    with pytest.raises(BAD, match="pos 7 out of range"):
        session.run(y)


def test_equal_nodes_merge_only_where_both_run(session, pred):
    x = tf.placeholder(tf.float32, [3])
    outside = tf.cumsum(x)
    y = tf.cond(pred, lambda: tf.cumsum(x) * 2.0, lambda: tf.cumsum(x) * 3.0)
    feed = {pred: True, x: [1, 2, 3]}
    assert steps(session, y, feed).count("cumulative?") == 2
    found = steps(session, [y, outside], feed)
    assert found.count("cumulative?") == 0 and found.count("cumulative") == 1
    assert session.run(y, {pred: False, x: [1, 1, 1]}).tolist() == [3, 6, 9]


def test_elementwise_nodes_are_fused_within_one_branch(session, pred):
    x = tf.placeholder(tf.float32, [3])
    before = tf.exp(x)
    y = tf.cond(pred, lambda: tf.tanh(before * 2.0 + 1.0), lambda: tf.sin(before)) + 1.0
    feed = {pred: True, x: [0, 1, 2]}
    found = steps(session, y, feed)
    assert found == ["branch", "elementwise", "elementwise?", "elementwise?", "merge", "elementwise"] or found == [
        "elementwise", "branch", "elementwise?", "elementwise?", "merge", "elementwise",
    ]  # fmt: skip
    for value, expected in ((True, np.tanh(np.exp([0, 1, 2]) * 2 + 1) + 1), (False, np.sin(np.exp([0, 1, 2])) + 1)):
        np.testing.assert_allclose(session.run(y, {pred: value, x: [0, 1, 2]}), expected, rtol=1e-5)


def test_memory_is_not_reused_while_the_other_branch_may_need_it(session, pred):
    x = tf.placeholder(tf.float32, [1000])
    base = tf.cumsum(x)
    y = tf.cond(pred, lambda: base + 1.0, lambda: tf.cumprod(base) * 0.0 + base)
    total = tf.reduce_sum(y) + tf.reduce_sum(base)
    ones = np.ones(1000, np.float32)
    for _ in range(3):
        assert session.run(total, {pred: True, x: ones}) == 1000 * 1001 + 1000
    base_sum = 1000 * 1001 / 2
    value = session.run(tf.cond(pred, lambda: base + 1.0, lambda: base * 2.0), {pred: False, x: ones})
    assert value.sum() == 2 * base_sum


def test_reads_in_branches_see_what_was_assigned_before(session, pred):
    v = tf.Variable(1.0)
    session.run(v.initializer)

    def change_and_read():
        with tf.control_dependencies([tf.assign_add(v, 5.0)]):
            return v.read_value()

    y = tf.cond(pred, change_and_read, lambda: v.read_value())
    with tf.control_dependencies([y]):
        after = v.read_value()
    assert session.run([y, after], {pred: False}) == [1, 1]
    assert session.run([y, after], {pred: True}) == [6, 6]
    assert session.run([y, after], {pred: False}) == [6, 6]


def test_a_read_in_a_branch_does_not_serve_others(session, pred):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    session.run([v.initializer, w.initializer])
    y = tf.cond(pred, lambda: tf.cumsum(v), lambda: tf.cumsum(w))
    z = tf.cumprod(v) + tf.cumprod(w) + y
    assert session.run(z, {pred: True}).tolist() == [5, 17]
    assert session.run(z, {pred: False}).tolist() == [7, 21]


def test_a_variable_that_decides_is_read_once(session):
    v = tf.Variable(True)
    x = tf.placeholder(tf.float32, [2])
    session.run(v.initializer)

    def first():
        with tf.control_dependencies([tf.assign(v, False)]):
            return tf.cumsum(x)

    y = tf.cond(v, first, lambda: tf.cumprod(x))
    assert session.run(y, {x: [3, 4]}).tolist() == [3, 7]
    assert session.run(y, {x: [3, 4]}).tolist() == [3, 12]


def test_a_variable_decides_anew_after_it_was_changed(session):
    v = tf.Variable(True)
    session.run(v.initializer)
    before = tf.cond(v, lambda: tf.constant(1), lambda: tf.constant(2))
    with tf.control_dependencies([before]):
        change = tf.assign(v, False)
    with tf.control_dependencies([change]):
        after = tf.cond(v, lambda: tf.constant(10), lambda: tf.constant(20))
    assert session.run(before + after) == 21
    assert session.run(before + after) == 22
    x = tf.constant([1.0, 2.0])
    with tf.control_dependencies([tf.assign(v, True)]):
        third = tf.cond(v, lambda: tf.cumsum(x), lambda: tf.negative(x))
    with tf.control_dependencies([tf.cond(v, lambda: tf.negative(x), lambda: tf.exp(x))]):
        result = third + 0.0
    assert session.run(result).tolist() == [1, 3]


def test_references_come_together(session, pred):
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    session.run([v.initializer, w.initializer])
    one = tf.cond(pred, lambda: tf.assign_add(v, 1.0), lambda: tf.assign_add(v, 10.0))
    assert one.dtype._is_ref_dtype
    assert session.run(one, {pred: True}) == 2
    assert session.run(one, {pred: False}) == 12
    two = tf.cond(pred, lambda: tf.assign_add(v, 1.0), lambda: tf.assign_add(w, 10.0))
    assert session.run(two, {pred: True}) == 13
    assert session.run(two * 2.0, {pred: False}) == 24
    assert session.run([v, w]) == [13, 12]


# ---- with other parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [True, False])
def test_training_in_a_branch(session, first):
    p = tf.placeholder(tf.bool, [])
    w = tf.Variable([1.0, 2.0])
    loss = tf.reduce_sum(tf.square(w))
    train = tf.cond(
        p, lambda: tf.train.GradientDescentOptimizer(0.1).minimize(loss), lambda: tf.group(w.assign([9.0, 9.0]))
    )
    session.run(w.initializer)
    for value in (first, not first):
        session.run(train.op, {p: value})
    expected = [9.0, 9.0] if first else [7.2, 7.2]
    np.testing.assert_allclose(session.run(w), expected, rtol=1e-6)


def test_batches_of_several_sizes(session, pred):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.cond(pred, lambda: tf.reduce_sum(x, 1), lambda: tf.reduce_max(x, 1))
    assert y.shape.as_list() == [None]
    for rows in range(7):
        value = np.arange(2.0 * rows, dtype=np.float32).reshape(rows, 2)
        assert session.run(y, {pred: True, x: value}).tolist() == value.sum(1).tolist()
        assert session.run(y, {pred: False, x: value}).tolist() == value[:, 1].tolist()


def test_strings_and_fed_values_pass_through(session, pred):
    s, big = tf.placeholder(tf.string, [None]), np.arange(5000, dtype=np.float32)
    x = tf.placeholder(tf.float32, [None])
    texts = tf.cond(pred, lambda: s, lambda: tf.constant([b"none"]))
    same = tf.cond(pred, lambda: x, lambda: -x)
    text, value = session.run([texts, same], {pred: True, s: ["a", "b"], x: big})
    assert text.tolist() == [b"a", b"b"]
    assert value.tobytes() == big.tobytes()
    assert session.run(texts, {pred: False, s: ["c"]}).tolist() == [b"none"]


def test_partial_runs_with_branches(session):
    p, x, y = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first = tf.cond(p, lambda: x * 2.0, lambda: x)
    second = tf.cond(p, lambda: first + y, lambda: first - y)
    for value, expected in ((True, [6, 10]), (False, [3, -1])):
        handle = session.partial_run_setup([first, second], [p, x, y])
        assert session.partial_run(handle, first, {p: value, x: 3.0}) == expected[0]
        assert session.partial_run(handle, second, {y: 4.0}) == expected[1]


def test_a_trace_has_only_what_ran(session, pred):
    x = tf.placeholder(tf.float32, [3])
    y = tf.cond(pred, lambda: tf.cumsum(x, name="yes"), lambda: tf.cumprod(x, name="no"))
    metadata = tf.RunMetadata()
    session.run(y, {pred: True, x: [1, 2, 3]}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    names = [stats.node_name for stats in metadata.step_stats.dev_stats[0].node_stats]
    assert "cond/yes" in names
    assert "cond/no" not in names
