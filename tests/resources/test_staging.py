"""Staging areas and barriers: elements that come and go in parts, in order, by keys, and what waits for them."""

import threading

import numpy as np
import pytest

import stillflow as tf
from stillflow.resources.barrier import Barrier
from stillflow.resources.staging import MapStagingArea


def test_elements_come_out_in_order_and_may_be_peeked_at():
    x = tf.placeholder(tf.float32)
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], [[], [2]], names=["x", "y"])
    put, get, peek = area.put({"x": x, "y": tf.constant([1, 2])}), area.get(), area.peek(1)
    assert get["y"].shape == [2]
    with tf.Session() as session:
        for value in (1.0, 2.0, 3.0):
            session.run(put, {x: value})
        assert session.run(peek)["x"] == 2
        assert [session.run(get)["x"] for _ in range(2)] == [1, 2]
        assert session.run(area.size()) == 1
        session.run(area.clear())
        assert session.run(area.size()) == 0


@pytest.mark.parametrize("limit", [{"capacity": 2}, {"memory_limit": 2 * 400}])
def test_putting_in_waits_for_room(limit):
    area = tf.contrib.staging.StagingArea([tf.float32], **limit)
    put, get = area.put([tf.zeros([100])]), area.get()
    done = []
    with tf.Session() as session:
        thread = threading.Thread(target=lambda: [(session.run(put), done.append(1)) for _ in range(5)])
        thread.start()
        while len(done) < 2:
            pass
        assert session.run(area.size()) == 2
        for _ in range(5):
            session.run(get)
        thread.join()
        assert session.run(area.size()) == 0


def test_an_element_that_never_fits_is_refused():
    area = tf.contrib.staging.StagingArea([tf.float32], memory_limit=8)
    with tf.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError, match="memory limit of '8'"):
        session.run(area.put([tf.zeros([3])]))


@pytest.mark.parametrize("ordered", [False, True])
def test_elements_by_keys_are_there_once_they_are_complete(ordered):
    key, x = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    area = MapStagingArea([tf.float32, tf.float32], names=["x", "y"], ordered=ordered)
    first, second = area.put(key, {"x": x}), area.put(key, {"y": 2 * x})
    sizes = [area.size(), area.incomplete_size()]
    with tf.Session() as session:
        session.run(first, {key: 7, x: 1.0})
        assert session.run(sizes) == [0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="index '0' for key '7' was already initialized '2'"):
            session.run(first, {key: 7, x: 1.0})
        session.run([second], {key: 7, x: 1.0})
        session.run([first, second], {key: 3, x: 5.0})
        assert session.run(sizes) == [2, 0]
        assert session.run(area.peek(7)) == {"x": 1, "y": 2}
        assert session.run(area.get(7, ["y"])[1]) == {"y": 2}
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been removed"):
            session.run(area.get(7, ["y"])[1])
        assert session.run(area.get()) == (3, {"x": 5, "y": 10})
        assert session.run(area.get(7, ["x"])[1]) == {"x": 1}
        assert session.run(sizes) == [0, 0]


def test_components_have_the_dtypes_and_names_of_the_area():
    area = tf.contrib.staging.StagingArea([tf.float32], names=["x"])
    with pytest.raises(ValueError, match="Datatypes do not match"):
        area.put({"x": tf.constant(1)})
    with pytest.raises(ValueError, match="do not match names"):
        area.put({"y": tf.constant(1.0)})
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        area.put([tf.constant(1.0)])


def test_a_barrier_joins_components_by_keys():
    barrier = Barrier((tf.float32, tf.int32), shapes=((), (2,)))
    take = barrier.take_many(2)
    assert take[2][1].shape == [2, 2]
    with tf.Session() as session:
        session.run(barrier.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0]))
        session.run(barrier.insert_many(1, ["c", "a"], [[3, 3], [1, 1]]))
        assert session.run([barrier.ready_size(), barrier.incomplete_size()]) == [2, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Key b already has a value for component 0"):
            session.run(barrier.insert_many(0, ["b"], [9.0]))
        taken = session.run(take)
        assert taken.keys.tolist() == [b"c", b"a"]
        assert taken.values[0].tolist() == [3, 1]
        assert np.all(taken.indices == -(2**63))
        session.run(barrier.close())
        with pytest.raises(tf.errors.CancelledError, match="brand new key: d"):
            session.run(barrier.insert_many(0, ["d"], [9.0]))
        session.run(barrier.insert_many(1, ["b"], [[2, 2]]))
        assert session.run(barrier.take_many(5, allow_small_batch=True)).keys.tolist() == [b"b"]
        with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
            session.run(take)
