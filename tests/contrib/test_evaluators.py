"""tf.contrib.eager's Evaluator, and tf.contrib.rate."""

import numpy as np
import pytest
from stillflow.contrib.eager.python import evaluator

import stillflow as tf
from stillflow.contrib.rate import rate
from stillflow.eager.graph import EagerGraph

metrics = tf.contrib.eager.metrics


class _Model:
    def eval_data(self, value):
        return value


class _Mean(evaluator.Evaluator):
    def __init__(self):
        super().__init__(_Model())
        self.mean = self.track_metric(metrics.Mean("mean"))

    def call(self, eval_data):
        self.mean(eval_data)


class _Two(_Mean):
    def __init__(self, other):
        super().__init__()
        self.other = self.track_evaluator("other", other)

    def call(self, eval_data):
        super().call(eval_data)
        self.other.call(eval_data * 2.0)


@pytest.mark.parametrize("has_summaries", [False, True])
def test_a_data_set_in_a_graph(has_summaries, tmp_path):
    data = tf.data.Dataset.from_tensor_slices(tf.constant([3.0, 5.0, 10.0]))
    tf.train.create_global_step()
    made = _Mean()
    init, call, results = made.evaluate_on_dataset(data, summary_logdir=str(tmp_path) if has_summaries else None)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), *tf.contrib.summary.summary_writer_initializer_op()])
        found = made.run_evaluation(init, call, results, session)
    assert found == {"mean": 6.0}
    assert [prefix for prefix, _ in made.metrics] == [""]
    assert len(made.metric_variables) == 2


def test_a_data_set_where_operations_run():
    with EagerGraph().as_default():
        made = _Two(_Mean())
        data = tf.data.Dataset.from_tensor_slices(tf.constant([3.0, 5.0, 10.0]))
        found = made.evaluate_on_dataset(data)
        assert {name: float(value) for name, value in found.items()} == {"mean": 6.0, "other/mean": 12.0}
        with pytest.raises(RuntimeError, match="not needed when eager"):
            made.init_variables()
        with pytest.raises(RuntimeError, match="not supported when"):
            made.run_evaluation(None, None, None)


def test_metrics_belong_to_one_evaluator():
    first, second = _Mean(), _Mean()
    assert first.track_metric(first.mean) is first.mean
    with pytest.raises(ValueError, match="Attempt to add two Metrics with the name"):
        first.track_metric(metrics.Mean("mean"))
    other = second.track_metric(metrics.Mean("other"))
    with pytest.raises(ValueError, match="already added to Evaluator _Mean"):
        first.track_metric(other)
    with pytest.raises(TypeError, match="passed type"):
        first.track_metric(3)
    first.track_evaluator("a", second)
    with pytest.raises(RuntimeError, match="two Evaluators with the same prefix"):
        first.track_evaluator("a", _Mean())


def test_losses_and_classes():
    found = evaluator.SparseSoftmaxEvaluator(_Model())
    data = {"loss": tf.constant([1.0, 3.0]), "label": tf.constant([1, 2]), "predicted_class": tf.constant([1, 1])}
    calls = [found(data), found({**data, "weights": tf.constant([1.0, 0.0])})]
    with tf.Session() as session:
        session.run(found.init_variables())
        for call in calls:
            session.run(call)
        values = session.run(found.all_metric_results())
    assert values["Avg Loss"] == pytest.approx(5 / 3)
    assert values["Accuracy"] == pytest.approx(2 / 3)


def test_the_change_of_values():
    found = rate.Rate("a rate")
    values, steps = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
    change = found(values, steps)
    assert [v.op.name.partition("/")[2] for v in found.variables][:2] == ["numer", "denom"]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        first = session.run(change, {values: [2.0, 4.0], steps: 2.0})
        second = session.run(change, {values: [5.0, 4.0], steps: 3.0})
        third = session.run(change, {values: [6.0, 4.0], steps: 1.0})
    np.testing.assert_array_equal([first, second, third], [[1, 2], [3, 0], [0, 0]])


def test_functions_that_return_nothing_return_their_node():
    variable = tf.Variable(1.0, use_resource=True)

    def add():
        variable.assign_add(1.0)

    nodes = [tf.function(add)(), tf.contrib.eager.defun(add)()]
    assert all(isinstance(node, tf.Operation) for node in nodes)
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(nodes)
        assert session.run(variable) == 3.0
    with EagerGraph().as_default():
        counter = tf.Variable(1.0)

        def count():
            counter.assign_add(1.0)

        assert tf.function(count)() is None
