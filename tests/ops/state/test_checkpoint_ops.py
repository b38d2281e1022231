"""SaveV2, RestoreV2 and their kin as nodes: shapes, values, and what they refuse."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def names_of(prefix):
    return [name for name, _ in tf.train.list_variables(str(prefix))]


def test_there_and_back(tmp_path):
    prefix = str(tmp_path / "new" / "m")
    values = [np.arange(6, dtype=np.float32).reshape(2, 3), np.array([b"a", b""], object), np.zeros((0, 2), np.int64)]
    tensors = [tf.constant(value) for value in values]
    run(ops.save_v2(prefix, ["x", "s", "e"], ["", "", ""], tensors))
    x, s, e, part = ops.restore_v2(
        prefix,
        ["x", "s", "e", "x"],
        ["", "", "", "2 3 1,1:-"],
        dtypes=[tf.float32, tf.string, tf.int64, tf.float32],
    )
    assert x.shape.rank is None and part.shape.as_list() == [1, 3]
    for found, expected in zip(run([x, s, e]), values, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert run(part).tolist() == [[3.0, 4.0, 5.0]]


@pytest.mark.parametrize("sliced", [False, True])
def test_the_ops_of_before(sliced, tmp_path):
    path = str(tmp_path / "m")
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    if sliced:
        run(ops.save_slices(path, ["x"], ["4 3 1,2:-"], [x]))
        found = ops.restore_slice(path, "x", "4 3 2,1:0,2", dt=tf.float32)
        assert found.shape.as_list() == [1, 2]
        assert run(found).tolist() == [[3.0, 4.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Does not have sufficient slices"):
            run(ops.restore(path, "x", dt=tf.float32))
    else:
        run(ops.save(path, ["x"], [x]))
        found = ops.restore(path, "x", dt=tf.float32)
        assert found.shape.rank is None
        np.testing.assert_array_equal(run(found), np.arange(6).reshape(2, 3))


def test_names_of_shards():
    base, shard, count = tf.placeholder(tf.string, []), tf.constant(3), tf.constant(12)
    name, spec = ops.sharded_filename(base, shard, count), ops.sharded_filespec(base, count)
    assert name.shape == () and spec.shape == ()
    assert run([name, spec], {base: "a/b"}) == [b"a/b-00003-of-00012", b"a/b-?????-of-00012"]


def test_merging(tmp_path):
    parts = []
    for i in range(3):
        parts.append(str(tmp_path / f"t_{i}" / "part"))
        run(ops.save_v2(parts[-1], [f"v{i}", "p"], ["", f"3 2 {i},1:-"], [tf.constant([i]), tf.fill([1, 2], i)]))
    run(ops.merge_v2_checkpoints(parts, str(tmp_path / "m")))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"m.data-0000{i}-of-00003" for i in range(3)),
        "m.index",
    ]
    assert names_of(tmp_path / "m") == ["p", "v0", "v1", "v2"]
    assert tf.train.load_variable(str(tmp_path / "m"), "p").tolist() == [[0, 0], [1, 1], [2, 2]]


def test_merging_what_does_not_go_together(tmp_path):
    for i in range(2):
        run(ops.save_v2(str(tmp_path / f"{i}"), ["v"], [""], [tf.constant(i)]))
    text = f"Duplicate tensor keyed by v encountered, when merging prefix: {tmp_path}/1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(ops.merge_v2_checkpoints([str(tmp_path / "0"), str(tmp_path / "1")], str(tmp_path / "m")))
    assert not (tmp_path / "m.index").exists()
    assert names_of(tmp_path / "0") == names_of(tmp_path / "1") == ["v"]


def test_what_cannot_be_saved(tmp_path):
    prefix = str(tmp_path / "m")
    x = tf.constant([[1.0, 2.0]])
    for names, slices, text in [
        (["x", "x"], ["", ""], "Adding duplicate key: x"),
        (["x", "y"], ["", "1 3 -:0,2"], None),
        (["x", "y"], ["", "1 3 -:0,3"], "does not match the shape of the tensor"),
        (["x", "y"], ["", "1 -"], "Incompatible ranks|shape_and_slice"),
        (["x", ""], ["", ""], "need a name"),
        (["x", "x"], ["", "1 3 -:0,2"], "Adding duplicate key: x"),
    ]:
        saving = ops.save_v2(prefix, names, slices, [x, x])
        if text is None:
            run(saving)
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                run(saving)
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        ops.save_v2(prefix, ["x"], ["", ""], [x, x])
    with pytest.raises(ValueError, match="rank"):
        ops.save_v2([prefix], ["x"], [""], [x])
    names = tf.placeholder(tf.string, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 1 elements"):
        run(ops.save_v2(prefix, names, [""], [x]), {names: ["a", "b"]})


def test_what_cannot_be_restored(tmp_path):
    prefix = str(tmp_path / "m")
    run(ops.save_v2(prefix, ["x"], [""], [tf.constant([1.0, 2.0])]))
    for name, spec, dtype, error, text in [
        ("y", "", tf.float32, tf.errors.NotFoundError, "Key y not found in checkpoint"),
        (
            "x",
            "",
            tf.int32,
            tf.errors.InvalidArgumentError,
            "expected dtype int32 does not equal original",
        ),
        (
            "x",
            "3 0,1",
            tf.float32,
            tf.errors.InvalidArgumentError,
            r"\[3\] does not match the shape stored .*\[2\]",
        ),
        ("x", "2 1,2", tf.float32, tf.errors.InvalidArgumentError, "out of bounds"),
    ]:
        with pytest.raises(error, match=text):
            run(ops.restore_v2(prefix, [name], [spec], dtypes=[dtype]))
    with pytest.raises(ValueError, match="shape_and_slice"):
        ops.restore_v2(prefix, ["x"], ["2 2 -"], dtypes=[tf.float32])
    text = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files"
    with pytest.raises(tf.errors.NotFoundError, match=text):
        run(ops.restore_v2(str(tmp_path / "n"), ["x"], [""], dtypes=[tf.float32]))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_large_tensors_have_the_same_bytes_for_any_number_of_threads(threads, tmp_path, rng):
    value = rng.standard_normal(9_000_001).astype(np.float32)  # some chunks, and a rest
    v = tf.placeholder(tf.float32, [None])
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Session(config=config) as session:
        session.run(ops.save_v2(str(tmp_path / "m"), ["v"], [""], [v]), {v: value})
        (again,) = session.run(ops.restore_v2(str(tmp_path / "m"), ["v"], [""], dtypes=[tf.float32]))
    assert again.tobytes() == value.tobytes()
    assert (tmp_path / "m.data-00000-of-00001").read_bytes() == value.tobytes()
    assert tf.train.load_variable(str(tmp_path / "m"), "v").tobytes() == value.tobytes()
