"""Data sets that call functions: their nodes, the functions in the library, and the elements."""

import numpy as np


def _elements(tf, dataset, count):
    """`count` elements, each taken after the one before."""
    iterator = dataset.make_initializable_iterator()
    return _taken(tf, iterator, count, iterator.initializer)


def _taken(tf, iterator, count, before):
    found = []
    for _ in range(count):
        with tf.control_dependencies([before]):
            element = iterator.get_next()
        parts = [element[key] for key in sorted(element)] if isinstance(element, dict) else element
        parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
        found.extend(parts)
        before = parts[0]
    return found


def maps(tf):
    numbers = tf.data.Dataset.range(4)
    offset = tf.constant(10, tf.int64, name="offset")
    found = []
    for dataset in (
        numbers.map(lambda x: x * 2 + 1),
        numbers.map(lambda x: {"b": x + offset, "a": tf.cast(x, tf.float32) / 2.0}),
        numbers.map(lambda x: (x, (x - 1, "text"))).map(lambda x, rest: [x, rest[0], rest[1]]),
        numbers.map(lambda x: x + offset, num_parallel_calls=3),
        tf.data.Dataset.zip((numbers, numbers)).map(lambda x, y: tf.stack([x, y, 7 * x])),
        numbers.map(abs),
    ):
        found += _elements(tf, dataset, 3)
    return found


def captures(tf):
    v = tf.Variable(3.0, use_resource=True, name="v")
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def look_up(i):
        row = tf.nn.embedding_lookup(table, i)
        return row * v + w, v.read_value()

    def twice(x):
        return x * 2.0 + table[0, 0]

    dataset = tf.data.Dataset.range(3).map(look_up).map(lambda row, value: (twice(row), value))
    return _elements(tf, dataset, 3)


def filters(tf):
    limit = tf.constant(4, tf.int64)
    numbers = tf.data.Dataset.range(20)
    found = _elements(tf, numbers.filter(lambda x: tf.equal(x % 3, 1)), 4)
    found += _elements(tf, numbers.map(lambda x: (x, x * x)).filter(lambda x, y: y > limit), 2)
    return found


def flat_maps(tf):
    numbers = tf.data.Dataset.range(1, 4)
    offset = tf.constant(100, tf.int64)
    outer = tf.data.Dataset.range(2)
    found = []
    for dataset in (
        numbers.flat_map(tf.data.Dataset.range),
        numbers.flat_map(lambda x: tf.data.Dataset.from_tensors(x + offset).repeat(2)),
        numbers.flat_map(lambda x: tf.data.Dataset.range(x).map(lambda y: y * x + offset)),
        numbers.flat_map(lambda x: outer),
        numbers.window(2).flat_map(lambda window: window.batch(2)),
    ):
        found += _elements(tf, dataset, 4 if len(found) < 16 else 2)
    return found


def interleaves(tf):
    numbers = tf.data.Dataset.range(5)

    def some(x):
        return tf.data.Dataset.range(x * 10, x * 10 + x % 3 + 1)

    found = []
    for dataset in (
        numbers.interleave(some, cycle_length=2),
        numbers.interleave(some, cycle_length=3, block_length=2),
        numbers.interleave(some, cycle_length=2, block_length=2, num_parallel_calls=2),
    ):
        found += _elements(tf, dataset, 9)
    return found


def random_functions(tf):
    tf.set_random_seed(11)
    numbers = tf.data.Dataset.range(4)

    def noisy(x):
        return tf.random_uniform([2], seed=5) + tf.cast(x, tf.float32), tf.random_normal([])

    found = []
    for dataset in (
        numbers.map(noisy),
        numbers.map(lambda x: tf.random_shuffle(tf.range(5), seed=3)).repeat(2),
        numbers.shuffle(4, seed=1).map(noisy).batch(2),
        numbers.flat_map(lambda x: tf.data.Dataset.range(2).map(noisy)),
    ):
        found += _elements(tf, dataset, 2)
    return found


def reductions(tf):
    numbers = tf.data.Dataset.range(6)
    start = np.int64(0)
    total = numbers.reduce(start, lambda state, x: state + x)
    pair = numbers.reduce((start, tf.constant(1.0)), lambda state, x: (state[0] + x, state[1] * 2.0))
    grown = numbers.reduce([1.0], lambda state, x: tf.concat([state, [tf.cast(x, tf.float32)]], 0))
    none = tf.data.Dataset.range(0).reduce({"a": 5}, lambda state, x: {"a": state["a"] + 1})
    return [total, *pair, grown, none["a"]]


def one_shots(tf):
    tf.set_random_seed(4)
    numbers = tf.data.Dataset.range(6)
    words = tf.data.Dataset.from_tensor_slices({"w": ["a", "b", "c"], "n": tf.constant([1.5, 2.5, 3.5])})
    found = []
    for dataset in (
        numbers.map(lambda x: x * x).batch(2),
        words.map(lambda element: (element["n"] * 2.0, element["w"])),
        numbers.shuffle(3).map(lambda x: (x, tf.random_uniform([]))),
    ):
        found += _taken(tf, dataset.make_one_shot_iterator(), 2, tf.no_op())
    return found


def controlled(tf):
    """Nodes with effects run whether their results are used or not, in order."""
    count = tf.Variable(0, use_resource=True, name="count", dtype=tf.int64)

    def counted(x):
        tf.Print(x, [x], "unused")
        before = count.read_value()
        count.assign_add(x)
        between = count.read_value()
        with tf.control_dependencies([tf.py_func(lambda: None, [], [])]):
            count.assign_add(100)
        return tf.stack([x, before, between, count.read_value()])

    return _elements(tf, tf.data.Dataset.range(1, 4).map(counted), 3)


def batches(tf):
    numbers = tf.data.Dataset.range(7)
    experimental = tf.data.experimental
    found = []
    for transformation in (
        experimental.map_and_batch(lambda x: x * x, 3),
        experimental.map_and_batch(lambda x: (x, tf.stack([x, -x])), 2, num_parallel_batches=2, drop_remainder=True),
        experimental.map_and_batch(lambda x: x + 1, tf.constant(2, tf.int64), num_parallel_calls=3),
    ):
        found += _elements(tf, numbers.apply(transformation), 3)
    return found


def variables_made_inside(tf):
    def body(x):
        with tf.variable_scope("inside", reuse=tf.AUTO_REUSE):
            weight = tf.get_variable("weight", [2], initializer=tf.constant_initializer(3.0))
        return tf.cast(x, tf.float32) * weight + tf.Variable(1.0)

    with tf.name_scope("outside"):
        return _elements(tf, tf.data.Dataset.range(1, 4).map(body).map(lambda x: tf.reduce_sum(x)), 2)


def sparse_results(tf):
    def one(x):
        return tf.SparseTensor([[x]], [2 * x], [5])

    iterator = (
        tf.data.Dataset.range(3).map(one).map(lambda sparse: (sparse, sparse.values)).make_initializable_iterator()
    )
    with tf.control_dependencies([iterator.initializer]):
        sparse, values = iterator.get_next()
    return [sparse.indices, sparse.values, sparse.dense_shape, values]
