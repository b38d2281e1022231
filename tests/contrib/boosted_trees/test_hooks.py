"""Hooks of boosted trees switch what is trained and write how important features are."""

import pytest
from stillflow.contrib.boosted_trees.estimator_batch import trainer_hooks

import stillflow as tf


def importances(folder):
    """({tag: value}, the steps) of what is written to a folder."""
    (path,) = folder.glob("events*")
    events = [event for event in tf.compat.v1.train.summary_iterator(str(path)) if event.summary.value]
    values = {value.tag: value.simple_value for event in events for value in event.summary.value}
    return values, sorted({event.step for event in events})


def test_importances_are_written_for_each_feature(tmp_path):
    with tf.Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        with tf.name_scope("gbdt"):
            tf.constant(["a", "b"], name="feature_names")
            tf.constant([1, 3], name="feature_usage_counts")
            tf.constant([0.5, 1.5], name="feature_gains")
        next_step = step.assign_add(1)
        hook = trainer_hooks.FeatureImportanceSummarySaver(str(tmp_path), every_n_steps=2)
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(next_step)
    tf.compat.v1.summary.FileWriterCache.clear()
    expected = {"a": (1, 0.25, 0.5, 0.25), "b": (3, 0.75, 1.5, 0.75)}
    keys = ("usage_counts", "usage_fraction", "gains", "gains_fraction")
    for name, values in expected.items():
        found, steps = importances(tmp_path / name)
        assert found == {f"feature_importance/{key}": value for key, value in zip(keys, values, strict=True)}
        assert len(steps) == 3
        assert steps[1] == steps[0] + 2


def test_importances_need_a_folder():
    with pytest.raises(ValueError, match="model dir must be specified"):
        trainer_hooks.FeatureImportanceSummarySaver(None)


def test_hooks_need_a_global_step(tmp_path):
    hooks = [
        trainer_hooks.FeatureImportanceSummarySaver(str(tmp_path)),
        trainer_hooks.StopAfterNTrees(1, tf.constant(0), tf.constant(0)),
        trainer_hooks.SwitchTrainOp(None, 1, None),
    ]
    for hook in hooks:
        with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Global step should be created"):
            hook.begin()


def test_another_operation_is_run_from_a_step_on():
    with tf.Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        counts = [tf.compat.v1.get_variable(name, initializer=0) for name in ("first", "second")]
        first, second = (count.assign_add(1).op for count in counts)
        next_step = step.assign_add(1)
        hook = trainer_hooks.SwitchTrainOp(first, 3, second)
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(6):
                session.run(next_step)
            found = session.run_step_fn(lambda step_context: step_context.session.run(counts))
    assert sum(found) == 5
    assert found[0] in (2, 3)


def test_training_stops_when_too_many_trees_were_tried():
    with tf.Graph().as_default():
        step = tf.compat.v1.train.get_or_create_global_step()
        next_step = step.assign_add(1)
        hook = trainer_hooks.StopAfterNTrees(2, tf.cast(step, tf.int64), tf.constant(0, tf.int64), 77)
        with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as session:
            runs = 0
            while not session.should_stop():
                session.run(next_step)
                runs += 1
                assert runs < 10
            assert runs in (5, 6)
