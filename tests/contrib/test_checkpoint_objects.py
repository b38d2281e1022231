"""tf.contrib.checkpoint: numpy arrays, split tensors, unique names, and what a checkpoint says of its objects."""

import numpy as np
import pytest

import stillflow as tf

checkpoint = tf.contrib.checkpoint

# What TensorFlow 1.15.5 draws of the checkpoint that `test_a_drawing_has_objects_and_slots` writes.
DRAWING = """digraph {
N_0 [shape=point label="" width=.25]
N_0 -> N_1 [label="optimizer"]
N_0 -> N_2 [label="v"]
N_0 -> N_3 [label="save_counter"]
N_1 [shape=point label="" width=.25 color=red,tooltip="Optimizer"]
N_1 -> N_4 [label="momentum" style=dotted]
N_2 -> N_4 [style=dotted]
N_2 [shape=point label="" color=blue width=.25 tooltip="Variable v shape=[2] float32"]
N_3 [shape=point label="" color=blue width=.25 tooltip="Variable save_counter shape=[] int64"]
N_4 [shape=point label="" color=orange width=.25 tooltip="Slot variable v/Momentum shape=[2] float32"]
}
"""


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session().as_default() as session:
        yield session


def test_arrays_are_saved_as_they_are_then(session, tmp_path):
    root = tf.train.Checkpoint(arrays=checkpoint.NumpyState())
    root.arrays.x = np.arange(4.0)
    root.arrays.count = np.int64(3)
    path = root.save(str(tmp_path / "m"))
    root.arrays.x[1] = 7
    root.arrays.count = np.int64(9)
    root.restore(path).assert_consumed()
    np.testing.assert_array_equal(root.arrays.x, np.arange(4.0))
    assert root.arrays.count == 3


def test_restoring_makes_the_attributes(session, tmp_path):
    root = tf.train.Checkpoint(arrays=checkpoint.NumpyState())
    root.arrays.x = np.ones([2, 3])
    path = root.save(str(tmp_path / "m"))
    other = tf.train.Checkpoint(arrays=checkpoint.NumpyState())
    status = other.restore(path)
    np.testing.assert_array_equal(other.arrays.x, np.ones([2, 3]))
    status.assert_consumed()
    later = tf.train.Checkpoint()
    later.restore(path)
    later.arrays = checkpoint.NumpyState()
    np.testing.assert_array_equal(later.arrays.x, np.ones([2, 3]))


def test_only_arrays_can_be_assigned():
    with pytest.raises(NotImplementedError, match="which is not a NumPy array"):
        checkpoint.NumpyState().x = [1.0]


class Halves(checkpoint.CheckpointableBase):
    """A variable that checkpoints have as two."""

    def __init__(self):
        self.whole = tf.get_variable("whole", [4], initializer=tf.zeros_initializer, use_resource=True)
        parts = checkpoint.split_dependency(
            ["first", "second"], [tf.float32] * 2, self._fill, self._consume, self.whole.device
        )
        for name, part in parts.items():
            self._track_trackable(part, name)

    def _fill(self, tensors):
        tensors["first"], tensors["second"] = self.whole[:2], self.whole[2:]

    def _consume(self, tensors):
        return self.whole.assign(tf.concat([tensors["first"], tensors["second"]], 0))


def test_a_tensor_is_saved_in_parts_and_restored_whole(session, tmp_path):
    root = tf.train.Checkpoint(halves=Halves())
    session.run(root.halves.whole.assign([1.0, 2.0, 3.0, 4.0]))
    path = root.save(str(tmp_path / "m"))
    np.testing.assert_array_equal(tf.train.load_variable(path, "halves/second/.ATTRIBUTES/VARIABLE_VALUE"), [3, 4])
    session.run(root.halves.whole.assign([0.0] * 4))
    root.restore(path).assert_consumed().run_restore_ops()
    np.testing.assert_array_equal(session.run(root.halves.whole), [1, 2, 3, 4])


def test_parts_saved_alone_are_an_error(session, tmp_path):
    halves = Halves()
    root = tf.train.Checkpoint(one=halves._lookup_dependency("first"), two=halves)
    session.run(halves.whole.initializer)
    halves._tracking.children.pop("second")
    root.save(str(tmp_path / "m"))
    root.note = tf.Variable(1.0, use_resource=True)
    session.run(root.note.initializer)
    with pytest.raises(AssertionError, match="Split dependencies must be saved together"):
        root.save(str(tmp_path / "m"))


def test_names_are_made_unique():
    tracker = checkpoint.UniqueNameTracker()
    with tf.Graph().as_default():
        for name in ["x", "y", "x_1", "x", "x"]:
            variable = tf.Variable(0.0, use_resource=True)
            assert tracker.track(variable, name) is variable
    assert [name for name, _ in tracker._checkpoint_dependencies] == ["x", "y", "x_1", "x_2", "x_3"]
    with pytest.raises(ValueError, match="Expected a trackable value"):
        tracker.track(3, "x")


def test_variables_of_a_scope_become_dependencies_of_its_template(session):
    template = tf.make_template("s", lambda: None, create_scope_now_=True)
    with tf.variable_scope(template.variable_scope), checkpoint.capture_dependencies(template):
        variable = tf.get_variable("v", [])
    assert template._lookup_dependency("v") is variable


def test_a_drawing_has_objects_and_slots(session, tmp_path):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    root = tf.train.Checkpoint(optimizer=optimizer, v=v)
    session.run(tf.global_variables_initializer())
    path = root.save(str(tmp_path / "m"))
    assert checkpoint.dot_graph_from_checkpoint(path) == DRAWING
    metadata = checkpoint.object_metadata(path)
    assert isinstance(metadata, checkpoint.CheckpointableObjectGraph)
    assert [child.local_name for child in metadata.nodes[0].children] == ["optimizer", "v", "save_counter"]


def test_a_checkpoint_of_names_has_no_objects(session, tmp_path):
    variable = tf.Variable(1.0)
    session.run(variable.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="does not appear to be object-based"):
        checkpoint.object_metadata(path)
