"""Tables that programs change, and sections that exclude each other."""

from programs.snippets.accumulators import _in_turn


def _numbers(tf, *values):
    return tf.constant(values, tf.int64)


def scalars(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="words")
    words = tf.constant(["a", "b", "c"])
    return _in_turn(
        tf, lambda: table.insert(words, _numbers(tf, 1, 2, 3)), lambda: table.remove(tf.constant(["b", "z"])),
        lambda: table.lookup(words), table.size,
    )  # fmt: skip


def vectors(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, tf.constant([-1.0, -2.0]), checkpoint=False)
    return _in_turn(
        tf, lambda: table.insert(_numbers(tf, 5, 6), [[1.0, 2.0], [3.0, 4.0]]),
        lambda: table.lookup(_numbers(tf, 6, 7, 5)),
    )  # fmt: skip


def buckets(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2, 4, name="dense")
    results = _in_turn(
        tf, lambda: table.insert(_numbers(tf, 11, 12, 13, 15), _numbers(tf, 1, 2, 3, 4)),
        lambda: table.erase(_numbers(tf, 12, 99)), lambda: table.lookup(_numbers(tf, 11, 12, 15)), table.size,
    )  # fmt: skip
    with tf.control_dependencies(results):
        return results + list(table.export())


def buckets_of_words(tf):
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.float32, [0.0, 1.0], "", "-", 8)
    results = _in_turn(
        tf, lambda: table.insert(tf.constant(["x", "yy", "zzz"]), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        lambda: table.lookup(tf.constant(["zzz", "q"])),
    )  # fmt: skip
    with tf.control_dependencies(results):
        return results + list(table.export())


def buckets_of_pairs(tf):
    table = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, [-1], tf.constant([0, 0], tf.int64), tf.constant([-1, -1], tf.int64), 4
    )
    keys = tf.constant([[1, 2], [3, 4], [5, 6]], tf.int64)
    results = _in_turn(
        tf, lambda: table.insert(keys, tf.constant([[7], [8], [9]], tf.int64)),
        lambda: table.lookup(tf.constant([[3, 4], [0, 1]], tf.int64)),
    )  # fmt: skip
    with tf.control_dependencies(results):
        return results + list(table.export())


def section(tf):
    count = tf.get_variable("count", initializer=0, use_resource=True)
    exclusive = tf.CriticalSection(name="exclusive")
    results = [exclusive.execute(lambda: tf.identity(count.assign_add(1))) for _ in range(3)]
    with tf.control_dependencies(results):
        return [count.read_value()]
