"""random_state and reproducibility_report: streams that go on where they stopped, and what to compare."""

import itertools
import pickle

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def random_nodes():
    """Nodes of every kind of state: positions, also of ops that the operating system seeds, and learned weights."""
    classes = tf.constant([[1], [3]], tf.int64)
    return [
        tf.random_uniform([3], seed=1),
        tf.random_normal([3]),
        tf.random_shuffle(tf.range(20), seed=2),
        tf.random_gamma([2], [0.5, 2.0]),
        tf.multinomial([[0.0, 1.0, 2.0]], 4),
        tf.nn.learned_unigram_candidate_sampler(classes, 1, 2, False, 10)[0],
        tf.nn.log_uniform_candidate_sampler(classes, 1, 3, True, 10)[0],
    ]


def values_of(session, nodes, runs):
    return [value.tobytes() for _ in range(runs) for value in session.run(nodes)]


def test_another_session_goes_on_where_the_state_was_kept(graph):
    nodes = random_nodes()
    with tf.Session() as session:
        values_of(session, nodes, 3)
        state = pickle.loads(pickle.dumps(tf.random_state(session)))
        expected = values_of(session, nodes, 3)
    with tf.Session() as session:  # before any op has run
        tf.random_state(session, state)
        assert values_of(session, nodes, 3) == expected
    with tf.Session() as session:  # and after
        assert values_of(session, nodes, 2) != expected[: 2 * len(nodes)]
        tf.random_state(session, state)
        assert values_of(session, nodes, 3) == expected


def test_the_state_is_that_of_before(graph):
    nodes = random_nodes()
    with tf.Session() as session:
        assert tf.random_state(session) == {"streams": {}, "states": {}}
        values_of(session, nodes, 1)
        state = tf.random_state(session)
        later = values_of(session, nodes, 1)
        now = tf.random_state(session)
        assert now != state
        assert tf.random_state(session, state) == now
        assert tf.random_state(session) == state
        assert values_of(session, nodes, 1) == later


def test_a_state_that_waits_is_kept_as_it_is(graph):
    nodes = random_nodes()
    with tf.Session() as session:
        values_of(session, nodes, 2)
        state = tf.random_state(session)
    with tf.Session() as session:
        tf.random_state(session, state)
        assert tf.random_state(session) == state


def test_counters_say_how_many_blocks_were_reserved(graph):
    node = tf.random_uniform([3], seed=5, name="u")
    with tf.Session() as session:
        session.run(node)
        session.run(node)
        streams = tf.random_state(session)["streams"]
    assert streams == {"u/RandomUniform": {"key": 87654321, "counter": 5 * 2**64 + 2 * 3 * 256}}


def test_ops_that_are_not_named_are_left_alone(graph):
    a, b = tf.random_uniform([2], seed=1, name="a"), tf.random_uniform([2], seed=1, name="b")
    with tf.Session() as session:
        first = session.run([a, b])[0]
        state = tf.random_state(session)
        tf.random_state(session, {"streams": {"a/RandomUniform": {"key": 87654321, "counter": 2**64}}})
        again, on = session.run([a, b])
        np.testing.assert_array_equal(again, first)
        assert not np.array_equal(on, first)
        assert state["streams"].keys() == {"a/RandomUniform", "b/RandomUniform"}


def test_what_is_no_state_is_refused(graph):
    node = tf.random_uniform([3], seed=5, name="u")
    with tf.Session() as session:
        first = session.run(node)
        kept = tf.random_state(session)
        for wrong in ([], {}, {"streams": 3}):
            with pytest.raises(TypeError, match="must be what random_state returned"):
                tf.random_state(session, wrong)
        for key, counter in ((2**64, 0), (-1, 0), (0, 2**128), (0, -1)):
            wrong = {"streams": {"u/RandomUniform": {"key": key, "counter": counter}}}
            with pytest.raises(ValueError, match="no 64-bit key and 128-bit counter"):
                tf.random_state(session, wrong)
        for stream in (3, {"key": 3}, {"key": 3, "counter": "4"}, {"key": 1.5, "counter": 4}):
            with pytest.raises(TypeError, match="must have a key and a counter"):
                tf.random_state(session, {"streams": {"u/RandomUniform": stream}})
        for call in (tf.random_state, tf.reproducibility_report):
            with pytest.raises(TypeError, match=r"session must be a tf.Session"):
                call(graph)
        with pytest.raises(TypeError, match="must be bytes"):
            tf.random_state(session, {"streams": {}, "states": {"u": 3}})
        assert tf.random_state(session) == kept
        assert not np.array_equal(session.run(node), first)


@pytest.mark.parametrize("has_run", [False, True])
@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data[:-4] + bytes(4), lambda data: b""])
def test_bytes_of_another_op_are_refused(graph, spoil, has_run):
    node = tf.nn.learned_unigram_candidate_sampler(tf.constant([[1]], tf.int64), 1, 2, False, 10, seed=1, name="s")[0]
    with tf.Session() as session:
        session.run(node)
        state = tf.random_state(session)
    state["states"] = {name: spoil(data) for name, data in state["states"].items()}
    assert state["states"]
    with tf.Session() as session:
        if has_run:
            session.run(node)
        with pytest.raises(errors.FailedPreconditionError, match="The saved state is not one of this op"):
            tf.random_state(session, state)
            session.run(node)
        session.run(node)  # the session is as good as before


# ---- The report -----------------------------------------------------------------------------------------------


def program():
    tf.set_random_seed(3)
    v = tf.get_variable("v", [4, 3])
    words = tf.Variable(["a", "b"], name="words")
    late = tf.get_variable("late", [2])
    return [v.initializer, words.initializer], late, tf.random_uniform([2], name="u")


def report_of(change=None, runs=1):
    with tf.Graph().as_default(), tf.Session() as session:
        initializers, _, node = program()
        if change is not None:
            change()
        session.run(initializers)
        for _ in range(runs):
            session.run(node)
        return tf.reproducibility_report(session)


def test_equal_runs_have_equal_reports():
    first, second = report_of(), report_of()
    assert first == second
    assert str(first) == str(second)
    assert first["seeds"]["graph"] == 3
    assert first["seeds"]["rule"] == "tf1"
    assert first["seeds"]["ops"]["v/Initializer/random_uniform/RandomUniform"] == "3, 3"
    assert first["variables"]["late"] == "not initialized"
    assert first["variables"]["v"].startswith("float32 [4, 3] ")
    assert first["streams"]["u/RandomUniform"] == f"seeds {first['seeds']['ops']['u/RandomUniform']}: 512 blocks"


def test_learned_weights_are_in_the_report():
    with tf.Graph().as_default(), tf.Session() as session:
        classes = tf.constant([[1]], tf.int64)
        node = tf.nn.learned_unigram_candidate_sampler(classes, 1, 2, False, 10, seed=1, name="s")[0]
        session.run(node)
        first = tf.reproducibility_report(session)["streams"]
        session.run(node)
        assert differing(first, tf.reproducibility_report(session)["streams"]) == {"s"}


def differing(a, b):
    return {key for key in a if a[key] != b[key]}


def test_a_report_says_what_differs():
    first = report_of()
    assert differing(first, report_of(lambda: tf.constant(1))) == {"graph"}
    assert differing(first, report_of(runs=2)) == {"streams"}
    assert differing(first, report_of(lambda: tf.set_random_seed(4))) == {"seeds"}
    assert differing(first, report_of(lambda: tf.random_uniform([], seed=1))) == {"graph", "seeds"}


def test_a_variable_that_differs_is_named():
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(["a"], name="w")
        changes = v.assign([1.0, 2.0000002]), w.assign(["b"])
        session.run(tf.global_variables_initializer())
        reports = [tf.reproducibility_report(session)["variables"]]
        for change in changes:
            session.run(change)
            reports.append(tf.reproducibility_report(session)["variables"])
    assert [differing(a, b) for a, b in itertools.pairwise(reports)] == [{"v"}, {"w"}]


def test_a_report_is_readable_and_changes_nothing():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.Variable(1.0, name="v")
        tf.random_uniform([2], name="u")
        nodes = graph._last_id
        text = str(tf.reproducibility_report(session))
        assert graph._last_id == nodes
        lines = text.splitlines()
    assert "versions:" in lines
    assert "  v: not initialized" in lines
    assert "    u/RandomUniform: 0, 0 (not reproducible: seeded by the operating system)" in lines
    assert "  graph: None" in lines
    assert "streams: none" in lines
