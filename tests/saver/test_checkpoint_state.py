"""The file "checkpoint", the functions around it, readers, and init_from_checkpoint."""

import logging
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(path="./m", steps=(None,), **values):
    """Checkpoints of variables with these values."""
    with tf.Graph().as_default():
        for name, value in (values or {"v": [1.0, 1.0]}).items():
            tf.Variable(value, name=name)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for step in steps:
                saver.save(session, path, global_step=step)


def test_generating_and_updating():
    state = tf.train.generate_checkpoint_state_proto(
        "d", "d/m-2", ["d/m-1"], [1.0, 2.5], last_preserved_timestamp=0.5
    )
    assert state.model_checkpoint_path == "m-2"
    assert list(state.all_model_checkpoint_paths) == ["m-1", "m-2"]
    assert list(state.all_model_checkpoint_timestamps) == [1.0, 2.5]
    assert state.last_preserved_timestamp == 0.5
    assert tf.train.generate_checkpoint_state_proto("/d", "m").model_checkpoint_path == "m"
    with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match checkpoint paths"):
        tf.train.update_checkpoint_state(".", "m", ["m"], all_model_checkpoint_timestamps=[1.0, 2.0])
    with pytest.raises(RuntimeError, match="Save path 'checkpoint' conflicts with path used for checkpoint state"):
        tf.train.update_checkpoint_state("", "checkpoint")
    tf.train.update_checkpoint_state("", "m-2", ["m-1"], "other")
    assert list(tf.train.get_checkpoint_state("", "other").all_model_checkpoint_paths) == ["m-1", "m-2"]
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.update_checkpoint_state("nope", "m")


def test_a_state_that_cannot_be_read(caplog):
    assert tf.train.get_checkpoint_state("nope") is None
    assert tf.train.latest_checkpoint(".") is None
    Path("checkpoint").write_text("")
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from ."):
        tf.train.get_checkpoint_state(".")
    for text in ("model_checkpoint_path: 3", 'unknown_field: "x"', "\0\xff"):
        Path("checkpoint").write_text(text, encoding="latin-1")
        assert tf.train.get_checkpoint_state(".") is None
        assert "Checkpoint ignored" in caplog.text
    Path("checkpoint").write_text('model_checkpoint_path: "gone"')
    assert tf.train.latest_checkpoint(".") is None
    assert "Couldn't match files for checkpoint ./gone" in caplog.text


def test_what_is_there():
    save(steps=[1])
    assert tf.train.checkpoint_exists("m-1")
    assert tf.train.checkpoint_exists("m-*")
    assert tf.train.checkpoint_exists("m-1.index")
    assert not tf.train.checkpoint_exists("m")
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.checkpoint_exists("nope/m")
    (written,) = tf.train.get_checkpoint_mtimes(["m-1", "gone", "nope/m"])
    assert abs(written - time.time()) < 600
    Path("m-1.data-00000-of-00001.tempstate77").write_text("")
    tf.train.remove_checkpoint("m-1")
    tf.train.remove_checkpoint("nope/m")
    assert sorted(path.name for path in Path().iterdir()) == ["checkpoint", "m-1.data-00000-of-00001.tempstate77"]


@pytest.mark.parametrize("damage", ["shorter", "changed", "no data", "index"])
def test_the_latest_checkpoint_is_a_whole_one(damage, caplog):
    save(steps=[1, 2, 3], v=np.arange(1000.0))
    assert tf.train.latest_checkpoint(".") == "./m-3"
    data, index = Path("m-3.data-00000-of-00001"), Path("m-3.index")
    content = data.read_bytes()
    if damage == "shorter":
        data.write_bytes(content[:-1])
    elif damage == "changed":
        data.write_bytes(content[:4000] + bytes([content[4000] ^ 1]) + content[4001:])
    elif damage == "no data":
        data.unlink()
    else:
        index.write_bytes(index.read_bytes()[:-60])
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert tf.train.latest_checkpoint(".") == "./m-2"
    assert "The checkpoint ./m-3 is damaged and is passed over" in caplog.text
    for step in (1, 2):
        Path(f"m-{step}.data-00000-of-00001").unlink()
    assert tf.train.latest_checkpoint(".") is None


def test_waiting_for_checkpoints():
    save(steps=[1])
    found = []

    def write_another():
        time.sleep(0.3)
        save(steps=[2])

    writer = threading.Thread(target=write_another)
    writer.start()
    for path in tf.train.checkpoints_iterator(".", timeout=10, min_interval_secs=0.01):
        found.append(path)
        if len(found) == 2:
            break
    writer.join()
    assert found == ["./m-1", "./m-2"]
    assert list(tf.train.checkpoints_iterator("nope", timeout=0)) == []
    asked = []
    waiting = tf.train.checkpoints_iterator("nope", timeout=0, timeout_fn=lambda: asked.append(1) or len(asked) > 1)
    assert list(waiting) == [] and len(asked) == 2


# ---- Readers ------------------------------------------------------------------------------------------------------


def test_a_reader():
    save(v=[[1.0, 2.0]], text=["a", "b"], one="c", n=np.int64(7), flag=[True, False], c=np.float16(2.5))
    reader = tf.train.NewCheckpointReader("./m")
    assert reader.get_variable_to_shape_map() == {"v": [1, 2], "text": [2], "one": [], "n": [], "flag": [2], "c": []}
    assert reader.get_variable_to_dtype_map()["text"] is tf.string
    assert reader.has_tensor("v") and not reader.has_tensor("w") and reader.has_tensor(b"v")
    assert reader.get_tensor("v").tolist() == [[1.0, 2.0]]
    assert reader.get_tensor("text").tolist() == [b"a", b"b"]
    assert reader.get_tensor("one") == b"c"
    assert reader.get_tensor("n") == 7 and isinstance(reader.get_tensor("n"), np.int64)
    assert reader.debug_string() == (
        b"c (DT_HALF) []\nflag (DT_BOOL) [2]\nn (DT_INT64) []\none (DT_STRING) []\ntext (DT_STRING) [2]\n"
        b"v (DT_FLOAT) [1,2]\n"
    )
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        reader.get_tensor("x")
    assert tf.train.load_variable(".", "v:0").tolist() == [[1.0, 2.0]]
    assert tf.train.list_variables("m")[0] == ("c", [])
    Path("empty").mkdir()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory empty"):
        tf.train.load_checkpoint("empty")
    text = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for nope"
    with pytest.raises(tf.errors.NotFoundError, match=text):
        tf.train.load_checkpoint("nope")


# ---- init_from_checkpoint -----------------------------------------------------------------------------------------


def initialized_values(*variables):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run([tf.convert_to_tensor(v) for v in variables])


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_begin_with_what_a_checkpoint_has(use_resource):
    save(**{"old/v": [1.0, 2.0], "old/w": [3.0], "x": [4.0]})
    with tf.variable_scope("new", use_resource=use_resource):
        v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [1])
        x = tf.get_variable("x", [1])
    tf.train.init_from_checkpoint(".", {"old/v": "new/v", "old/w": w, "x": "new/x"})
    assert [value.tolist() for value in initialized_values(v, w, x)] == [[1.0, 2.0], [3.0], [4.0]]
    kinds = [op.type for op in tf.get_default_graph().get_operations() if "checkpoint_initializer" in op.name]
    assert kinds == ["Const", "Const", "Const", "RestoreV2"] * 3
    assert v.initial_value.shape.as_list() == [2]


def test_scopes_and_parts_begin_with_what_a_checkpoint_has():
    save(**{"old/v": [1.0, 2.0], "old/p": np.arange(6.0, dtype=np.float32).reshape(2, 3), "r": [9.0]})
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [2])
        p = tf.get_variable("p", [2, 3], partitioner=tf.fixed_size_partitioner(2))
    with tf.variable_scope("b"):
        r = tf.get_variable("r", [1])
    tf.train.init_from_checkpoint("m", {"old/": "a/", "/": "b/"})
    values = initialized_values(v, p, r)
    assert [value.tolist() for value in values] == [[1.0, 2.0], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [9.0]]
    q = tf.get_variable("q", [2, 3], partitioner=tf.fixed_size_partitioner(2))
    tf.train.init_from_checkpoint("m", {"old/p": list(q)})
    assert initialized_values(q)[0].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_maps_that_make_no_sense():
    save(**{"old/v": [1.0, 2.0]})
    with tf.variable_scope("new"):
        tf.get_variable("v", [5])
        tf.get_variable("w", [5])
    with pytest.raises(ValueError, match=r"Tensor nope is not found in m checkpoint \{'old/v': \[2\]\}"):
        tf.train.init_from_checkpoint("m", {"nope": "new/v"})
    with pytest.raises(ValueError, match=r"Tensor old/w \(w in old/\) is not found in m checkpoint"):
        with tf.variable_scope("again"):
            tf.get_variable("w", [5])
        tf.train.init_from_checkpoint("m", {"old/": "again/"})
    text = r"Shape of variable new/v:0 \(\(5,\)\) doesn't match with shape of tensor old/v \(\[2\]\) from checkpoint"
    with pytest.raises(ValueError, match=text):
        tf.train.init_from_checkpoint("m", {"old/v": "new/v"})
    text = "Assignment map with scope only name  should map to scope only w. Should be 'scope/': 'other_scope/'."
    with pytest.raises(ValueError, match=text):
        tf.train.init_from_checkpoint("m", {"w": "unknown"})
    tf.train.init_from_checkpoint("m", {"gone/": "not_there/"})
