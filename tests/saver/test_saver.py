"""tf.train.Saver: its arguments, which files it leaves, and what it says when something is wrong."""

import time
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.files import filesystem
from stillflow.saver.builder import BaseSaverBuilder, on_cpu


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


ANYWHERE = tf.ConfigProto(allow_soft_placement=True)


def initialized(config=None):
    session = tf.Session(config=config)
    session.run(tf.global_variables_initializer())
    return session


def names():
    return sorted(path.name for path in Path().iterdir())


def message_of(error):
    """The message without the place where the node was made."""
    return str(error.value).partition("\n\t [[")[0]


# ---- There and back -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("version", [tf.train.SaverDef.V2, tf.train.SaverDef.V1])
def test_all_types_come_back(use_resource, sharded, version):
    dtypes = [tf.float32, tf.float64, tf.float16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.bool]
    dtypes += [tf.complex64, tf.complex128]
    if version == tf.train.SaverDef.V2:
        dtypes += [tf.bfloat16, tf.uint32, tf.uint64]
    made = []
    for i, dtype in enumerate(dtypes):
        with tf.device(f"/device:CPU:{i % 2}" if sharded else None):
            value = np.arange(-3, 3).reshape(2, 3) % 2 if dtype is tf.bool else np.arange(6).reshape(2, 3) - 3 * i % 5
            value = value.astype(dtype.as_numpy_dtype)
            made.append(tf.Variable(value, name=f"v{i}", use_resource=use_resource))
    made.append(tf.Variable([["one", ""], ["\0\xff", "four" * 99]], name="text", use_resource=use_resource))
    saver = tf.train.Saver(sharded=sharded, write_version=version)
    with initialized(ANYWHERE) as session:
        before = session.run(made)
        path = saver.save(session, "./m")
    with tf.Session(config=ANYWHERE) as session:
        saver.restore(session, path)
        for value, expected in zip(session.run(made), before, strict=True):
            np.testing.assert_array_equal(value, expected)
            assert value.dtype == expected.dtype
    if sharded and version == tf.train.SaverDef.V2:
        assert [name for name in names() if "data" in name] == [f"m.data-0000{i}-of-00003" for i in range(3)]
        assert not any("_temp_" in name for name in names())


def test_partitioned_variables_come_back_whole_and_otherwise_cut():
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(3)):
        value = np.arange(21, dtype=np.float16).reshape(7, 3)
        tf.get_variable("p", dtype=tf.float16, initializer=tf.constant(value))
    with initialized() as session:
        tf.train.Saver().save(session, "./m")
    np.testing.assert_array_equal(tf.train.load_variable("m", "p"), value)
    for cut in (1, 2, 7):
        with tf.Graph().as_default():
            with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(cut) if cut > 1 else None):
                again = tf.get_variable("p", [7, 3], tf.float16)
            with tf.Session() as session:
                tf.train.Saver().restore(session, "m")
                np.testing.assert_array_equal(session.run(tf.convert_to_tensor(again)), value)


def test_reshape_and_other_names():
    v = tf.Variable([[1.0, 2.0, 3.0]], name="v")
    with initialized() as session:
        tf.train.Saver({"elsewhere": v}).save(session, "./m")
    w = tf.Variable(tf.zeros([3, 1]), name="w")
    assert tf.train.list_variables(".") == [("elsewhere", [1, 3])]
    with initialized() as session:
        tf.train.Saver({"elsewhere": w}, reshape=True).restore(session, "m")
        assert session.run(w).tolist() == [[1.0], [2.0], [3.0]]


def test_a_builder_of_ones_own():
    class Builder(BaseSaverBuilder):
        def restore_op(self, filename_tensor, saveable, preferred_shard):
            return [tensor + 1.0 for tensor in super().restore_op(filename_tensor, saveable, preferred_shard)]

    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver(builder=Builder())
    with initialized() as session:
        saver.restore(session, saver.save(session, "./m"))
        assert session.run(v).tolist() == [2.0, 3.0]


def test_a_saveable_object_of_ones_own():
    class Doubled(BaseSaverBuilder.SaveableObject):
        def restore(self, restored_tensors, restored_shapes):
            return self.op.assign(restored_tensors[0] / 2.0)

    v = tf.Variable([1.0, 2.0], name="v")
    spec = BaseSaverBuilder.SaveSpec(v * 2.0, "", "double")
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Doubled(v, [spec], "double"))
    saver = tf.train.Saver()
    with initialized() as session:
        saver.save(session, "./m")
        session.run(v.assign([0.0, 0.0]))
    assert tf.train.load_variable("m", "double").tolist() == [2.0, 4.0]


def test_on_cpu():
    assert on_cpu("") == "/device:CPU:0"
    assert on_cpu("/job:ps/task:1/device:GPU:3") == "/job:ps/task:1/device:CPU:0"


# ---- Which files there are ----------------------------------------------------------------------------------------


def test_names_steps_and_the_file_checkpoint():
    v = tf.Variable(1.0, name="v")
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver([v], max_to_keep=2, pad_step_number=True)
    with initialized() as session:
        assert saver.save(session, "./m", global_step=7) == "./m-00000007"
        assert saver.save(session, "./m", global_step=np.int64(8)) == "./m-00000008"
        assert saver.save(session, "./m", global_step=step, meta_graph_suffix="x") == "./m-00000000"
        assert saver.save(session, "./m", global_step="global_step:0", write_meta_graph=False) == "./m-00000000"
        with pytest.raises(TypeError):
            saver.save(session, "./m", global_step=1.5)
    assert saver.last_checkpoints == ["./m-00000008", "./m-00000000"]
    assert Path("checkpoint").read_text() == (
        'model_checkpoint_path: "m-00000000"\nall_model_checkpoint_paths: "m-00000008"\n'
        'all_model_checkpoint_paths: "m-00000000"\n'
    )
    # What is deleted has the suffix of the save that deletes it.
    metas = ["m-00000000.x", "m-00000007.meta", "m-00000008.meta"]
    assert [name for name in names() if name.endswith((".meta", ".x"))] == metas
    assert not list(Path().glob("m-00000007.*-*")) and not Path("m-00000007.index").exists()
    assert not list(Path().glob("*tempstate*"))


def test_what_is_kept_for_good():
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    with initialized() as session:
        for i in range(4):
            time.sleep(0.01)
            saver.save(session, "./m", global_step=i, write_meta_graph=False)
    assert sorted(path.name for path in Path().glob("*.index")) == [f"m-{i}.index" for i in range(4)]
    assert saver.last_checkpoints == ["./m-3"]


@pytest.mark.parametrize("most", [None, 0])
def test_keeping_all(most):
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=most)
    with initialized() as session:
        for i in range(7):
            saver.save(session, "./m", global_step=i, write_meta_graph=False)
    assert len(list(Path().glob("*.index"))) == 7
    assert saver.last_checkpoints == []
    assert list(tf.train.get_checkpoint_state(".").all_model_checkpoint_paths) == ["./m-6"]
    assert saver.as_saver_def().max_to_keep == 0


def test_paths_in_the_file_checkpoint(tmp_path):
    tf.Variable(1.0, name="v")
    with initialized() as session:
        tf.train.Saver().save(session, str(tmp_path / "a"))
        assert f'model_checkpoint_path: "{tmp_path}/a"' in Path("checkpoint").read_text()
        tf.train.Saver(save_relative_paths=True).save(session, str(tmp_path / "b"), latest_filename="other")
        assert 'model_checkpoint_path: "b"' in Path("other").read_text()
        tf.train.Saver().save(session, "d/m")
        assert Path("d/checkpoint").read_text().splitlines()[0] == 'model_checkpoint_path: "m"'
        tf.train.Saver().save(session, "d/mé'\t\"")
        assert Path("d/checkpoint").read_text().splitlines()[0] == r'model_checkpoint_path: "m\303\251\'\t\""'
    assert tf.train.latest_checkpoint("d") == "d/mé'\t\""
    assert tf.train.latest_checkpoint("") == str(tmp_path / "a")


def test_saving_again_under_the_same_name():
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with initialized() as session:
        for i in range(3):
            session.run(v.assign([float(i), 5.0]))
            saver.save(session, "./m")
            assert tf.train.load_variable("m", "v").tolist() == [float(i), 5.0]
    assert saver.last_checkpoints == ["./m"]
    assert names() == ["checkpoint", "m.data-00000-of-00001", "m.index", "m.meta"]


def test_a_new_saver_goes_on_where_another_left_off():
    tf.Variable(1.0, name="v")
    saver = tf.train.Saver(max_to_keep=2)
    with initialized() as session:
        for i in range(2):
            saver.save(session, "./m", global_step=i)
        again = tf.train.Saver(max_to_keep=2)
        again.recover_last_checkpoints([*saver.last_checkpoints, "./gone"])
        assert again.last_checkpoints == ["./m-0", "./m-1"]
        again.save(session, "./m", global_step=2)
    assert again.last_checkpoints == ["./m-1", "./m-2"]
    assert not Path("m-0.index").exists()
    again.set_last_checkpoints(["./x"])
    assert again.last_checkpoints == ["./x"]
    again.set_last_checkpoints_with_time([("./y", 3.0)])
    assert again.last_checkpoints == ["./y"]
    with pytest.raises(AssertionError):
        again.set_last_checkpoints("x")
    with pytest.raises(AssertionError):
        again.set_last_checkpoints_with_time(("x", 1.0))


def test_an_empty_saver():
    saver = tf.train.Saver(allow_empty=True)
    tf.constant(1.0)
    with tf.Session() as session:
        assert saver.save(session, "./m") is None
        saver.restore(session, "anything")
    assert names() == ["m.meta"]


def test_messages():
    v = tf.Variable(1.0, name="v")
    with tf.name_scope("outer"):
        saver = tf.train.Saver([v], sharded=True, max_to_keep=3)
    definition = saver.to_proto()
    assert definition.filename_tensor_name == "outer/save/Const:0"
    assert saver.to_proto(export_scope="outer").restore_op_name == "save/restore_all"
    assert saver.to_proto(export_scope="else") is None
    again = tf.train.Saver.from_proto(definition)
    with initialized() as session:
        again.restore(session, saver.save(session, "./m"))
    assert again.saver_def.max_to_keep == 3
    assert tf.train.Saver(saver_def=saver.to_proto("outer"), name="outer").saver_def == definition


# ---- Errors -------------------------------------------------------------------------------------------------------


def test_arguments_that_are_wrong():
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    v = tf.Variable([1.0, 2.0], name="v")
    c = tf.constant(1.0)
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver([])
    with pytest.raises(ValueError, match="If `var_list` is provided then build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)
    with pytest.raises(TypeError, match="Variables to save should be passed in a dict or a list: 3"):
        tf.train.Saver(3)
    with pytest.raises(TypeError, match="Variable to save is not a Variable: Tensor.*Const:0"):
        tf.train.Saver([c])
    with pytest.raises(
        TypeError, match="must be a dict mapping string names to Tensors/Variables. Not a variable: Ten"
    ):
        tf.train.Saver({"c": c})
    with pytest.raises(TypeError, match="mapping string names to trackable operations. Name is not a string: 1"):
        tf.train.Saver({1: v})
    with pytest.raises(ValueError, match="At least two variables have the same name: v"):
        tf.train.Saver([v, v])
    with pytest.raises(ValueError, match="The same saveable will be restored with two names: b"):
        tf.train.Saver({"a": v, "b": v})
    with pytest.raises(ValueError, match="Slices must all be Variables: Tensor"):
        tf.train.Saver({"a": [c]})
    with pytest.raises(ValueError, match="Slices must all be slices: <tf.Variable 'v:0'"):
        tf.train.Saver({"a": [v]})
    with pytest.raises(ValueError, match="saver_def must be a saver_pb2.SaverDef: 3"):
        tf.train.Saver(saver_def=3)
    with pytest.raises(ValueError, match="saver_def must specify the save_tensor_name: "):
        tf.train.Saver(saver_def=tf.train.SaverDef(max_to_keep=1))
    with pytest.raises(ValueError, match="saver_def must specify the restore_op_name: "):
        tf.train.Saver(saver_def=tf.train.SaverDef(save_tensor_name="a:0"))
    tf.get_default_graph().finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized"):
        tf.train.Saver()


def test_saving_what_cannot_be_saved():
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver()
    deferred = tf.train.Saver(defer_build=True)
    with tf.Session() as session:
        with pytest.raises(ValueError, match="Parent directory of m doesn't exist, can't save."):
            saver.save(session, "m")  # TensorFlow says so of any failure without a folder in the path
        with pytest.raises(tf.errors.FailedPreconditionError) as error:
            saver.save(session, "./m")
        assert message_of(error) == "Attempting to use uninitialized value v"
        session.run(v.initializer)
        with pytest.raises(RuntimeError, match="`build\\(\\)` should be called before save if defer_build==True"):
            deferred.save(session, "./m")
        with pytest.raises(ValueError, match="'latest_filename' must not contain path components"):
            saver.save(session, "./m", latest_filename="a/b")
        with pytest.raises(
            ValueError, match="'latest_filename' collides with 'save_path': 'checkpoint' and 'checkpo"
        ):
            saver.save(session, "checkpoint")
        with pytest.raises(TypeError, match="'sess' must be a Session; 3"):
            saver.save(3, "./m")
        with pytest.raises(ValueError, match="Parent directory of no/such/dir/m doesn't exist, can't save."):
            saver.save(session, "no/such/dir/m")
        Path("file").write_text("")
        with pytest.raises(ValueError, match="Parent directory of file/m doesn't exist, can't save."):
            saver.save(session, "file/m")
        with pytest.raises(ValueError, match="no path specified"):
            saver.save(session, "")
        with pytest.raises(
            RuntimeError, match="Save path 'checkpoint' conflicts with path used for checkpoint state"
        ):
            tf.train.Saver(sharded=True).save(session, "checkpoint")
        with pytest.raises(tf.errors.InvalidArgumentError, match="zero byte"):
            saver.save(session, "./m\0n")
        assert saver.save(session, "new/m") == "new/m"
    with pytest.raises(AttributeError):
        deferred.restore(session, "new/m")


_EXPLAINED = (
    "Restoring from checkpoint failed. This is most likely due to {} from the checkpoint. Please ensure that you "
    "have not altered the graph expected based on the checkpoint. Original error:\n\n{}"
)
_KEY = "a Variable name or other graph key that is missing"
_MISMATCH = "a mismatch between the current graph and the graph"


@pytest.fixture
def saved():
    """A checkpoint at ./m with v = [1, 2], and nothing else."""
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        with initialized() as session:
            tf.train.Saver([v]).save(session, "./m")


def failure(error_type, path="./m", before=lambda session: None):
    """The message of a restore that fails, after which no variable has changed."""
    saver = tf.train.Saver()
    made = tf.global_variables()
    with initialized() as session:
        before(session)
        values = session.run(made)
        with pytest.raises(error_type) as error:
            saver.restore(session, path)
        for value, expected in zip(session.run(made), values, strict=True):
            np.testing.assert_array_equal(value, expected)
    return message_of(error)


def test_a_missing_variable(saved):
    tf.Variable([5.0, 5.0], name="v")
    tf.Variable(3.0, name="zz")
    tf.Variable(3.0, name="aa")
    assert failure(tf.errors.NotFoundError) == _EXPLAINED.format(_KEY, "Key aa not found in checkpoint")


@pytest.mark.parametrize("use_resource", [False, True])
def test_another_shape(saved, use_resource):
    with tf.Graph().as_default():
        a = tf.Variable(7.0, name="a")
        v = tf.Variable([1.0, 2.0], name="v")
        with initialized() as session:
            tf.train.Saver([a, v]).save(session, "./both")
    tf.Variable(3.0, name="a")
    tf.Variable([5.0, 5.0, 5.0], name="v", use_resource=use_resource)
    message = failure(tf.errors.InvalidArgumentError, "./both")
    shapes = "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]"
    assert message == _EXPLAINED.format(_MISMATCH, shapes)


def test_another_type(saved):
    tf.Variable([5, 5], name="v")
    text = "tensor_name = v; expected dtype int32 does not equal original dtype float"
    assert failure(tf.errors.InvalidArgumentError) == _EXPLAINED.format(_MISMATCH, text)


def test_paths_that_are_none(saved):
    tf.Variable([5.0, 5.0], name="v")
    assert failure(ValueError, None) == "Can't load save_path when it is None."
    assert failure(ValueError, "model") == "The passed save_path is not a valid checkpoint: model"
    assert failure(ValueError, "") == "The passed save_path is not a valid checkpoint: "
    assert failure(tf.errors.NotFoundError, "nope/model") == "nope; No such file or directory"
    assert failure(TypeError, 3) == "Expected binary or unicode string, got 3"
    table = "Unable to open table file {}: {}: perhaps your file is in a different file format and you need to use a "
    table += "different restore operator?"
    no_table = "Data loss: not an sstable (bad magic number)"
    assert failure(tf.errors.DataLossError, "./m.meta") == table.format("./m.meta", no_table)
    Path("dir").mkdir()
    assert failure(tf.errors.DataLossError, "dir") == table.format("dir", "Failed precondition: dir; Is a directory")


def test_files_that_are_damaged(saved):
    tf.Variable([5.0, 5.0], name="v")
    data, index = Path("m.data-00000-of-00001"), Path("m.index")
    good_data, good_index = data.read_bytes(), index.read_bytes()
    data.write_bytes(good_data[:-1])
    assert failure(tf.errors.OutOfRangeError) == "Read less bytes than requested"
    data.write_bytes(b"\0" + good_data[1:])
    data.write_bytes(bytes([good_data[0] ^ 1]) + good_data[1:])
    assert failure(tf.errors.DataLossError).startswith("Checksum does not match: stored ")
    data.unlink()
    missing = "./m.data-00000-of-00001; No such file or directory"
    assert failure(tf.errors.NotFoundError) == _EXPLAINED.format(_KEY, missing)
    data.write_bytes(good_data)
    index.write_bytes(good_index[:3] + b"\xff" + good_index[4:])
    assert failure(tf.errors.DataLossError) == (
        "Unable to read file (./m.index). Perhaps the file is corrupt or was produced by a newer version of "
        "TensorFlow with format changes (failed to seek to header entry): block checksum mismatch"
    )
    index.write_bytes(good_index[:-1] + b"\0")
    assert failure(tf.errors.DataLossError) == "not an sstable (bad magic number)"
    index.write_bytes(good_index[:47])
    assert failure(tf.errors.DataLossError) == "file is too short to be an sstable"
    index.write_bytes(b"")
    assert failure(tf.errors.DataLossError) == "file is too short to be an sstable"


def test_a_closed_session_and_one_of_another_graph(saved):
    tf.Variable([5.0, 5.0], name="v")
    saver = tf.train.Saver()
    session = tf.Session()
    session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        saver.restore(session, "./m")
    with tf.Session(graph=tf.Graph()) as other, pytest.raises(RuntimeError, match="The Session graph is empty"):
        saver.restore(other, "./m")


def test_bytes_are_paths_too(saved):
    v = tf.Variable([5.0, 5.0], name="v")
    with tf.Session() as session:
        tf.train.Saver().restore(session, b"./m")
        assert session.run(v).tolist() == [1.0, 2.0]


def test_the_blocks_of_a_checkpoint_that_is_replaced_are_freed_by_a_thread(tmp_path, monkeypatch):
    events = []
    freed_by_thread = filesystem.freed_by_thread

    def note(*paths):
        events.append([Path(path).name for path in paths])
        return freed_by_thread(*paths)

    monkeypatch.setattr(filesystem, "freed_by_thread", note)
    v = tf.get_variable("v", initializer=tf.zeros([17 << 20]))
    saver = tf.train.Saver([v])
    with tf.Session() as session:
        for value in (0.0, 1.0):
            session.run(v.assign(tf.fill([17 << 20], value)))
            filesystem._removals.clear()
            saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
    assert events[0] == [] and events[1] == ["m.data-00000-of-00001"]
    assert len(filesystem._removals) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "m.data-00000-of-00001", "m.index"]
    assert np.unique(tf.train.load_variable(str(tmp_path / "m"), "v")).tolist() == [1.0]


def test_slices_of_resource_variables_are_a_shard_of_their_own(tmp_path):
    """They are read on the CPU, and what is beside them has no device, as in Estimators of TensorFlow."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("whole", [2], use_resource=True)
        tf.get_variable("sliced", [4], use_resource=True, partitioner=tf.fixed_size_partitioner(2))
        saver = tf.train.Saver(sharded=True)
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, str(tmp_path / "m"))
        assert len(list(tmp_path.glob("m.data-*-of-00002"))) == 2
        saver.restore(session, prefix)
    assert dict(tf.train.list_variables(prefix)) == {"whole": [2], "sliced": [4]}
