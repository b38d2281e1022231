"""Transformations of tf.data.experimental: their nodes, the functions in the library, and the elements."""

import numpy as np

from programs.snippets.dataset_functions import _elements


def endings(tf):
    experimental = tf.data.experimental
    numbers = tf.data.Dataset.range(10)
    limit = tf.constant(4, tf.int64)
    few = numbers.apply(experimental.take_while(lambda x: x < limit))
    found = _elements(tf, few.repeat(), 6)
    pairs = tf.data.Dataset.zip((numbers, numbers.map(lambda x: x * x)))
    return found + _elements(tf, pairs.apply(experimental.take_while(lambda x, y: y < 5)).repeat(), 4)


def uniques(tf):
    unique = tf.data.experimental.unique()
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "a", "", "ab", "b", "c"])
    rows = tf.data.Dataset.from_tensor_slices(np.array([[1, 2], [2, 1], [1, 2], [3, 3]], np.int32))
    return _elements(tf, words.apply(unique).repeat(), 6) + _elements(tf, rows.apply(unique).repeat(), 4)


def reducers(tf):
    experimental = tf.data.experimental
    scale = tf.constant(10, tf.int64)
    means = experimental.Reducer(
        init_func=lambda _: (0.0, 0.0),
        reduce_func=lambda state, value: (state[0] + tf.cast(value, tf.float32), state[1] + 1),
        finalize_func=lambda total, count: total / count,
    )
    growing = experimental.Reducer(
        init_func=lambda key: tf.fill([1], key * scale),
        reduce_func=lambda state, value: tf.concat([state, [value]], 0),
        finalize_func=lambda state: {"all": state, "first": state[0]},
    )
    numbers = tf.data.Dataset.range(10)
    found = _elements(tf, numbers.apply(experimental.group_by_reducer(lambda x: x % 3, means)), 3)
    return found + _elements(tf, numbers.apply(experimental.group_by_reducer(lambda x: -x % 4, growing)), 4)


def samples(tf):
    experimental = tf.data.experimental
    sources = [tf.data.Dataset.from_tensors(i).repeat() for i in range(3)]
    found = _elements(tf, experimental.RandomDataset(seed=7), 5)
    found += _elements(tf, experimental.sample_from_datasets(sources, seed=3), 8)
    weights = np.array([0.2, 0.3, 0.5], np.float64)
    found += _elements(tf, experimental.sample_from_datasets(sources, weights, seed=3), 8)
    varying = tf.data.Dataset.from_tensors([0.7, 0.2, 0.1]).repeat()
    found += _elements(tf, experimental.sample_from_datasets(sources, varying, seed=5), 8)
    return found + _elements(tf, experimental.sample_from_datasets(sources[:1], seed=5), 2)


def seeds_of_the_graph(tf):
    tf.set_random_seed(11)
    experimental = tf.data.experimental
    sources = [tf.data.Dataset.from_tensors(i).repeat() for i in range(3)]
    return _elements(tf, experimental.sample_from_datasets(sources, [0.5, 0.25, 0.25]), 8)


def sparse_batches(tf):
    to_sparse = tf.data.experimental.dense_to_sparse_batch
    lengths = tf.data.Dataset.from_tensor_slices([1, 0, 3, 2, 2])
    rows = lengths.map(lambda n: tf.fill([n], n))
    found = []
    for dataset in (rows.apply(to_sparse(3, [5])), rows.apply(to_sparse(2, [None]))):
        iterator = dataset.make_initializable_iterator()
        with tf.control_dependencies([iterator.initializer]):
            batch = iterator.get_next()
        with tf.control_dependencies([batch.indices]):
            second = iterator.get_next()
        for each in (batch, second):
            found += [each.indices, each.values, each.dense_shape]
    return found


def optionals(tf):
    optional = tf.data.experimental.Optional
    some = optional.from_value((tf.constant(3), {"a": [1.0, 2.0]}))
    none = optional.none_from_structure(some.value_structure)
    iterator = tf.data.Dataset.range(1).make_initializable_iterator()
    with tf.control_dependencies([iterator.initializer]):
        first = tf.data.experimental.get_next_as_optional(iterator)
        value = first.get_value(name="first")
    with tf.control_dependencies([value]):
        second = tf.data.experimental.get_next_as_optional(iterator)
    number, rest = some.get_value()
    return [number, rest["a"], some.has_value(), none.has_value(name="empty"), first.has_value(), value,
            second.has_value()]  # fmt: skip


def variants(tf):
    dataset = tf.data.Dataset.range(5)
    variant = tf.data.experimental.to_variant(dataset)
    again = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    return _elements(tf, tf.data.Dataset.zip((again, dataset)).map(lambda x, y: x + y), 3)
