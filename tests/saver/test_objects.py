"""tf.train.Checkpoint and CheckpointManager: here, with TensorFlow, and what is said when something is wrong."""

import copy
import gc
import inspect
import json
import logging
import pickle
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from real_tensorflow import run_tensorflow
from saver import peer_objects

import stillflow as tf
from stillflow.formats import protobuf
from stillflow.tracking.structures import NoDependency

GOLDEN = Path(__file__).parent.parent / "data" / "formats" / "objects" / "checkpoint_graph_mode"
GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run_peer(name, task, folder):
    run_tensorflow(name, peer_objects.__file__, task, folder)
    return json.loads((Path(folder) / "results.json").read_text())


def initialized():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def save(**objects):
    """Saves objects as they are after their initialization; in a graph of its own if they are functions."""
    with tf.Graph().as_default():
        checkpoint = tf.train.Checkpoint(**{name: make() for name, make in objects.items()})
        with initialized() as session:
            return checkpoint.save("./m", session)


def object_graph(path):
    data = tf.train.load_variable(path, GRAPH_KEY)
    return protobuf.message("TrackableObjectGraph").FromString(data)


# ---- There and back, and with TensorFlow --------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["go_on", "deferred"])
def test_what_is_saved_goes_on(task, tmp_path):
    expected = peer_objects.main(tf, "start", str(tmp_path))
    assert peer_objects.main(tf, task, str(tmp_path)) == expected


@pytest.mark.peer
@pytest.mark.parametrize("task", ["go_on", "deferred"])
def test_tensorflow_goes_on_with_what_is_saved_here(task, tmp_path):
    expected = peer_objects.main(tf, "start", str(tmp_path))
    np.testing.assert_allclose(run_peer("tf1", task, tmp_path), expected, rtol=1e-5)


@pytest.mark.peer
@pytest.mark.parametrize("task", ["go_on", "deferred"])
def test_what_tensorflow_saved_goes_on_here(task, tmp_path):
    expected = run_peer("tf1", "start", tmp_path)
    np.testing.assert_allclose(peer_objects.main(tf, task, str(tmp_path)), expected, rtol=1e-5)


@pytest.mark.peer
def test_nodes_keys_and_object_graphs_are_those_of_tensorflow(tmp_path):
    found = []
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    ours = json.loads(json.dumps(peer_objects.main(tf, "nodes", str(tmp_path / "ours"))))
    theirs = run_peer("tf1", "nodes", tmp_path / "theirs")
    assert ours[:2] == theirs[:2]
    for data in (ours[2], theirs[2]):
        found.append(protobuf.message("TrackableObjectGraph").FromString(bytes.fromhex(data)))
    assert found[0] == found[1]


def test_a_recorded_checkpoint_is_restored():
    expected = json.loads((GOLDEN / "expected.json").read_text())["tensors"]
    model = tf.train.Checkpoint(w=tf.Variable(tf.zeros([2, 3]), name="w"))
    model.b = tf.Variable(tf.zeros([3]), name="b")
    model.layers_list = [tf.Variable(9.0), tf.Variable(9.0)]
    model.table = {"first": tf.Variable([9.0, 9.0]), "a/b": tf.Variable(9)}
    model.child = model.alias = tf.train.Checkpoint(v=tf.Variable([9.0]))
    optimizer = tf.train.AdamOptimizer(0.1)
    step = tf.train.get_or_create_global_step()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, global_step=step)
    status = checkpoint.restore(str(GOLDEN / "ckpt-2"))
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    loss = tf.reduce_sum(tf.square(model.w)) + tf.reduce_sum(model.b) + tf.reduce_sum(model.child.v)
    optimizer.minimize(loss, step, var_list=[model.w, model.b, model.child.v])
    with tf.Session() as session:
        status.assert_consumed().run_restore_ops(session)
        path = checkpoint.write("./again", session)
        assert session.run(optimizer.get_slot(model.w, "v"))[1, 2] == np.float32(0.3759816288948059)
    reader = tf.train.NewCheckpointReader(path)
    for key, entry in expected.items():
        if key != GRAPH_KEY:
            value = reader.get_tensor(key)
            np.testing.assert_array_equal(value.ravel(), np.array(entry["values"], value.dtype))
    theirs = object_graph(str(GOLDEN / "ckpt-2"))
    ours = object_graph(path)

    def parts(proto):
        return [
            (node.children, [a.checkpoint_key for a in node.attributes], node.slot_variables) for node in proto.nodes
        ]

    assert parts(ours) == parts(theirs)


def test_a_saver_reads_checkpoints_of_objects():
    path = save(a=lambda: tf.Variable([1.0, 2.0], name="a"), b=lambda: tf.Variable(3.0, name="b"))
    b, a = tf.Variable(0.0, name="b"), tf.Variable([0.0, 0.0], name="a")
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        assert session.run(b) == 3.0
        np.testing.assert_array_equal(session.run(a), [1.0, 2.0])


def test_checkpoints_of_names_are_restored_by_names():
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable(3.0, name="b", use_resource=True)
    with initialized() as session:
        path = tf.train.Saver().save(session, "./m")
    checkpoint = tf.train.Checkpoint(x=a, y=b)
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError, match="Object not restored: "):
        status.assert_consumed()
    with tf.Session() as session:
        status.initialize_or_restore(session)
        assert session.run([b, checkpoint.save_counter]) == [3.0, 0]
        np.testing.assert_array_equal(session.run(a), [1.0, 2.0])
        assert status.assert_consumed() is status
        missing = tf.train.Checkpoint(z=tf.Variable(1.0, name="z")).restore(path)
        with pytest.raises(tf.errors.NotFoundError, match="Key z not found in checkpoint"):
            missing.run_restore_ops(session)


# ---- Saving -------------------------------------------------------------------------------------------------------


def test_saves_are_counted_and_writes_are_not():
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with initialized() as session, session.as_default():
        assert checkpoint.save("d/m") == "d/m-1"
        assert checkpoint.write("d/w") == "d/w"
        assert checkpoint.save(b"d/m") == "d/m-2"
        assert session.run(checkpoint.save_counter) == 2
    assert tf.train.latest_checkpoint("d") == "d/m-2"
    assert tf.train.get_checkpoint_state("d").all_model_checkpoint_paths == ["d/m-2"]
    assert Path("d/w.index").exists()


def test_new_nodes_are_made_only_when_objects_come():
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    graph = tf.get_default_graph()
    with initialized() as session:
        path = checkpoint.save("./m", session)
        version = graph.version
        checkpoint.save("./m", session)
        assert graph.version == version
        checkpoint.restore(path).run_restore_ops(session)
        version = graph.version
        checkpoint.restore(path).run_restore_ops(session)
        assert graph.version == version
        checkpoint.more = tf.Variable(2.0, name="more")
        session.run(checkpoint.more.initializer)
        path = checkpoint.save("./m", session)
    assert tf.train.load_variable(path, "more/.ATTRIBUTES/VARIABLE_VALUE") == 2.0
    assert [a.full_name for n in object_graph(path).nodes for a in n.attributes][-1] == "more"


def test_what_cannot_be_saved_says_why():
    with pytest.raises(ValueError, match="`Checkpoint` was expecting a trackable object .*, got 3."):
        tf.train.Checkpoint(n=3)
    with pytest.raises(ValueError, match=r"got \[\]"):
        tf.train.Checkpoint(n=[])
    v = tf.Variable(1.0, name="never")
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value never"):
        tf.train.Checkpoint(v=v).save("./m")  # in the session of the graph's models
    checkpoint = tf.train.Checkpoint(v=v)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value never"):
            checkpoint.save("./m", session)
        session.run(v.initializer)
        Path("file").touch()
        with pytest.raises(tf.errors.OpError):
            checkpoint.save("file/m", session)
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            checkpoint.write(3, session)
    assert not list(Path().glob("m*"))


def test_slots_that_are_dependencies_are_refused():
    v = tf.Variable(1.0)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(v * v)
    checkpoint = tf.train.Checkpoint(v=v, o=optimizer, s=optimizer.get_slot(v, "momentum"))
    with initialized() as session, pytest.raises(NotImplementedError, match="is also a dependency of an object"):
        checkpoint.save("./m", session)


def test_optimizers_save_the_variables_of_the_default_graph():
    optimizer = tf.train.AdamOptimizer(0.1)
    for _ in range(2):
        with tf.Graph().as_default():
            v = tf.Variable(1.0)
            optimizer.minimize(v * v)
            checkpoint = tf.train.Checkpoint(v=v, o=optimizer)
            with initialized() as session:
                path = checkpoint.save("./m", session)
                assert len(object_graph(path).nodes) == 8
                checkpoint.restore(path).assert_consumed().run_restore_ops(session)


# ---- Restoring ----------------------------------------------------------------------------------------------------


def test_values_wait_for_their_objects():
    path = save(a=lambda: tf.train.Checkpoint(b=tf.Variable(7.0), c=tf.Variable(8.0)))
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    status.assert_existing_objects_matched()
    with tf.Session() as session:
        status.run_restore_ops(session)
        checkpoint.a = tf.train.Checkpoint(b=tf.Variable(1.0))
        status.run_restore_ops(session)
        assert session.run(checkpoint.a.b) == 7.0
        with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).a.c: attributes"):
            status.assert_consumed()
        checkpoint.a.c = tf.Variable(1.0)
        status.assert_consumed().run_restore_ops(session)
        assert session.run(checkpoint.a.c) == 8.0


def test_the_newest_of_two_restorations_wins():
    first = save(a=lambda: tf.Variable(1.0))
    for path in Path().glob("m-1.*"):
        path.rename(f"n{path.name[1:]}")
    second = save(a=lambda: tf.Variable(2.0))
    checkpoint = tf.train.Checkpoint()
    early = checkpoint.restore("./n-1")
    late = checkpoint.restore(second)
    checkpoint.a = tf.Variable(0.0)
    with tf.Session() as session:
        late.run_restore_ops(session)
        assert session.run(checkpoint.a) == 2.0
        early.expect_partial()
        late.expect_partial()
    assert first == second


def test_what_is_not_in_the_checkpoint_is_initialized():
    path = save(a=lambda: tf.Variable(1.0))
    checkpoint = tf.train.Checkpoint(
        a=tf.Variable(5.0), extra=tf.Variable(9.0, name="extra"), empty=tf.train.Checkpoint()
    )
    status = checkpoint.restore(path)
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(
            AssertionError, match="Some Python objects were not bound to checkpointed values.*extra:0"
        ):
            check()
    assert status.assert_nontrivial_match() is status
    with tf.Session() as session:
        status.initialize_or_restore(session)
        assert session.run([checkpoint.a, checkpoint.extra]) == [1.0, 9.0]


def test_no_checkpoint_means_initialization():
    checkpoint = tf.train.Checkpoint(a=tf.Variable(5.0))
    status = checkpoint.restore(None)
    for check in (status.assert_consumed, status.assert_existing_objects_matched, status.assert_nontrivial_match):
        with pytest.raises(AssertionError, match=r"No checkpoint specified \(save_path=None\); nothing is being"):
            check()
    with tf.Session() as session:
        with pytest.raises(AssertionError, match="No checkpoint specified, so no restore ops are available"):
            status.run_restore_ops(session)
        status.initialize_or_restore(session)
        assert session.run([checkpoint.a, checkpoint.save_counter]) == [5.0, 0]


def test_a_checkpoint_of_another_program_is_told():
    path = save(other=lambda: tf.Variable(1.0))
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))
    checkpoint._saver.restore(path)
    reader_only = tf.train.Checkpoint()
    status = checkpoint._saver.restore(path)
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        status.assert_nontrivial_match()
    with pytest.raises(AssertionError, match="Nothing to load. No dependencies have been added"):
        reader_only._saver.restore(path).assert_nontrivial_match()


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_restore_that_fails_changes_nothing(use_resource):
    path = save(a=lambda: tf.Variable([1.0, 2.0]), b=lambda: tf.Variable(3.0))
    a = tf.Variable([5.0, 6.0], use_resource=use_resource)
    b = tf.Variable([7.0, 8.0], use_resource=use_resource)
    checkpoint = tf.train.Checkpoint(a=a, b=b)
    with initialized() as session:
        status = checkpoint.restore(path)
        with pytest.raises(
            (tf.errors.InvalidArgumentError, ValueError),
            match=r"(?i)shape.* must|shapes .*compatible|lhs shape= \[2\]",
        ):
            status.run_restore_ops(session)
        np.testing.assert_array_equal(session.run([a, b]), [[5.0, 6.0], [7.0, 8.0]])


def test_what_is_not_there_or_damaged_is_named():
    checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for nope"):
        checkpoint.restore("nope")
    path = save(a=lambda: tf.Variable(1.0))
    data = Path("m-1.data-00001-of-00002")
    whole = data.read_bytes()
    for position in range(0, len(whole), 7):
        data.write_bytes(whole[:position] + bytes([whole[position] ^ 0x20]) + whole[position + 1 :])
        with tf.Graph().as_default(), tf.Session() as session, pytest.raises(tf.errors.DataLossError):
            tf.train.Checkpoint(a=tf.Variable(1.0)).restore(path).expect_partial().run_restore_ops(session)


@pytest.mark.parametrize("node", [{}, {"children": [{"node_id": 5, "local_name": "x"}]},
                                  {"slot_variables": [{"slot_variable_node_id": -1}]}])  # fmt: skip
def test_object_graphs_that_make_no_sense_are_damage(node):
    from stillflow import _engine

    kind = protobuf.message("TrackableObjectGraph")
    values = [kind(nodes=[node]).SerializeToString() if node else b"", b"\xff\xff"]
    for value in values[: 1 if node else 2]:
        writer = _engine.CheckpointWriter(b"bad")
        writer.add(GRAPH_KEY.encode(), np.array(value, object), tf.string.as_datatype_enum)
        writer.finish()
        with pytest.raises(tf.errors.DataLossError, match="object graph"):
            tf.train.Checkpoint().restore("bad")


def test_what_is_not_used_is_warned_of_at_the_end(caplog):
    path = save(a=lambda: tf.Variable(1.0), b=lambda: tf.Variable(2.0))
    for silenced in (False, True):
        with tf.Graph().as_default(), caplog.at_level(logging.WARNING, "tensorflow"):
            caplog.clear()
            checkpoint = tf.train.Checkpoint(a=tf.Variable(1.0))
            status = checkpoint.restore(path)
            if silenced:
                assert status.expect_partial() is status
            del checkpoint, status
            gc.collect()
            assert ("Unresolved object in checkpoint: (root).b" in caplog.text) != silenced


def test_two_objects_for_one_are_warned_of(caplog):
    def twice():
        shared = tf.train.Checkpoint(v=tf.Variable(4.0))
        return tf.train.Checkpoint(one=shared, two=shared)

    path = save(model=twice)
    model = tf.train.Checkpoint(
        one=tf.train.Checkpoint(v=tf.Variable(1.0)), two=tf.train.Checkpoint(v=tf.Variable(1.0))
    )
    with caplog.at_level(logging.WARNING, "tensorflow"):
        tf.train.Checkpoint(model=model).restore(path)
    assert "Inconsistent references" in caplog.text


# ---- Lists and dicts ----------------------------------------------------------------------------------------------


def tracked_names(value):
    return [name for name, _ in value._checkpoint_dependencies]


def test_lists_and_dicts_work_as_before():
    checkpoint = tf.train.Checkpoint()
    plain = [1, "two", [tf.Variable(3.0)]]
    checkpoint.list = plain
    checkpoint.dict = {"a": 1, 2: "b"}
    assert isinstance(checkpoint.list, list) and checkpoint.list == plain and len(checkpoint.list) == 3
    assert isinstance(checkpoint.dict, dict) and checkpoint.dict == {"a": 1, 2: "b"}
    assert repr(checkpoint.list[:2]) == "[1, 'two']"
    assert repr(checkpoint.dict) == "DictWrapper({'a': 1, 2: 'b'})"
    checkpoint.list += [4]
    checkpoint.list.extend(iter([5, 6]))
    assert plain[3:] == checkpoint.list[3:] == [4, 5, 6]
    checkpoint.dict.update(c=3)
    checkpoint.dict |= {"d": 4}
    assert checkpoint.dict.setdefault("e", []) == [] and type(checkpoint.dict["e"]).__name__ == "ListWrapper"
    assert checkpoint.dict.pop("c") == 3 and checkpoint.dict.pop("c", None) is None
    assert sorted(tracked_names(checkpoint)) == ["dict", "list"]
    for value in (checkpoint.dict, tf.train.Checkpoint(a=tf.train.Checkpoint()).a):
        assert copy.copy(value) is not None
    assert pickle.loads(pickle.dumps(checkpoint.dict)) == {"a": 1, 2: "b", "d": 4, "e": []}
    assert copy.deepcopy(checkpoint.list[:2]) == [1, "two"]
    with tf.Session() as session:
        checkpoint.tensors = [tf.constant(1), {"x": tf.constant(2)}]
        assert session.run(checkpoint.tensors) == [1, {"x": 2}]
    for value in (checkpoint.list, checkpoint.dict):
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)


@pytest.mark.parametrize(
    "change",
    [
        lambda items: items.__setitem__(0, tf.Variable(1.0)),
        lambda items: items.__setitem__(slice(0, 1), [tf.Variable(1.0)]),
        lambda items: items.__delitem__(0),
        lambda items: items.insert(0, 3),
        lambda items: items.pop(),
        lambda items: items.remove(items[0]),
        lambda items: items.clear(),
        lambda items: items.reverse(),
        lambda items: items.sort(key=id),
        lambda items: items.__imul__(0),
    ],
)
def test_lists_that_did_not_only_grow_cannot_be_saved(change):
    checkpoint = tf.train.Checkpoint()
    checkpoint.items = [tf.Variable(1.0), tf.Variable(2.0)]
    change(checkpoint.items)
    with initialized() as session, pytest.raises(ValueError, match="Unable to save the object ListWrapper.*replaced"):
        checkpoint.save("./m", session)


def test_lists_and_dicts_that_changed_behind_the_wrapper_cannot_be_saved():
    for plain, change in (([], lambda items: items.append(1)), ({}, lambda items: items.update(a=1))):
        checkpoint = tf.train.Checkpoint()
        checkpoint.items = plain
        change(plain)
        with initialized() as session, pytest.raises(ValueError, match="was modified outside the wrapper"):
            checkpoint.save("./m", session)
    checkpoint = tf.train.Checkpoint()
    checkpoint.items = {3: tf.Variable(1.0)}
    with initialized() as session, pytest.raises(ValueError, match="A non-string key"):
        checkpoint.save("./m", session)


def test_lists_and_dicts_that_grow_are_restored_as_they_grow():
    def values():
        found = tf.train.Checkpoint()
        found.items = [tf.Variable(1.0), tf.Variable(2.0)]
        found.items.insert(9, tf.Variable(3.0))
        found.items *= 1
        found.table = {"a": tf.Variable(4.0)}
        return found

    path = save(v=values)
    checkpoint = tf.train.Checkpoint(v=tf.train.Checkpoint())
    checkpoint.v.items = []
    checkpoint.v.table = {}
    status = checkpoint.restore(path)
    for _ in range(3):
        checkpoint.v.items.append(tf.Variable(0.0))
    checkpoint.v.table["a"] = tf.Variable(0.0)
    with tf.Session() as session:
        status.assert_consumed().run_restore_ops(session)
        assert session.run(checkpoint.v.items) == [1.0, 2.0, 3.0]
        assert session.run(checkpoint.v.table) == {"a": 4.0}


def test_dependencies_can_be_left_out_replaced_and_deleted():
    checkpoint = tf.train.Checkpoint()
    checkpoint.left_out = NoDependency(tf.Variable(1.0, name="left_out"))
    checkpoint.also = checkpoint._no_dependency(checkpoint.left_out)
    assert checkpoint.also is checkpoint.left_out
    assert checkpoint.left_out.op.name == "left_out" and tracked_names(checkpoint) == []
    assert checkpoint.left_out._no_dependency(3) == 3
    checkpoint.v = tf.Variable(1.0)
    checkpoint.v = replacement = tf.Variable(2.0)
    checkpoint.v = replacement
    assert checkpoint._lookup_dependency("v") is replacement
    with pytest.raises(ValueError, match="a Trackable with this name is already declared as a dependency"):
        checkpoint._track_trackable(tf.Variable(3.0), "v")
    with pytest.raises(TypeError, match="not a Trackable"):
        checkpoint._track_trackable(3, "n")
    del checkpoint.v
    assert tracked_names(checkpoint) == []
    with pytest.raises(AttributeError):
        checkpoint.v  # noqa: B018
    checkpoint.table = {"a": tf.Variable(1.0), "b": NoDependency(tf.Variable(1.0))}
    assert tracked_names(checkpoint.table) == ["a"]
    del checkpoint.table["a"]
    assert tracked_names(checkpoint.table) == []


def test_a_property_can_be_set_to_the_value_that_it_has():
    class Shaped(tf.Module):
        value = tf.TensorShape([2])

        @property
        def shape(self):
            return self.value

    shaped = Shaped()
    shaped.shape = Shaped.value
    with pytest.raises(AttributeError):
        shaped.shape = tf.TensorShape([2])


# ---- The manager --------------------------------------------------------------------------------------------------


def names():
    return sorted(path.name for path in Path("d").glob("*.index"))


def test_old_checkpoints_are_deleted_and_known_after_a_restart():
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, "d", max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.checkpoints == []
    with initialized() as session, session.as_default():
        for number in range(1, 4):
            assert manager.save() == manager.latest_checkpoint == f"d/ckpt-{number}"
        assert names() == ["ckpt-2.index", "ckpt-3.index"]
        assert manager.checkpoints == ["d/ckpt-2", "d/ckpt-3"]
        again = tf.train.CheckpointManager(checkpoint, "d", max_to_keep=1)
        assert again.checkpoints == ["d/ckpt-2", "d/ckpt-3"] and again.latest_checkpoint == "d/ckpt-3"
        assert again.save(checkpoint_number=np.int32(40)) == "d/ckpt-40"
        assert names() == ["ckpt-40.index"]
        assert again.save(tf.Variable(40).initialized_value()) == "d/ckpt-40"
        assert again.checkpoints == ["d/ckpt-40"]
        assert session.run(checkpoint.save_counter) == 5
    assert tf.train.latest_checkpoint("d") == "d/ckpt-40"
    text = Path("d/checkpoint").read_text()
    assert text.startswith('model_checkpoint_path: "ckpt-40"\nall_model_checkpoint_paths: "ckpt-40"\n')
    assert "all_model_checkpoint_timestamps: " in text and "last_preserved_timestamp: " in text


def test_the_folder_of_a_recorded_manager_is_taken_over(tmp_path):
    shutil.copytree(GOLDEN.parent / "checkpoint_manager", "d")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, "d", max_to_keep=2)
    assert manager.checkpoints == ["d/ckpt-3", "d/ckpt-40"] and manager.latest_checkpoint == "d/ckpt-40"
    with initialized() as session, session.as_default():
        manager.save(checkpoint_number=41)
    assert names() == ["ckpt-40.index", "ckpt-41.index"]


def test_all_are_kept_without_a_limit():
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), "d", None, checkpoint_name="x")
    with initialized() as session, session.as_default():
        for _ in range(7):
            manager.save()
    assert names() == [f"x-{number}.index" for number in range(1, 8)]


def test_some_are_kept_for_good(monkeypatch):
    now = [1e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, "d", 2, keep_checkpoint_every_n_hours=2)
    with initialized() as session, session.as_default():
        for _ in range(10):
            now[0] += 2000
            manager.save()
        assert names() == ["ckpt-10.index", "ckpt-4.index", "ckpt-8.index", "ckpt-9.index"]
        assert manager.checkpoints == ["d/ckpt-9", "d/ckpt-10"]
        now[0] -= 10**6  # the clock has been set back
        again = tf.train.CheckpointManager(checkpoint, "d", 2, keep_checkpoint_every_n_hours=2)
        again.save()
        assert names() == ["ckpt-10.index", "ckpt-11.index", "ckpt-4.index", "ckpt-8.index", "ckpt-9.index"]


def test_a_manager_says_what_is_wrong():
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    for bad in (0, -1):
        with pytest.raises(ValueError, match=f"Expected a positive integer or `None` .*, got {bad}."):
            tf.train.CheckpointManager(checkpoint, "d", bad)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value Variable"):
        tf.train.CheckpointManager(checkpoint, "d", 1).save()


def test_spelling_is_that_of_tensorflow():
    signatures = {
        tf.train.Checkpoint: "(**kwargs)",
        tf.train.Checkpoint.save: "(self, file_prefix, session=None)",
        tf.train.Checkpoint.write: "(self, file_prefix, session=None)",
        tf.train.Checkpoint.restore: "(self, save_path)",
        tf.train.CheckpointManager: "(checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, "
        "checkpoint_name='ckpt')",
        tf.train.CheckpointManager.save: "(self, checkpoint_number=None)",
    }
    for function, signature in signatures.items():
        assert str(inspect.signature(function)) == signature
