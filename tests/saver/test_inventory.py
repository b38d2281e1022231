"""The objects that a root depends on, and variables that are added to objects."""

import importlib

import numpy as np
import pytest

import stillflow as tf

tracking = importlib.import_module("stillflow.python.training.tracking.util")
AutoTrackable = importlib.import_module("stillflow.python.training.tracking.tracking").AutoTrackable


def test_objects_are_listed_with_their_initializers(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        root, leaf = AutoTrackable(), AutoTrackable()
        root.leaf = leaf
        weights = tracking.add_variable(leaf, "weights", [2, 3], initializer=tf.ones_initializer)
        counts = tracking.add_variable(root, "counts", initializer=[1, 2], dtype=tf.int64, trainable=False)
        assert tracking.list_objects(root) == [root, leaf, counts, weights]
        assert tf.trainable_variables() == [weights]
        session.run(tracking.gather_initializers(root))
        path = tf.train.Checkpoint(root=root).save(str(tmp_path / "objects"), session=session)
        np.testing.assert_array_equal(session.run(weights), np.ones((2, 3), np.float32))
        assert session.run(counts).tolist() == [1, 2]
    names = [name for name, _ in tf.train.list_variables(path)]
    assert "root/leaf/weights/.ATTRIBUTES/VARIABLE_VALUE" in names


def test_a_name_is_taken_once_and_a_value_has_its_own_shape():
    with tf.Graph().as_default():
        root = AutoTrackable()
        tracking.add_variable(root, "v", [])
        with pytest.raises(ValueError, match="A variable named 'v' already exists in this Trackable"):
            tracking.add_variable(root, "v", [])
        with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape"):
            tracking.add_variable(root, "w", [1], initializer=[1.0])


def test_libraries_of_file_systems_that_are_not_there_are_named():
    with pytest.raises(tf.errors.NotFoundError, match="no_such_library.so"):
        tf.load_file_system_library("no_such_library.so")
