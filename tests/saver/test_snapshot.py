"""Accept or reject: going back to a state in memory, by stillflow.Snapshot and by both ways that TensorFlow has."""

import threading
import time

import numpy as np
import pytest

import stillflow as tf


def initialized():
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


def noisy_model(use_resource):
    """Something to train with dropout, a sampler that learns, and an unseeded stream."""
    tf.set_random_seed(5)
    weights = tf.get_variable("weights", [20, 8], use_resource=use_resource)
    labels = tf.constant([[1], [3], [7]], tf.int64)
    ids, expected, _ = tf.nn.learned_unigram_candidate_sampler(labels, 1, 4, False, 20)
    inputs = tf.nn.dropout(tf.gather(weights, labels[:, 0]) + tf.random_normal([3, 8]), rate=0.5)
    loss = tf.reduce_sum(tf.square(inputs)) + tf.reduce_sum(tf.gather(weights, ids)) + tf.reduce_sum(expected)
    return weights, tf.train.AdamOptimizer(0.1).minimize(loss)


# ---- Snapshots ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("steps_before", [0, 2])
def test_a_restored_run_goes_on_with_the_same_bits(use_resource, steps_before):
    _weights, train = noisy_model(use_resource)
    with initialized() as session:
        snapshot = tf.Snapshot(session)
        for _ in range(steps_before):
            session.run(train)
        snapshot.save()
        results = []
        for extra in range(4):
            for _ in range(3):
                session.run(train)
            results.append(session.run(tf.global_variables()))
            for _ in range(extra):
                session.run(train)
            snapshot.restore()
        for result in results[1:]:
            for value, expected in zip(result, results[0], strict=True):
                assert value.tobytes() == expected.tobytes()


@pytest.mark.parametrize("use_resource", [False, True])
def test_kept_values_are_not_changed_by_updates_in_place(use_resource):
    dtypes = [tf.float32, tf.float16, tf.int32, tf.int64, tf.bool, tf.string]
    values = [np.array([[0, 1, 2], [1, 0, 3]]).astype("S3" if d is tf.string else d.as_numpy_dtype) for d in dtypes]
    made = [
        tf.Variable(value, dtype=dtype, use_resource=use_resource)
        for value, dtype in zip(values, dtypes, strict=False)
    ]
    updates = [tf.assign_add(v, tf.ones_like(v.value())) for v in made[:4]]
    updates += [tf.scatter_update(v, [0], v.value()[1:]) for v in made[:5]]
    updates.append(tf.assign(made[5], [["x"] * 3] * 2))
    with initialized() as session:
        before = session.run(made)
        snapshot = tf.Snapshot(session)
        snapshot.save()
        for _ in range(3):
            session.run(updates)
            changed = session.run(made)
            assert not any(np.array_equal(value, old) for value, old in zip(changed, before, strict=True))
            snapshot.restore()
            for value, old in zip(session.run(made), before, strict=True):
                np.testing.assert_array_equal(value, old)
        snapshot.save()  # again, in the place of the first
        session.run(updates)
        snapshot.restore()
        for value, old in zip(session.run(made), before, strict=True):
            np.testing.assert_array_equal(value, old)


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_had_no_value_has_none_again(use_resource):
    first = tf.Variable([1.0], use_resource=use_resource)
    second = tf.Variable([2.0], use_resource=use_resource)
    with tf.Session() as session:
        session.run(first.initializer)
        snapshot = tf.Snapshot(session)
        snapshot.save()
        session.run([second.initializer, first.assign([5.0])])
        snapshot.restore()
        assert session.run(first) == [1.0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(second)
        later = tf.Variable([3.0], use_resource=use_resource)
        session.run(later.initializer)
        snapshot.restore()
        assert session.run(later) == [3.0]


def test_a_variable_may_have_changed_its_shape():
    variable = tf.Variable(np.zeros([2, 3], np.float32), validate_shape=False)
    with initialized() as session:
        snapshot = tf.Snapshot(session)
        snapshot.save()
        session.run(tf.assign(variable, [1.0], validate_shape=False))
        assert session.run(variable).shape == (1,)
        snapshot.restore()
        assert session.run(variable).shape == (2, 3)


def test_several_snapshots_live_side_by_side():
    variable = tf.Variable(np.zeros(1000, np.float32))
    add = variable.assign_add(np.ones(1000, np.float32))
    with initialized() as session:
        snapshots = []
        for _ in range(4):
            snapshots.append(tf.Snapshot(session))
            snapshots[-1].save()
            session.run(add)
        for number, snapshot in reversed(list(enumerate(snapshots))):
            snapshot.restore()
            assert (session.run(variable) == number).all()


def test_misuse_is_an_error_that_says_so():
    tf.Variable(1.0)
    with pytest.raises(TypeError, match="session must be a tf.Session, but got <class 'int'>"):
        tf.Snapshot(3)
    session = initialized()
    snapshot = tf.Snapshot(session)
    with pytest.raises(RuntimeError, match=r"Snapshot.restore was called before Snapshot.save"):
        snapshot.restore()
    snapshot.save()
    session.close()
    for call in (snapshot.save, snapshot.restore):
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session."):
            call()


def test_saving_beside_running_threads_does_no_harm():
    variable = tf.Variable(np.zeros(20000, np.float32))
    add = variable.assign_add(np.ones(20000, np.float32))
    with initialized() as session:
        snapshot = tf.Snapshot(session)
        snapshot.save()
        threads = [threading.Thread(target=lambda: [session.run(add.op) for _ in range(200)]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(200):
            snapshot.save()
            snapshot.restore()
        for thread in threads:
            thread.join()
        value = session.run(variable)
        assert (value == value[0]).all()


@pytest.mark.release
def test_size_costs_nothing():
    """The microseconds are asked of 256 MiB as of 4 bytes; a copy would take tens of milliseconds."""
    times = []
    for size in (1, 2**26):
        with tf.Graph().as_default():
            variable = tf.Variable(tf.zeros([size]))
            with initialized() as session:
                snapshot = tf.Snapshot(session)
                best = 1.0
                for _ in range(20):
                    start = time.perf_counter()
                    snapshot.save()
                    snapshot.restore()
                    best = min(best, time.perf_counter() - start)
                assert session.run(variable[0]) == 0
            times.append(best)
    assert max(times) < 0.001


# ---- TensorFlow's ways --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_resource", [False, True])
def test_assigning_placeholders_as_programs_do(use_resource):
    weights, train = noisy_model(use_resource)
    variables = tf.trainable_variables()
    placeholders = [tf.placeholder(v.dtype.base_dtype, v.shape) for v in variables]
    restore = tf.tuple([tf.assign(v, placeholder) for v, placeholder in zip(variables, placeholders, strict=False)])
    with initialized() as session:
        kept = session.run(variables)
        copies = [value.copy() for value in kept]
        session.run(train)
        assert not np.array_equal(session.run(weights), copies[0])
        returned = session.run(restore, dict(zip(placeholders, kept, strict=False)))
        for value, expected, held in zip(session.run(variables), copies, kept, strict=True):
            np.testing.assert_array_equal(value, expected)
            np.testing.assert_array_equal(held, expected)
        np.testing.assert_array_equal(returned[0], copies[0])
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(restore, dict(zip(placeholders, [value[1:] for value in kept], strict=False)))
        np.testing.assert_array_equal(session.run(weights), copies[0])


@pytest.mark.parametrize("use_resource", [False, True])
def test_feeding_the_input_of_the_initializer(use_resource):
    _weights, train = noisy_model(use_resource)
    uninitialized = tf.Variable(tf.zeros([3]), use_resource=use_resource)
    with initialized() as session:
        variables = tf.global_variables()
        kept = session.run(variables)
        copies = [value.copy() for value in kept]
        session.run(train)
        session.run(
            [v.initializer for v in variables],
            {v.initializer.inputs[1]: value for v, value in zip(variables, kept, strict=False)},
        )
        session.run(train)
        for v, value in zip(variables, kept, strict=False):
            session.run(v.initializer, {v.initializer.inputs[1]: value})
        for value, expected in zip(session.run(variables), copies, strict=True):
            np.testing.assert_array_equal(value, expected)
    with tf.Session() as session:
        session.run(uninitialized.initializer, {uninitialized.initializer.inputs[1]: [1.0, 2.0, 3.0]})
        np.testing.assert_array_equal(session.run(uninitialized), [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2,\)"):
            session.run(uninitialized.initializer, {uninitialized.initializer.inputs[1]: [1.0, 2.0]})
