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
