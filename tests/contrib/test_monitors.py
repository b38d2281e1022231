"""tf.contrib.learn.monitors: called around the steps of an estimator."""

import numpy as np
import pytest

import stillflow as tf

learn = tf.contrib.learn


def _model(features, labels, mode):
    weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(features["x"] * weight - labels), name="error")
    step = tf.train.get_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    return {"y": features["x"] * weight}, loss, train


def _input():
    return {"x": tf.constant([1.0, 2.0])}, tf.constant([2.0, 4.0])


class _Noting(learn.monitors.EveryN):
    def __init__(self, log, **options):
        super().__init__(**options)
        self._log = log

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._log.append("begin")

    def every_n_step_begin(self, step):
        return ["weight:0"]

    def every_n_step_end(self, step, outputs):
        self._log.append((step, float(outputs["weight:0"])))

    def every_n_post_step(self, step, session):
        self._log.append(f"after {step}")


def test_a_monitor_is_asked_every_few_steps_and_at_the_end(tmp_path):
    log, values = [], learn.monitors.CaptureVariable("weight", every_n=2, first_n=1)
    learn.Estimator(_model, model_dir=str(tmp_path)).fit(
        input_fn=_input, steps=6, monitors=[_Noting(log, every_n_steps=3), values]
    )
    assert log[0] == "begin"
    assert [each for each in log if isinstance(each, str)] == ["begin", "after 1", "after 4", "after 6"]
    assert [each[0] for each in log if isinstance(each, tuple)] == [1, 4]
    assert sorted(values.values) == [1, 3, 5]
    assert values.values[1] <= values.values[3] <= values.values[5]


def test_a_monitor_stops_training(tmp_path):
    estimator = learn.Estimator(_model, model_dir=str(tmp_path))
    estimator.fit(input_fn=_input, steps=9, monitors=[learn.monitors.StopAtStep(num_steps=2)])
    assert estimator.get_variable_value("global_step") == 2
    with pytest.raises(ValueError, match="Only one of num_steps or last_step"):
        learn.monitors.StopAtStep(num_steps=1, last_step=2)


def test_a_loss_that_is_no_number_ends_training(tmp_path):
    def of_nothing():
        return {"x": tf.constant([np.nan, 1.0])}, tf.constant([2.0, 4.0])

    estimator = learn.Estimator(_model, model_dir=str(tmp_path))
    with pytest.raises((learn.NanLossDuringTrainingError, tf.train.NanLossDuringTrainingError)):
        estimator.fit(input_fn=of_nothing, steps=3, monitors=[learn.monitors.NanLoss("error:0", every_n_steps=1)])


def test_graphs_are_compared_step_by_step(new_graph):
    dumps = [learn.monitors.GraphDump(), learn.monitors.GraphDump()]
    x = tf.Variable(1.0, name="x")
    total = tf.add(x, 1.0, name="total")
    with tf.Session() as session:
        for value, dump in zip((1.0, 2.0), dumps, strict=True):
            session.run(x.assign(value))
            dump.begin()
            wanted = dump.step_begin(0)
            assert total in wanted
            dump.step_end(0, {"total:0": session.run(total), "x:0": np.float32(5)})
    matched, different = dumps[0].compare(dumps[1], 0)
    assert matched == ["x:0"]
    assert different == {"total:0": (2.0, 3.0)}


def test_steps_and_epochs_have_their_order():
    monitor = learn.monitors.BaseMonitor()
    with pytest.raises(ValueError, match="end called without begin"):
        monitor.end()
    monitor.begin(max_steps=3)
    with pytest.raises(ValueError, match="begin called twice"):
        monitor.begin()
    with pytest.raises(ValueError, match="Invalid step 4"):
        monitor.step_begin(4)
    monitor.epoch_begin(0)
    with pytest.raises(ValueError, match="epoch_begin called twice"):
        monitor.epoch_begin(1)


def test_a_request_that_is_no_list_or_ambiguous_is_refused(tmp_path):
    class Wrong(learn.monitors.BaseMonitor):
        def step_begin(self, step):
            super().step_begin(step)
            return "weight"

    with pytest.raises(ValueError, match="should return a list"):
        learn.Estimator(_model, model_dir=str(tmp_path)).fit(input_fn=_input, steps=1, monitors=[Wrong()])
