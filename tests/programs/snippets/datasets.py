"""Data sets: the nodes of pipelines and iterators, and the elements that come out."""

import numpy as np


def _elements(tf, dataset, count):
    """`count` elements, each taken after the one before."""
    iterator = dataset.make_initializable_iterator()
    return _taken(tf, iterator, iterator.initializer, count)


def _taken(tf, iterator, initializer, count):
    found = []
    before = initializer
    for _ in range(count):
        with tf.control_dependencies([before]):
            element = iterator.get_next()
        parts = list(element.values()) if isinstance(element, dict) else element
        parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
        found.extend(parts)
        before = parts[0]
    return found


def sources(tf):
    data = tf.data.Dataset
    one = data.from_tensors({"a": [1, 2], "b": (tf.constant(3.0), "text")})
    rows = data.from_tensor_slices((np.arange(6.0).reshape(3, 2), tf.constant([1, 2, 3]), ["x", "y", "z"]))
    numbers = [data.range(3), data.range(2, 4), data.range(5, 1, -2)]
    found = []
    element = one.make_initializable_iterator()
    with tf.control_dependencies([element.initializer]):
        value = element.get_next()
    found += [value["a"], value["b"][0], value["b"][1]]
    found += _elements(tf, rows, 3)
    for each in numbers:
        found += _elements(tf, each, 2)
    return found


def selections(tf):
    numbers = tf.data.Dataset.range(10)
    found = []
    for dataset in (numbers.take(3), numbers.skip(7), numbers.shard(3, 1), numbers.take(-1).skip(2)):
        found += _elements(tf, dataset, 3)
    return found


def combinations(tf):
    data = tf.data.Dataset
    pair = data.zip((data.range(3), {"b": data.range(5, 9), "a": data.from_tensors("t").repeat()}))
    iterator = pair.make_initializable_iterator()
    with tf.control_dependencies([iterator.initializer]):
        number, rest = iterator.get_next()
    found = [number, rest["a"], rest["b"]]
    found += _elements(tf, data.range(2).concatenate(data.range(7, 9)), 4)
    found += _elements(tf, data.range(2).repeat(2), 4)
    found += _elements(tf, data.from_tensor_slices([5, 6, 7]).enumerate(start=3), 3)
    mixed = data.from_tensors([1, 2]).concatenate(data.from_tensors([3, 4, 5]))
    return found + _elements(tf, mixed, 2)


def shuffles(tf):
    tf.set_random_seed(7)
    numbers = tf.data.Dataset.range(8)
    found = []
    for dataset in (
        numbers.shuffle(3, seed=2),
        numbers.shuffle(5),
        numbers.shuffle(5, seed=1, reshuffle_each_iteration=False).repeat(2),
        numbers.shuffle(4).repeat(3),
        numbers.shuffle(tf.constant(100, tf.int64)),
    ):
        found += _elements(tf, dataset, 8)
    return found


def batches(tf):
    data = tf.data.Dataset
    rows = data.from_tensor_slices((np.arange(10, dtype=np.float32).reshape(5, 2), ["a", "b", "c", "d", "e"]))
    found = _elements(tf, rows.batch(2), 3)
    found += _elements(tf, rows.batch(2, drop_remainder=True), 2)
    found += _elements(tf, rows.batch(tf.constant(3, tf.int64), tf.constant(True)), 1)
    ragged = data.from_tensors([1]).concatenate(data.from_tensors([2, 3, 4])).concatenate(data.from_tensors([5, 6]))
    found += _elements(tf, ragged.padded_batch(2, [None]), 2)
    found += _elements(tf, ragged.padded_batch(3, [4], padding_values=-1, drop_remainder=True), 1)
    pairs = data.zip((ragged, data.from_tensor_slices(["p", "q", "r"])))
    found += _elements(tf, pairs.padded_batch(2, (tf.constant([3], tf.int64), []), (7, "none")), 1)
    return found


def windows(tf):
    numbers = tf.data.Dataset.range(7)
    outer = numbers.window(3, shift=2, stride=2).make_initializable_iterator()
    with tf.control_dependencies([outer.initializer]):
        window = outer.get_next()
    inner = tf.data.make_initializable_iterator(window)
    numbers.window(2, drop_remainder=True)
    return _taken(tf, inner, inner.initializer, 3)


def buffers(tf):
    numbers = tf.data.Dataset.range(5)
    return _elements(tf, numbers.prefetch(2), 3) + _elements(tf, numbers.prefetch(tf.data.experimental.AUTOTUNE), 2)


def options(tf):
    data = tf.data.Dataset.range(6).shuffle(3, seed=1).repeat(2)
    first = tf.data.Options()
    first.experimental_optimization.apply_default_optimizations = False
    second = tf.data.Options()
    second.experimental_optimization.autotune = False
    third = tf.data.Options()
    third.experimental_optimization.shuffle_and_repeat_fusion = False
    found = []
    for each in (first, second, third, first.merge(second)):
        found += _elements(tf, data.with_options(each), 12)
    return found


def iterators(tf):
    data = tf.data.Dataset
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    first = iterator.make_initializer(data.range(3))
    found = _taken(tf, iterator, first, 3)
    with tf.control_dependencies([found[-1]]):
        second = iterator.make_initializer(data.range(7, 9), name="second")
    found += _taken(tf, iterator, second, 2)
    with tf.device("/cpu:0"):
        other = tf.data.Iterator.from_structure((tf.int64, tf.int64), shared_name="shared")
    found += _taken(tf, other, other.make_initializer(data.zip((data.range(2), data.range(4, 6)))), 1)
    named = data.range(4, 5).make_initializable_iterator(shared_name="named")
    fed = tf.data.Iterator.from_string_handle(named.string_handle(name="handle"), tf.int64, [])
    return found + _taken(tf, fed, named.initializer, 1)


def sparse_tensors(tf):
    data = tf.data.Dataset
    sparse = tf.SparseTensor([[0, 0], [1, 1], [1, 2]], [1.0, 2.0, 3.0], [3, 4])
    found = []
    for dataset in (
        data.from_tensors(sparse),
        data.from_tensors(tf.SparseTensorValue([[0]], [b"text"], [2])),
        data.from_tensor_slices(sparse).batch(2).prefetch(1),
        data.from_tensor_slices((sparse, [1, 2, 3])).skip(1).shuffle(2, seed=1),
    ):
        iterator = dataset.make_initializable_iterator()
        with tf.control_dependencies([iterator.initializer]):
            element = iterator.get_next(name="element")
        element, rest = element if isinstance(element, tuple) and len(element) == 2 else (element, None)
        found += [element.indices, element.values, element.dense_shape] + ([] if rest is None else [rest])
    return found + _elements(tf, data.from_sparse_tensor_slices(sparse), 2)


def caches(tf):
    numbers = tf.data.Dataset.range(3)
    return _elements(tf, numbers.shuffle(3, seed=1).cache().repeat(2), 6)


def listed_files(tf):
    tf.data.Dataset.list_files("/nowhere/*")
    tf.data.Dataset.list_files(["/nowhere/a*", "/nowhere/b*"], shuffle=False).make_initializable_iterator()
    tf.data.Dataset.list_files("/nowhere/*", seed=3).repeat()
