"""tensorflow.python.framework.test_util: decorators and contexts of modes, and what tests look for in graphs."""

import unittest

import pytest
from stillflow.python.eager import context
from stillflow.python.framework import test_util

import stillflow as tf
from stillflow.eager.graph import EagerGraph
from stillflow.graph.scopes import DefaultGraphs


def outcome(method, name="testIt", decorator=None):
    """(errors, what `method` appended to a list that it is called with) of a test."""
    seen = []

    def test(self):
        method(self, seen)

    case = type("Case", (tf.test.TestCase,), {name: decorator(test) if decorator else test})
    result = unittest.TestResult()
    case(name).run(result)
    return [error for _, error in result.errors + result.failures], seen


def test_a_test_of_both_modes_runs_in_a_session_and_then_eagerly():
    def method(self, seen):
        seen.append((tf.executing_eagerly(), tf.get_default_session() is not None))
        self.assertAllEqual([2, 4], self.evaluate(tf.constant([1, 2]) * 2))

    assert outcome(method, decorator=test_util.run_in_graph_and_eager_modes) == ([], [(False, True), (True, False)])


def test_settings_reach_a_test_of_both_modes():
    def method(_, seen):
        seen.append(tf.constant(1).device)

    errors, seen = outcome(method, decorator=test_util.run_in_graph_and_eager_modes(use_gpu=False))
    assert not errors
    assert seen[0] == "/device:CPU:0"


def test_what_fails_eagerly_alone_fails():
    def method(self, _):
        self.assertFalse(tf.executing_eagerly())

    errors, _ = outcome(method, decorator=test_util.run_in_graph_and_eager_modes)
    assert len(errors) == 1


def test_eager_values_of_structures():
    def method(self, seen):
        sparse = tf.SparseTensor([[0, 1]], [5.0], [1, 2])
        with context.eager_mode():
            sparse = tf.SparseTensor([[0, 1]], [5.0], [1, 2])
            found = self.evaluate({"a": tf.constant(1), "b": [lambda: tf.constant([2])], "c": sparse, "d": None})
        seen.extend([found["a"], found["b"][0].tolist(), found["c"].values.tolist(), found["d"]])

    assert outcome(method) == ([], [1, [2], [5.0], None])


def test_classes_are_decorated_test_by_test():
    @test_util.run_all_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        runs = 0

        def testIt(self):  # noqa: N802
            Case.runs += 1

        def other(self):
            raise AssertionError

    Case("testIt").run()
    assert Case.runs == 2


def test_graph_mode_within_eager_mode_and_back():
    with tf.Graph().as_default() as graph, context.eager_mode():
        assert tf.executing_eagerly()
        with context.graph_mode():
            assert tf.constant(1).graph is graph
        assert tf.constant(1).numpy() == 1


def test_reasons_are_asked_for():
    assert test_util.run_v1_only("why", outcome) is outcome
    assert test_util.disable_xla("why")(outcome) is outcome
    with pytest.raises(ValueError, match="should be string"):
        test_util.run_v1_only(outcome)


def test_tests_for_gpus_and_under_conditions_are_skipped():
    def method(_, seen):
        seen.append("ran")

    assert outcome(method, decorator=test_util.run_cuda_only) == ([], [])
    assert outcome(method, decorator=test_util.skip_if(lambda: True)) == ([], [])
    assert outcome(method, decorator=test_util.skip_if(False)) == ([], ["ran"])


def test_nodes_by_name():
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
    assert test_util.assert_ops_in_graph({"one": "Const"}, graph)["one"].op == "Const"
    assert test_util.get_node_def_from_graph("one", graph.as_graph_def()).name == "one"
    assert test_util.get_node_def_from_graph("two", graph.as_graph_def()) is None
    with pytest.raises(ValueError, match="Expected op for node one is different. Add vs Const"):
        test_util.assert_ops_in_graph({"one": "Add"}, graph)
    with pytest.raises(ValueError, match="Not all expected ops are present"):
        test_util.assert_ops_in_graph({"two": "Const"}, graph)


def test_layouts():
    with tf.Graph().as_default():
        assert test_util.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3]
        assert test_util.NCHWToNHWC([1, 4, 2, 3, 5]) == [1, 2, 3, 5, 4]
        assert test_util.NHWCToNCHW(tf.zeros([1, 2, 3, 4])).shape.as_list() == [1, 4, 2, 3]
        assert test_util.NCHWToNHWC(tf.zeros([1, 4, 2])).shape.as_list() == [1, 2, 4]


def test_a_graph_whose_context_set_up_forgets_stays_one_of_nodes(monkeypatch):
    class Case(tf.test.TestCase):
        def test(self):
            with tf.Graph().as_default() as graph:
                self.setUp()
                seen.append((tf.executing_eagerly(), tf.get_default_graph() is graph))
                with self.session() as session:
                    seen.append(session.run(tf.constant(2.0)))
            seen.append(tf.executing_eagerly())
            self.setUp()
            with tf.Graph().as_default() as graph:
                seen.append(tf.get_default_graph() is graph)
            seen.append(tf.executing_eagerly())

    seen = []
    monkeypatch.setattr(DefaultGraphs, "eager", EagerGraph())
    Case("test").run()
    assert seen == [(False, False), 2.0, True, True, True]


def test_a_test_of_graph_mode_may_replace_the_default_graph():
    def method(_, seen):
        tf.constant(1, name="old")
        tf.reset_default_graph()
        seen.append((tf.executing_eagerly(), tf.get_default_graph().get_operations()))

    assert outcome(method, decorator=test_util.run_deprecated_v1) == ([], [(False, [])])
