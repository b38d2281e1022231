"""map_fn over rows, gathers with defaults, dense tensors of a given shape: values of TensorFlow 1.15.5."""

import pytest
from stillflow.python.ops.ragged import (
    ragged_batch_gather_with_default_op,
    ragged_conversion_ops,
    ragged_map_ops,
    ragged_tensor,
)

import stillflow as tf


def _run(value):
    with tf.Session() as session:
        found = session.run(value)
    return found.to_list() if hasattr(found, "to_list") else found.tolist()


def test_map_fn():
    rows = tf.ragged.constant([[1, 2, 3], [4, 5], [6, 7]], dtype=tf.int64)
    kind = ragged_tensor.RaggedTensorType
    assert _run(ragged_map_ops.map_fn(tf.reduce_sum, rows)) == [6, 9, 13]
    same = kind(dtype=tf.int64, ragged_rank=1)
    assert _run(ragged_map_ops.map_fn(lambda row: row + 1, rows, dtype=same, infer_shape=False)) == [
        [2, 3, 4], [5, 6], [7, 8],
    ]  # fmt: skip
    ranges = ragged_map_ops.map_fn(tf.range, tf.constant([4, 0, 2]), dtype=kind(tf.int32, 1), infer_shape=False)
    assert _run(ranges) == [[0, 1, 2, 3], [], [0, 1]]
    nested_list = [[[1, 2, 3]], [[4, 5], [6, 7]]]
    nested = tf.ragged.constant(nested_list, dtype=tf.int64)
    same = kind(dtype=tf.int64, ragged_rank=2)
    assert _run(ragged_map_ops.map_fn(lambda row: row, nested, dtype=same, infer_shape=False)) == nested_list
    strings = tf.ragged.constant([["foo", "bar"], ["a"]])
    assert _run(ragged_map_ops.map_fn(tf.strings.reduce_join, strings, dtype=tf.string)) == [b"foobar", b"a"]


def test_map_fn_refuses():
    rows = tf.ragged.constant([[1, 2], [3]])
    with pytest.raises(TypeError, match="fn must be callable"):
        ragged_map_ops.map_fn(1, rows)
    with pytest.raises(ValueError, match=r"The declared ragged rank \(10\) mismatches the result \(1\)"):
        ragged_map_ops.map_fn(lambda row: row, rows, dtype=ragged_tensor.RaggedTensorType(tf.int32, 10))
    with pytest.raises(ValueError, match="1\\+ dimensional"):
        ragged_map_ops.map_fn(lambda row: row, tf.constant(1))


def test_gather_with_default():
    gather = ragged_batch_gather_with_default_op.batch_gather_with_default
    params = tf.ragged.constant([["a", "b", "c"], ["d"], [], ["e"]])
    indices = tf.ragged.constant([[1, 2, -1], [], [], [0, 10]])
    assert _run(gather(params, indices, "FOO")) == [[b"b", b"c", b"FOO"], [], [], [b"e", b"FOO"]]
    # One behind the last is outside, too.
    assert _run(gather(params, tf.ragged.constant([[3], [1], [0], [1]]), "x")) == [[b"x"], [b"x"], [b"x"], [b"x"]]
    with pytest.raises(ValueError, match="must be a scalar or vector"):
        gather(params, indices, [["FOO"]])


def test_dense_tensors_of_a_shape():
    dense = ragged_conversion_ops.ragged_to_dense
    rows = tf.ragged.constant([[0, 1, 2, 3], [], [4], []])
    assert _run(dense(rows)) == _run(rows.to_tensor())
    cut = dense(rows, shape=[2, 3], default_value=9)
    assert cut.op.type == "RaggedTensorToTensor"
    assert cut.shape == (2, 3)
    assert _run(cut) == [[0, 1, 2], [9, 9, 9]]
    assert _run(dense(rows, shape=tf.TensorShape([2, None]))) == [[0, 1, 2, 3], [0, 0, 0, 0]]
    assert _run(dense(rows, shape=tf.constant([5, 1], tf.int64))) == [[0], [0], [4], [0], [0]]
    by_ids = tf.RaggedTensor.from_value_rowids(tf.constant([b"x", b"y", b"z"]), [0, 0, 3], nrows=5)
    filled = dense(by_ids, default_value="-")
    assert list(filled.op.get_attr("row_partition_types")) == [b"FIRST_DIM_SIZE", b"VALUE_ROWIDS"]
    assert _run(filled) == [[b"x", b"y"], [b"-", b"-"], [b"-", b"-"], [b"z", b"-"], [b"-", b"-"]]
    with pytest.raises(ValueError, match="inconsistent"):
        dense(rows, shape=[2, 3, 4])


def test_values_with_dimensions_of_their_own():
    rows = tf.RaggedTensor.from_row_splits(tf.constant([[1, 2], [3, 4], [5, 6]]), [0, 2, 3])
    dense = ragged_conversion_ops.ragged_to_dense(rows, default_value=[7, 8])
    assert dense.shape.as_list() == [None, None, 2]
    assert _run(dense) == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
