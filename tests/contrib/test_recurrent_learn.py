"""Recurrent estimators, training of graphs and exports of tf.contrib.learn against TensorFlow 1.15.5."""

import json
from pathlib import Path

import pytest
from contrib import recurrent_learn_scenarios

import stillflow as tf
from stillflow.runner import tensorflow_modules

learn = tf.contrib.learn
RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "contrib_learn_recurrent.json").read_text())
_TOLERANCE = 2e-4


@pytest.fixture
def new_graph():
    """No graph around the tests: exports are loaded into a new default graph."""
    tf.reset_default_graph()


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.FileWriterCache.clear()  # it knows folders by their paths, which are relative here
    tensorflow_modules.install()


def _are_equal(found, recorded):
    if isinstance(recorded, dict):
        return found.keys() == recorded.keys() and all(_are_equal(found[key], recorded[key]) for key in recorded)
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(_are_equal, found, recorded))
    return found == pytest.approx(recorded, abs=_TOLERANCE) if isinstance(recorded, float) else found == recorded


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, in_folder):
    found = json.loads(json.dumps(getattr(recurrent_learn_scenarios, name)(tf)))
    for number, (each, recorded) in enumerate(zip(found, RECORDED[name], strict=True)):
        assert _are_equal(each, recorded), number


@pytest.mark.parametrize(
    "kind, classes, words", [(3, None, "prediction_type must be one of"), (1, None, "num_classes")]
)
def test_recurrent_estimators_say_what_they_need(kind, classes, words):
    column = tf.contrib.layers.real_valued_column("x")
    with pytest.raises(ValueError, match=words):
        learn.DynamicRnnEstimator(1, kind, [column], num_classes=classes)


def test_a_part_of_a_state_is_too_little():
    from stillflow.contrib.learn.python.learn.estimators import dynamic_rnn_estimator

    cell = tf.nn.rnn_cell.LSTMCell(2)
    with pytest.raises(ValueError, match="RNN state was partially specified.Expected zero or 2 state Tensors; got 1"):
        dynamic_rnn_estimator.dict_to_state_tuple({"rnn_cell_state_0": tf.zeros([1, 2])}, cell)
    assert dynamic_rnn_estimator.dict_to_state_tuple({}, cell) is None


def test_features_must_stay_what_they_are(tmp_path):
    def model(features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(features["x"] * weight - labels))
        step = tf.train.get_global_step()
        return features["x"] * weight, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    estimator = learn.Estimator(model, model_dir=str(tmp_path))
    estimator.fit(input_fn=lambda: ({"x": tf.ones([2, 3])}, tf.ones([2, 3])), steps=1)
    with pytest.raises(ValueError, match="Features are incompatible with given information"):
        estimator.fit(input_fn=lambda: ({"x": tf.ones([2, 4])}, tf.ones([2, 4])), steps=1)
    with pytest.raises(ValueError, match="Labels are incompatible with given information"):
        estimator.fit(input_fn=lambda: ({"x": tf.ones([2, 3])}, tf.ones([2, 1])), steps=1)
    estimator.fit(input_fn=lambda: ({"x": tf.ones([5, 3])}, tf.ones([5, 3])), steps=1)


def test_training_ends_with_its_input_and_with_a_loss_that_is_no_number(tmp_path):
    def graph(loss):
        step = tf.train.create_global_step()
        queue = tf.train.limit_epochs(tf.constant(1.0), num_epochs=3)
        with tf.control_dependencies([queue]):
            return tf.assign_add(step, 1), tf.constant(loss)

    for loss, fails in ((2.0, False), (float("nan"), True)):
        with tf.Graph().as_default() as g:
            train, value = graph(loss)
            tf.add_to_collection(tf.GraphKeys.LOCAL_INIT_OP, tf.local_variables_initializer())
            folder = str(tmp_path / str(fails))
            if fails:
                with pytest.raises(learn.NanLossDuringTrainingError):
                    learn.train(g, folder, train, value)
            else:
                assert learn.train(g, folder, train, value) == 2.0
            assert tf.train.latest_checkpoint(folder).endswith("-1" if fails else "-3")


def test_a_writer_that_keeps_what_it_is_given(tmp_path):
    fake = tf.contrib.testing.FakeSummaryWriter
    fake.install()
    try:
        with pytest.raises(ValueError, match="already installed"):
            fake.install()
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2.0)]), 3)
        writer.add_graph(tf.get_default_graph())
        case = tf.test.TestCase()
        writer.assert_summaries(
            case, str(tmp_path), expected_summaries={3: {"loss": 2.0}}, expected_added_graphs=[tf.get_default_graph()]
        )
        with pytest.raises(AssertionError):
            writer.assert_summaries(case, expected_summaries={3: {"loss": 1.0}})
        with pytest.raises(ValueError, match="Invalid global_step -1"):
            writer.add_meta_graph(None, global_step=-1)
    finally:
        fake.uninstall()
    with pytest.raises(ValueError, match="not installed"):
        fake.uninstall()
    assert isinstance(tf.summary.FileWriterCache.get(str(tmp_path / "other")), tf.summary.FileWriter)


def test_exports_that_cannot_be_written(tmp_path):
    from stillflow.contrib.session_bundle import exporter, session_bundle

    variable = tf.Variable(1.0)
    export = exporter.Exporter(tf.train.Saver())
    with pytest.raises(RuntimeError, match="init must be called first"):
        export.export(str(tmp_path), tf.constant(1))
    with pytest.raises(TypeError, match="Only constants tensor are supported"):
        export.init(assets_collection=[tf.placeholder(tf.string)])
    with pytest.raises(TypeError, match="init_op needs to be an Operation"):
        export.init(init_op=variable)
    with pytest.raises(RuntimeError, match="init should be called only once"):
        export.init()
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        session_bundle.load_session_bundle_from_path(str(tmp_path))
    assert not session_bundle.maybe_session_bundle_dir(str(tmp_path))
