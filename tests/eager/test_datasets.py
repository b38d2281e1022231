"""Data sets and their iterators where operations are executed eagerly, beyond what transcripts show."""

import gc
import weakref

import numpy as np
import pytest

import stillflow as tf
from stillflow import _engine


def _used_bytes():
    gc.collect()
    return _engine.allocator_statistics()[0]


def test_what_an_iterator_holds_is_freed_with_it():
    dataset = tf.data.Dataset.from_tensors(np.zeros(1000, np.float32)).repeat().batch(100)
    next(iter(dataset))
    before = _used_bytes()
    for _ in range(50):
        iterator = iter(dataset.prefetch(2))
        next(iterator)
        del iterator
    assert _used_bytes() - before < 1_000_000


def test_a_data_set_is_freed_when_nobody_uses_it():
    before = _used_bytes()
    dataset = tf.data.Dataset.from_tensors(np.zeros(1_000_000, np.float32))
    iterator = iter(dataset)
    next(iterator)
    assert _used_bytes() - before >= 4_000_000
    del dataset, iterator
    assert _used_bytes() - before < 1_000_000


def test_functions_of_data_sets_are_freed_with_them():
    def times(x):
        return x * 2

    name = weakref.ref(times)
    assert [int(x) for x in tf.data.Dataset.range(3).map(times)] == [0, 2, 4]
    generator = weakref.ref(times)
    del times
    gc.collect()
    assert name() is None
    assert generator() is None


def test_an_iterator_outlives_the_data_set_that_it_goes_through():
    iterator = iter(tf.data.Dataset.range(4).map(lambda x: x * x))
    gc.collect()
    assert [int(x) for x in iterator] == [0, 1, 4, 9]


def test_iterators_of_one_data_set_do_not_disturb_each_other():
    dataset = tf.data.Dataset.range(3)
    first, second = iter(dataset), iter(dataset)
    assert [int(next(first)), int(next(first)), int(next(second)), int(next(first))] == [0, 1, 0, 2]


def test_checkpoints_of_objects_hold_the_positions_of_iterators(tmp_path):
    iterator = iter(tf.data.Dataset.range(10).shuffle(4, seed=1))
    first = [int(next(iterator)) for _ in range(3)]
    prefix = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "position"))
    rest = [int(x) for x in iterator]
    assert sorted(first + rest) == list(range(10))
    again = iter(tf.data.Dataset.range(10).shuffle(4, seed=1))
    tf.train.Checkpoint(iterator=again).restore(prefix)
    assert [int(x) for x in again] == rest


def test_a_position_in_another_pipeline_is_refused(tmp_path):
    prefix = tf.train.Checkpoint(iterator=iter(tf.data.Dataset.range(3))).save(str(tmp_path / "position"))
    other = iter(tf.data.Dataset.range(3).batch(2))
    with pytest.raises(tf.errors.FailedPreconditionError, match="not one of this op"):
        tf.train.Checkpoint(iterator=other).restore(prefix)
    assert next(other).numpy().tolist() == [0, 1]


def test_savers_of_contrib_eager_need_no_session(tmp_path):
    variable = tf.contrib.eager.Variable(3.0, name="weight")
    saver = tf.contrib.eager.Saver([variable])
    prefix = saver.save(str(tmp_path / "model"), global_step=5)
    assert prefix.endswith("model-5")
    variable.assign(0.0)
    saver.restore(prefix)
    assert variable.numpy() == 3.0
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="eager execution"):
        tf.contrib.eager.Saver([])


def test_data_sets_that_are_elements_are_gone_through_as_others():
    pairs = tf.data.Dataset.range(5).map(lambda x: (x, x * 2)).window(2, shift=1)
    found = [([int(x) for x in a], [int(x) for x in b]) for a, b in pairs]
    assert found[0] == ([0, 1], [0, 2])
    assert found[-1] == ([4], [8])


def test_a_generator_is_called_for_each_pass():
    calls = []

    def generate():
        calls.append(1)
        yield from range(3)

    dataset = tf.data.Dataset.from_generator(generate, tf.int64)
    assert [int(x) for x in dataset] == [int(x) for x in dataset] == [0, 1, 2]
    assert len(calls) == 2


def test_variants_show_no_value():
    dataset = tf.data.Dataset.range(2)
    assert repr(dataset._variant_tensor).endswith("shape=(), dtype=variant, numpy=<unprintable>>")
    with pytest.raises(TypeError, match="variant"):
        dataset._variant_tensor.numpy()


def test_iterators_for_python_need_eager_execution():
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(2)
        with pytest.raises(RuntimeError, match="eager execution"):
            tf.contrib.eager.Iterator(dataset)
