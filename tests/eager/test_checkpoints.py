"""Checkpoints without a session. What is expected is what TensorFlow 1.15.5 does."""

import json
from pathlib import Path

import numpy as np
import pytest
from eager import peer_checkpoints
from real_tensorflow import run_tensorflow

import stillflow as tf


def run_peer(task, folder):
    run_tensorflow("tf1", peer_checkpoints.__file__, task, folder)
    return json.loads((Path(folder) / "results.json").read_text())


def names(path):
    return [name for name, _ in tf.train.list_variables(str(path))]


# ---- Saver --------------------------------------------------------------------------------------------------


@pytest.fixture
def variables():
    return tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, name="u")


def test_a_saver_brings_values_back(variables, tmp_path):
    v, u = variables
    saver = tf.train.Saver([v, u])
    path = saver.save(None, str(tmp_path / "a"), global_step=tf.Variable(7))
    assert path == str(tmp_path / "a-7")
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a-7.data-00000-of-00001", "a-7.index", "checkpoint"]
    v.assign([0.0, 0.0])
    u.assign(0)
    assert saver.restore(None, path) is None
    assert v.numpy().tolist() == [1.0, 2.0]
    assert u.numpy() == 3
    assert names(path) == ["u", "v"]


def test_names_and_numbers_of_checkpoints(variables, tmp_path):
    v, _ = variables
    saver = tf.train.Saver({"other": v}, max_to_keep=2)
    for step in range(4):
        saver.save(None, str(tmp_path / "k"), global_step=step)
    assert saver.last_checkpoints == [str(tmp_path / "k-2"), str(tmp_path / "k-3")]
    assert names(tmp_path / "k-3") == ["other"]
    assert not (tmp_path / "k-1.index").exists()


def test_variables_of_optimizers_and_in_parts(variables, tmp_path):
    v, _ = variables
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: tf.reduce_sum(v * v))
    parts = tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(2))
    tf.train.Saver([v, parts, *optimizer.variables()]).save(None, str(tmp_path / "a"))
    assert names(tmp_path / "a") == ["beta1_power", "beta2_power", "p", "v", "v/Adam", "v/Adam_1"]


def test_what_does_not_fit_changes_nothing(variables, tmp_path):
    v, u = variables
    tf.train.Saver([v, u]).save(None, str(tmp_path / "a"))
    first, other = tf.Variable(9), tf.Variable([5.0])
    for variable, error, message in (
        (tf.Variable([5.0]), ValueError, r"Shapes \(1,\) and \(2,\) are incompatible"),
        (tf.Variable([5, 5]), tf.errors.InvalidArgumentError, "mismatch between the current graph and the graph"),
    ):
        with pytest.raises(error, match=message):
            tf.train.Saver({"u": first, "v": variable}).restore(None, str(tmp_path / "a"))
        assert first.numpy() == 9
    with pytest.raises(tf.errors.NotFoundError, match="missing from the checkpoint"):
        tf.train.Saver({"u": first, "nothing": other}).restore(None, str(tmp_path / "a"))
    assert first.numpy() == 9
    reshaped = tf.Variable([[5.0], [5.0]])
    tf.train.Saver({"v": reshaped}, reshape=True).restore(None, str(tmp_path / "a"))
    assert reshaped.numpy().tolist() == [[1.0], [2.0]]


def test_what_savers_refuse(variables, tmp_path):
    v, _ = variables
    with pytest.raises(RuntimeError, match="`var_list` must specify a list or dict of variables to save"):
        tf.train.Saver()
    with pytest.raises(RuntimeError, match="no session whose random state"):
        tf.train.Saver([v], save_random_state=True)
    with pytest.raises(RuntimeError, match="Use save/restore instead of build in eager mode"):
        tf.train.Saver([v]).build()
    with pytest.raises(ValueError, match="Two different ResourceVariable objects with the same shared_name 'v'"):
        tf.train.Saver([v, tf.Variable(1.0, name="v")]).save(None, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="is not a valid checkpoint"):
        tf.train.Saver([v]).restore(None, str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="Parent directory of .* doesn't exist"):
        tf.train.Saver([v]).save(None, str(tmp_path / "nowhere" / "deep" / "a"))
    for call in (tf.train.Saver([v]).export_meta_graph, tf.train.export_meta_graph, tf.train.import_meta_graph):
        with pytest.raises(RuntimeError, match="No graph exists when eager execution is enabled"):
            call(str(tmp_path / "m"))


def test_init_from_checkpoint(variables, tmp_path):
    v, _ = variables
    tf.train.Saver([v]).save(None, str(tmp_path / "a"))
    v.assign([0.0, 0.0])
    tf.train.init_from_checkpoint(str(tmp_path / "a"), {"v": v})
    assert v.numpy().tolist() == [1.0, 2.0]
    v.assign([0.0, 0.0])
    tf.train.warm_start(str(tmp_path / "a"), vars_to_warm_start=[v])
    assert v.numpy().tolist() == [1.0, 2.0]


# ---- Checkpoint ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["go_on", "deferred"])
def test_a_training_goes_on(task, tmp_path):
    expected = peer_checkpoints.main(tf, "start", str(tmp_path))
    assert peer_checkpoints.main(tf, task, str(tmp_path)) == expected
    assert peer_checkpoints.main(tf, "by_name", str(tmp_path)) == expected[0]


@pytest.mark.peer
@pytest.mark.parametrize("task", ["go_on", "deferred", "by_name"])
def test_tensorflow_goes_on_with_our_training(task, tmp_path):
    expected = peer_checkpoints.main(tf, "start", str(tmp_path))
    found = run_peer(task, tmp_path)
    if task == "by_name":
        assert found == expected[0]
    else:
        assert found[0] == expected[0]
        np.testing.assert_allclose(np.hstack(found), np.hstack(expected), rtol=1e-5)


@pytest.mark.peer
@pytest.mark.parametrize("task", ["go_on", "deferred", "by_name"])
def test_we_go_on_with_the_training_of_tensorflow(task, tmp_path):
    expected = run_peer("start", tmp_path)
    found = peer_checkpoints.main(tf, task, str(tmp_path))
    if task == "by_name":
        assert found == expected[0]
    else:
        assert found[0] == expected[0]
        np.testing.assert_allclose(np.hstack(found), np.hstack(expected), rtol=1e-5)


def test_what_is_restored_is_there_at_once(tmp_path):
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    path = tf.train.Checkpoint(o=optimizer, v=v).save(str(tmp_path / "a"))
    assert path == str(tmp_path / "a-1")
    other, second = tf.Variable([0.0, 0.0]), tf.train.MomentumOptimizer(0.1, 0.9)
    checkpoint = tf.train.Checkpoint(o=second, v=other)
    status = checkpoint.restore(path)
    assert second.get_slot(other, "momentum").numpy().tolist() == [2.0, 4.0]
    assert checkpoint.save_counter.numpy() == 1
    assert status.assert_consumed() is status
    assert status.run_restore_ops() is status.initialize_or_restore() is None


def test_what_is_restored_when_it_comes(tmp_path):
    first = tf.train.Checkpoint()
    first.v = tf.Variable(1.0)
    path = first.save(str(tmp_path / "a"))
    second = tf.train.Checkpoint()
    status = second.restore(path)
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    second.v = tf.Variable(7.0)
    assert second.v.numpy() == 1.0
    status.assert_consumed()


def test_objects_that_are_not_in_the_checkpoint(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "a"))
    status = tf.train.Checkpoint(w=tf.Variable(5.0)).restore(path).expect_partial()
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="not bound to checkpointed values"):
            check()
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.Checkpoint().restore(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match=r"Shapes \(\) and \(2,\) are incompatible|incompatible"):
        tf.train.Checkpoint(v=tf.Variable([5.0, 5.0])).restore(path)


def test_a_checkpoint_of_a_saver(tmp_path):
    tf.train.Saver([tf.Variable([1.0, 2.0], name="v")]).save(None, str(tmp_path / "a"))
    v = tf.Variable([0.0, 0.0], name="v")
    tf.train.Checkpoint(v=v).restore(str(tmp_path / "a"))
    assert v.numpy().tolist() == [1.0, 2.0]


def test_templates(tmp_path):
    def make():
        return tf.make_template("t", lambda: tf.get_variable("w", [2], initializer=tf.ones_initializer()))

    template, other = make(), make()
    template().assign([4.0, 5.0])
    path = tf.train.Checkpoint(t=template).save(str(tmp_path / "a"))
    assert "t/w/.ATTRIBUTES/VARIABLE_VALUE" in names(path)
    tf.train.Checkpoint(t=other).restore(path)
    assert other().numpy().tolist() == [4.0, 5.0]


def test_a_manager_keeps_the_newest(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    for _ in range(4):
        manager.save()
    assert manager.checkpoints == [str(tmp_path / "ckpt-3"), str(tmp_path / "ckpt-4")]
    assert manager.save(checkpoint_number=99) == str(tmp_path / "ckpt-99")
    again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert again.latest_checkpoint == manager.latest_checkpoint == str(tmp_path / "ckpt-99")


class Count(tf.train.experimental.PythonState):
    def __init__(self, count):
        self.count = count

    def serialize(self):
        return str(self.count)

    def deserialize(self, string_value):
        self.count = int(string_value)


def test_state_in_python_is_saved_and_restored(tmp_path):
    root = tf.train.Checkpoint(count=Count(3))
    path = root.save(str(tmp_path / "m"))
    root.count.count = 4
    root.restore(path).assert_consumed()
    assert root.count.count == 3
