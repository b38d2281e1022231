"""tf.while_loop, its gradients, TensorArrays, and the loops over the parts of a tensor."""


def _number(tf, value, name="n"):
    return tf.placeholder_with_default(tf.constant(value), [], name=name)


def _start(tf):
    return tf.constant(0, name="i"), tf.constant([1.0, 2.0], name="x")


def _power(tf, x, w, rounds=3):
    """x * w ** rounds, as a loop."""
    return tf.while_loop(lambda i, y: i < rounds, lambda i, y: (i + 1, y * w), [tf.constant(0), x])[1]


def plain(tf):
    i, x = _start(tf)
    n, w = _number(tf, 5), tf.Variable([1.0, 1.0], name="w")
    return list(tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2.0 + w), [i, x]))


def one_variable(tf):
    return [tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [tf.constant(0)], name="count")]


def no_rounds(tf):
    i, x = _start(tf)
    return list(tf.while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x * 2.0), (i, x)))


def same_structure(tf):
    return tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)], return_same_structure=True)


def structures(tf):
    i, x = _start(tf)
    result = tf.while_loop(
        lambda i, pair: i < 3,
        lambda i, pair: (i + 1, {"a": pair["b"], "b": (pair["a"] + 1.0)}),
        [i, {"a": x, "b": -x}],
    )
    return [result[0], result[1]["a"], result[1]["b"]]


def nested(tf):
    i, x = _start(tf)

    def body(i, x):
        return i + 1, tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y + 1.0), [tf.constant(0), x])[1]

    return list(tf.while_loop(lambda i, x: i < 3, body, [i, x], name="outer"))


def with_a_branch(tf):
    i, x = _start(tf)

    def body(i, x):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: x + 10.0, lambda: x * 2.0)

    return list(tf.while_loop(lambda i, x: i < 6, body, [i, x]))


def in_a_branch(tf):
    i, _ = _start(tf)
    p = tf.placeholder_with_default(True, [])
    return [
        tf.cond(p, lambda: tf.while_loop(lambda i: i < 5, lambda i: i + 2, [i]), lambda: i),
        tf.cond(p, lambda: i, lambda: tf.while_loop(lambda i: i < 5, lambda i: i + 2, [i])),
    ]


def maximum_iterations(tf):
    _, x = _start(tf)
    return [
        tf.while_loop(lambda x: x[0] < 100.0, lambda x: x + 1.0, [x], maximum_iterations=4),
        tf.while_loop(lambda a, b: a < 100, lambda a, b: (a + 1, b * 2.0), (0, x), maximum_iterations=_number(tf, 2))[
            1
        ],
    ]


def shape_invariants(tf):
    i, x = _start(tf)
    invariants = [i.shape, tf.TensorShape([None])]
    return list(tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.concat([x, x], 0)), [i, x], invariants))


def variables_that_change_places(tf):
    _, x = _start(tf)
    return list(tf.while_loop(lambda a, b: tf.reduce_sum(a) < 50, lambda a, b: (b, a + b), [x, x + 1]))


def assignments(tf):
    v = tf.Variable(1.0, name="v")

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, tf.cast(i, tf.float32))]):
            return i + 1

    end = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)], parallel_iterations=1)
    with tf.control_dependencies([end]):
        return [v.read_value()]


def control_dependencies(tf):
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([tf.assign(v, 3.0)]):
        return [tf.while_loop(lambda x: x < 10.0, lambda x: x + v.read_value(), [tf.constant(0.0)])]


def random_numbers(tf):
    tf.set_random_seed(5)
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.random_uniform([2])), [0, tf.zeros([2])])[1]
    return [total, tf.random_uniform([2])]


# ---- Gradients ----------------------------------------------------------------------------------------------------


def gradient(tf):
    _, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")
    return tf.gradients(_power(tf, x, w), [x, w])


def gradient_of_unknown_shape(tf):
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0]]), [None, 2], name="u")
    w = tf.Variable([1.5, 2.0], name="w")
    n = _number(tf, 3)
    body = lambda i, y: (i + 1, tf.sin(y) * tf.reduce_sum(w))  # noqa: E731
    return tf.gradients(tf.while_loop(lambda i, y: i < n, body, [tf.constant(0), u])[1], [u, w])


def gradient_with_a_branch(tf):
    i, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")

    def body(i, x):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: x * w, lambda: tf.sin(x))

    return tf.gradients(tf.while_loop(lambda i, x: i < 4, body, [i, x])[1], [x, w])


def gradient_of_what_one_branch_uses(tf):
    i, x = _start(tf)
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0]]), [None, 2], name="u")

    def body(i, x):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.reduce_sum(u) * x, lambda: x)

    return tf.gradients(tf.while_loop(lambda i, x: i < 4, body, [i, x])[1], [x, u])


def gradient_in_a_branch(tf):
    _, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")
    p = tf.placeholder_with_default(True, [])
    return tf.gradients(tf.cond(p, lambda: _power(tf, x, w), lambda: x), [x, w])


def gradient_of_nested_loops(tf):
    i, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")

    def body(i, x):
        return i + 1, tf.while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y * w), [tf.constant(0), x])[1] * x

    return tf.gradients(tf.while_loop(lambda i, x: i < 3, body, [i, x], name="outer")[1], [x, w])


def gradient_of_several_variables(tf):
    _, x = _start(tf)
    found = tf.while_loop(lambda a, b: tf.reduce_sum(a) < 50, lambda a, b: (b, a * b), [x, x + 1])
    return tf.gradients(found[0], x) + tf.gradients(found, x)


def gradient_of_rows(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    body = lambda i, s: (i + 1, s + tf.gather(v, [i % 2]))  # noqa: E731
    (slope,) = tf.gradients(tf.while_loop(lambda i, s: i < 3, body, [tf.constant(0), tf.zeros([1, 2])])[1], v)
    return [slope.values, slope.indices, slope.dense_shape]


def gradient_of_resources(tf):
    v = tf.get_variable("v", [2], use_resource=True, initializer=tf.ones_initializer())
    _, x = _start(tf)
    return tf.gradients(tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * v * 2.0), [0, x])[1], [x, v])


def gradient_of_what_does_not_go_on(tf):
    _, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")
    body = lambda i, x: (i + 1, tf.constant([1.0, 1.0]) * w)  # noqa: E731
    return [g for g in tf.gradients(tf.while_loop(lambda i, x: i < 3, body, [0, x])[1], [x, w]) if g is not None]


def gradient_with_an_unused_variable(tf):
    _, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")
    found = tf.while_loop(lambda i, x, z: i < 3, lambda i, x, z: (i + 1, x * w, z + 1.0), [0, x, tf.constant(1.0)])
    return tf.gradients(found[1], [x, w])


def gradient_inside(tf):
    i, x = _start(tf)
    w = tf.Variable([1.5, 2.0], name="w")
    body = lambda i, x: (i + 1, x + tf.gradients(x * x * w, x)[0])  # noqa: E731
    return [tf.while_loop(lambda i, x: i < 3, body, [i, x])[1]]


# ---- TensorArrays -------------------------------------------------------------------------------------------------


def arrays(tf):
    x = tf.constant([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 3)
    array = array.write(0, x).write(2, x * 3.0).write(1, x * 2.0)
    ints = tf.TensorArray(tf.int32, size=2, element_shape=[], name="ints").scatter([1, 0], [5, 6])
    return [array.stack(), array.size(), ints.read(0), ints.read(1)]


def gradient_of_arrays(tf):
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, 2], name="u")
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(u * 1.0)
    result = array.read(0) * array.read(1) + array.gather([1, 0])
    return [result] + tf.gradients(result, u)


def arrays_in_a_loop(tf):
    i, x = _start(tf)
    n, w = _number(tf, 3), tf.Variable([1.5, 2.0], name="w")
    array = tf.TensorArray(tf.float32, size=n, name="outs")
    _, array, y = tf.while_loop(
        lambda i, array, y: i < n, lambda i, array, y: (i + 1, array.write(i, y * w), y + w), [i, array, x]
    )
    result = array.stack()
    return [result, y] + tf.gradients(result, [x, w])


def arrays_in_and_out(tf):
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, 2], name="u")
    given, made = tf.TensorArray(tf.float32, 2).unstack(u), tf.TensorArray(tf.float32, 2)
    body = lambda i, made, s: (i + 1, made.write(i, given.read(i) * s), s + 1.0)  # noqa: E731
    _, made, _ = tf.while_loop(lambda i, *_: i < 2, body, [0, made, tf.constant(1.0)])
    result = made.stack()
    return [result] + tf.gradients(tf.reduce_sum(result * result), [u])


def parts_of_arrays(tf):
    v = tf.constant([1.0, 2.0, 3.0, 4.0]) * 2.0
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).split(v, [2, 2])
    joined = array.concat()
    ragged = tf.TensorArray(tf.float32, 3, infer_shape=False).split(tf.constant([1.0, 2.0, 3.0]), [1, 0, 2])
    return [joined, ragged.concat()] + tf.gradients(joined * joined, v)


def arrays_that_grow(tf):
    i, x = _start(tf)
    n = _number(tf, 3)
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])
    body = lambda i, array: (i + 1, array.write(i, x * tf.cast(i, tf.float32)))  # noqa: E731
    _, array = tf.while_loop(lambda i, array: i < n, body, [i, array], parallel_iterations=1)
    result = array.stack()
    return [result, array.size()] + tf.gradients(result, x)


def arrays_in_a_branch(tf):
    x = tf.constant([1.0, 2.0])
    p = tf.placeholder_with_default(True, [])
    array = tf.TensorArray(tf.float32, 2).write(0, x)
    return [tf.cond(p, lambda: array.write(1, x * 2.0), lambda: array.write(1, x * 3.0)).stack()]


# ---- Over the parts of tensors ------------------------------------------------------------------------------------


def maps(tf):
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, 2], name="u")
    x = tf.constant([1, 2, 3])
    squares = tf.map_fn(lambda row: row * row, u)
    both = tf.map_fn(lambda t: (t[0] + t[1], t[0] * 2), (x, x + 1))
    other = tf.map_fn(lambda n: tf.cast(n, tf.float32) / 2.0, x, dtype=tf.float32, name="halves")
    return [squares, both[0], both[1], other] + tf.gradients(squares, u)


def maps_of_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.variable_scope("scope"):
        result = tf.map_fn(lambda row: row * tf.get_variable("w", [], initializer=tf.ones_initializer()), v)
    return [result]


def folds(tf):
    x = tf.constant([1, 2, 3, 4])
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, 2], name="u")
    left = tf.foldl(lambda a, row: a * row, u, initializer=tf.ones([2]))
    return [
        tf.foldl(lambda a, b: a * 10 + b, x), tf.foldr(lambda a, b: a * 10 + b, x), left,
        tf.foldr(lambda a, b: a - b, x, initializer=tf.constant(100), name="from_the_right"),
    ] + tf.gradients(left, u)  # fmt: skip


def scans(tf):
    x = tf.constant([1, 2, 3, 4])
    u = tf.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [None, 2], name="u")
    rows = tf.scan(lambda a, row: a * row, u, initializer=tf.ones([2]))
    pairs = tf.scan(lambda a, e: (a[1], a[0] + a[1]), x, initializer=(tf.constant(0), tf.constant(1)))
    return [
        tf.scan(lambda a, b: a + b, x), tf.scan(lambda a, b: a + b, x, reverse=True), rows, pairs[0], pairs[1],
    ] + tf.gradients(rows, u)  # fmt: skip


def second_derivatives(tf):
    x = tf.constant([1.0, 2.0])
    v = tf.Variable([[1.0, 2.0]], name="v")
    y = tf.reduce_sum(x * x * x) * tf.reduce_sum(tf.exp(v))
    return tf.hessians(y, [x, v])
