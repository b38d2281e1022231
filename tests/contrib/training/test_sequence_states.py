"""tf.contrib.training.SequenceQueueingStateSaver and batch_sequences_with_states."""

import numpy as np
import pytest

import stillflow as tf


def _saver(length=5, rows=6, **options):
    steps = tf.placeholder_with_default(tf.reshape(tf.range(rows * 2), [rows, 2]), [None, 2])
    given = {
        "batch_size": 1,
        "num_unroll": 2,
        "input_length": tf.constant(length),
        "input_key": tf.constant("key"),
        "input_sequences": {"steps": steps},
        "input_context": {"what": tf.constant([7.0, 8.0])},
        "initial_states": {"sum": tf.constant(100)},
    }
    return tf.contrib.training.SequenceQueueingStateSaver(**{**given, **options})


def test_segments_carry_a_state():
    batch = (saver := _saver()).next_batch
    save = batch.save_state("sum", batch.state("sum") + tf.reduce_sum(batch.sequences["steps"], [1, 2]))
    fetches = {
        name: getattr(batch, name)
        for name in ("key", "next_key", "sequence", "sequence_count", "length", "total_length", "insertion_index")
    }
    fetches.update(steps=batch.sequences["steps"], what=batch.context["what"], state=batch.state("sum"), save=save)
    assert batch.sequences["steps"].shape.as_list() == [1, 2, 2]
    assert batch.state("sum").shape.as_list() == [1]
    with tf.Session() as session:
        session.run(saver.prefetch_op)
        segments = [session.run(fetches) for _ in range(3)]
        assert session.run(saver.barrier.ready_size()) == 0
    for i, segment in enumerate(segments):
        assert segment["key"] == [f"0000{i}_of_00003:key".encode()]
        assert segment["next_key"] == [f"0000{i + 1}_of_00003:key".encode() if i < 2 else b"STOP:key"]
        np.testing.assert_array_equal(segment["steps"], [[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]]])
        np.testing.assert_array_equal(segment["what"], [[7, 8]])
        assert (segment["sequence"], segment["sequence_count"], segment["total_length"]) == ([i], [3], [5])
        assert segment["length"] == [2 if i < 2 else 1]
        assert segment["state"] == [100 + sum(range(4 * i))]
        assert segment["insertion_index"] == [-(2**63)]


def test_capacity_bounds_sequences():
    saver = _saver(capacity=1, input_key=tf.as_string(tf.random_uniform([], maxval=2**31 - 1, dtype=tf.int32)))
    batch = saver.next_batch
    save = batch.save_state("sum", batch.state("sum"))
    with tf.Session() as session:
        session.run(saver.prefetch_op)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(saver.prefetch_op, options=tf.RunOptions(timeout_in_ms=100))
        for _ in range(3):
            session.run(save)
        session.run(saver.prefetch_op)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rows": 5}, tf.errors.InvalidArgumentError, "should be a multiple of: 2, but saw value: 5"),
        ({"length": 7}, tf.errors.InvalidArgumentError, "Input length should be <= than length"),
    ],
)
def test_lengths_are_checked_when_it_runs(options, error, message):
    with tf.Session() as session, pytest.raises(error, match=message):
        session.run(_saver(**options).prefetch_op)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"initial_states": {}}, ValueError, "initial_states may not be empty"),
        ({"initial_states": []}, TypeError, "initial_states must be a dictionary"),
        ({"initial_states": {"a:b": 1}}, ValueError, "state name may not have a colon: 'a:b'"),
        ({"input_context": {1: 1}}, TypeError, "context key must be string: 1"),
        ({"input_sequences": {}}, ValueError, "must have at least one sequence tensor"),
        ({"length": 2.0}, TypeError, "length dtype must be int32"),
        ({"capacity": 0}, ValueError, "capacity 0 needs to be >= batch_size 1"),
    ],
)
def test_what_cannot_be_cut(options, error, message):
    with pytest.raises(error, match=message):
        _saver(**options)


@pytest.mark.parametrize("pad", [True, False])
def test_batches_of_sparse_sequences_and_contexts(pad):
    """Both come back sparse; padding makes three steps four."""
    rows = 3 if pad else 4
    sparse = tf.SparseTensor([[0, 1], [2, 0]], ["a", "b"], [rows, 2])
    batch = tf.contrib.training.batch_sequences_with_states(
        "key", {"dense": tf.range(rows), "sparse": sparse}, {"what": tf.SparseTensor([[1]], [5.0], [3])},
        None if pad else 3, {"state": tf.constant(0)}, num_unroll=2, batch_size=1, num_threads=1, capacity=1, pad=pad,
        make_keys_unique=True,
    )  # fmt: skip
    save = batch.save_state("state", batch.state("state") + 1)
    to_dense = [
        tf.sparse_to_dense(s.indices, s.dense_shape, s.values, default)
        for s, default in ((batch.sequences["sparse"], ""), (batch.context["what"], 0.0))
    ]
    fetches = [batch.sequences["dense"], *to_dense, batch.length, batch.state("state"), save]
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session, coordinator)
        first, second = session.run(fetches), session.run(fetches)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
    np.testing.assert_array_equal(first[0], [[0, 1]])
    np.testing.assert_array_equal(second[0], [[2, 0 if pad else 3]])
    np.testing.assert_array_equal(first[1], [[[b"", b"a"], [b"", b""]]])
    np.testing.assert_array_equal(second[1], [[[b"b", b""], [b"", b""]]])
    for segment, length in ((first, 2), (second, 1)):
        np.testing.assert_array_equal(segment[2], [[0, 5, 0]])
        assert segment[3] == [length]
    assert (first[4], second[4]) == ([0], [1])
