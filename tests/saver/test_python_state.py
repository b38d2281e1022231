"""tf.train.experimental.PythonState: state in Python as a part of checkpoints."""

import pytest

import stillflow as tf


class Log(tf.train.experimental.PythonState):
    def __init__(self, text=""):
        self.text = text

    def serialize(self):
        return self.text.encode() + b"\0"

    def deserialize(self, string_value):
        self.text = string_value[:-1].decode()


def test_state_is_saved_as_it_is_then_and_restored_at_once(tmp_path):
    with tf.Graph().as_default(), tf.Session().as_default():
        root = tf.train.Checkpoint(log=Log("a"))
        first = root.save(str(tmp_path / "m"))
        root.log.text = "b"
        second = root.save(str(tmp_path / "m"))
        root.restore(first).assert_consumed()
        assert root.log.text == "a"
        root.restore(second)
        assert root.log.text == "b"
        later = tf.train.Checkpoint()
        status = later.restore(first)
        later.log = Log()
        assert later.log.text == "a"
        status.assert_consumed()
    assert tf.train.load_variable(first, "log/.ATTRIBUTES/py_state") == b"a\0"


def test_further_checkpoints_add_no_nodes(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session().as_default():
        root = tf.train.Checkpoint(log=Log())
        path = root.save(str(tmp_path / "m"))
        root.restore(path)
        graph.finalize()
        root.log.text = "b"
        root.restore(root.save(str(tmp_path / "m")))
        assert root.log.text == "b"


def test_what_turns_it_into_bytes_must_be_there():
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.PythonState()
