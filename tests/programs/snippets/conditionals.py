"""tf.cond and tf.case, their gradients, and what they are made of."""

import collections


def _bool(tf, value, name="p"):
    return tf.placeholder_with_default(tf.constant(value), [], name=name)


def both_ways(tf):
    x = tf.constant([1.0, 2.0])
    found = []
    for value in (True, False):
        found.append(tf.cond(_bool(tf, value), lambda: x * 2.0 + 1.0, lambda: tf.constant([5.0, 6.0])))
    return found


def of_a_comparison(tf):
    x, y = tf.constant(2.0), tf.constant(5.0)
    z = tf.multiply(x, y)
    return [tf.cond(x < y, lambda: tf.add(x, z), lambda: tf.square(y), name="compare")]


def gradient(tf):
    x, w = tf.constant([3.0, 4.0]), tf.Variable([1.0, 2.0], name="w")
    found = []
    for value in (True, False):
        y = tf.cond(_bool(tf, value), lambda: x * w + 2.0, lambda: tf.exp(w))
        found.extend(tf.gradients(y, [x, w]))
    return found


def gradient_of_unknown_shape(tf):
    x = tf.placeholder_with_default(tf.constant([[1.0, 2.0]]), [None, 2])
    found = []
    for value in (True, False):
        y = tf.cond(_bool(tf, value), lambda: tf.reduce_sum(tf.sin(x)), lambda: tf.constant(1.0))
        found.extend(tf.gradients(y, x))
    return found


def gradient_with_colocation(tf):
    x = tf.constant(3.0)
    y = tf.cond(_bool(tf, True), lambda: x * x, lambda: x)
    return tf.gradients(y, x, colocate_gradients_with_ops=True)


def second_gradient(tf):
    x = tf.constant(3.0)
    y = tf.cond(_bool(tf, True), lambda: x * x * x, lambda: x)
    (first,) = tf.gradients(y, x)
    return [first] + tf.gradients(first, x)


def gradient_inside(tf):
    x = tf.constant(3.0)

    def slope():
        y = tf.square(x) * x
        return tf.gradients(y, x)[0]

    return [tf.cond(_bool(tf, True), slope, lambda: x)]


def _nested(tf, x, outer, inner):
    p, q = _bool(tf, outer, "p"), _bool(tf, inner, "q")
    y = tf.cond(p, lambda: tf.cond(q, lambda: x * 2.0, lambda: x + 1.0), lambda: tf.negative(x))
    return [y] + tf.gradients(y, x)


def nested(tf):
    x = tf.constant(3.0)
    return sum([_nested(tf, x, outer, inner) for outer in (True, False) for inner in (True, False)], [])


def nested_with_constants(tf):
    p, q = _bool(tf, True), _bool(tf, False)
    return [
        tf.cond(
            p,
            lambda: tf.cond(q, lambda: tf.constant(1), lambda: tf.constant(2), name="inner") + tf.constant(10),
            lambda: tf.constant(3),
        )
    ]


def several_results(tf):
    x = tf.constant([1, 2, 3])
    a, b = tf.cond(_bool(tf, True), lambda: (x + 1, tf.reduce_sum(x)), lambda: (x, tf.constant(0)))
    Pair = collections.namedtuple("Pair", "left right")
    pair = tf.cond(_bool(tf, False), lambda: Pair(x, [x, x]), lambda: Pair(x * 2, [x * 3, x]))
    table = tf.cond(_bool(tf, False), lambda: {"b": x, "a": [x]}, lambda: {"b": x * 2, "a": [x * 3]})
    return [a, b, pair.left, pair.right[0], pair.right[1], table["a"][0], table["b"]]


def strict_and_singletons(tf):
    x = tf.constant(1)
    strict = tf.cond(_bool(tf, True), lambda: [x], lambda: [x + 1], strict=True)
    loose = tf.cond(_bool(tf, True), lambda: [x], lambda: x + 1)
    return [strict[0], loose]


def what_is_outside_is_returned(tf):
    x, y = tf.constant(1.5), tf.constant(2.5)
    return [tf.cond(_bool(tf, False), lambda: x, lambda: y), tf.cond(_bool(tf, False), lambda: x, lambda: x)]


def python_values(tf):
    return [
        tf.cond(_bool(tf, False), lambda: 1.0, lambda: 2.0),
        tf.cond(_bool(tf, True), lambda: [1, 2], lambda: [3, 4])[1],
    ]


def operations(tf):
    v = tf.Variable(1.0, name="v")
    change = tf.cond(_bool(tf, True), lambda: tf.assign_add(v, 2.0).op, tf.no_op)
    with tf.control_dependencies([change]):
        return [tf.identity(v + 0.0)]


def groups(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    change = tf.cond(
        _bool(tf, True), lambda: tf.group(tf.assign_add(v, 2.0), tf.assign_sub(w, 1.0)), lambda: tf.group(v.op)
    )
    with tf.control_dependencies([change]):
        return [v.read_value() + w.read_value()]


def assignments(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="w")
    return [
        tf.cond(_bool(tf, True), lambda: tf.assign(v, 3.0), lambda: tf.assign(v, 4.0)),
        tf.cond(_bool(tf, False), lambda: tf.assign_add(w, 3.0), lambda: w),
    ]


def resource_variables(tf):
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
    found = []
    for value in (True, False):
        y = tf.cond(_bool(tf, value), lambda: v * 3.0, lambda: tf.constant([1.0, 1.0]))
        found.append(y)
        found.extend(tf.gradients(y, v))
    return found


def resource_rows(tf):
    v = tf.get_variable("v", [4, 2], initializer=tf.ones_initializer(), use_resource=True)
    y = tf.cond(_bool(tf, True), lambda: tf.gather(v, [1, 3]), lambda: tf.gather(v, [0, 0]) * 2.0)
    (slope,) = tf.gradients(y, v)
    return [y, slope.values, slope.indices, slope.dense_shape]


def resource_assignments(tf):
    v = tf.get_variable("v", [], initializer=tf.ones_initializer(), use_resource=True)
    change = tf.cond(_bool(tf, True), lambda: v.assign_add(2.0).op, lambda: tf.no_op())
    with tf.control_dependencies([change]):
        return [v.read_value()]


def rows(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
    found = []
    for value in (True, False):
        y = tf.cond(_bool(tf, value), lambda: tf.gather(v, [1]), lambda: tf.gather(v, [0, 1])[:1])
        slope = tf.gradients(y, v)[0]
        found.extend([slope.values, slope.indices, slope.dense_shape])
    return found


def slices(tf):
    def of(indices):
        return tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant(indices))

    same = tf.cond(_bool(tf, True), lambda: of([0, 1]), lambda: of([1, 1]))
    mixed = tf.cond(
        _bool(tf, True),
        lambda: of([0, 1]),
        lambda: tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2], tf.int64)),
    )
    return [same.values, same.indices, mixed.values, mixed.indices]


def control_dependencies_outside(tf):
    v = tf.Variable(1.0, name="v")
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        return [tf.cond(_bool(tf, True), lambda: v.read_value(), lambda: tf.constant(0.0))]


def control_dependencies_inside(tf):
    v, x = tf.Variable(1.0, name="v"), tf.constant(2.0)

    def update():
        with tf.control_dependencies([tf.assign_add(v, x)]):
            return tf.identity(x), tf.constant(7.0)

    return list(tf.cond(_bool(tf, True), update, lambda: (x, x)))


def scopes(tf):
    x = tf.constant(1.0)

    def dense():
        with tf.variable_scope("layer"):
            w = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0))
        with tf.name_scope("scaled"):
            return tf.multiply(w, x, name="product")

    return [tf.cond(_bool(tf, True), dense, lambda: x, name="layers")]


def devices(tf):
    x = tf.constant(1.0)

    def twice():
        with tf.device("/cpu:0"):
            return x * 2.0

    return [tf.cond(_bool(tf, True), twice, lambda: x)]


def random_numbers(tf):
    tf.set_random_seed(5)
    p = _bool(tf, True)
    return [tf.cond(p, lambda: tf.random_normal([3]), lambda: tf.random_uniform([3])), tf.random_normal([2])]


def old_arguments(tf):
    return [tf.cond(pred=_bool(tf, True), fn1=lambda: tf.constant(1), fn2=lambda: tf.constant(2))]


def a_variable_decides(tf):
    is_training = tf.Variable(True, trainable=False, name="is_training")
    x = tf.constant(2.0)
    return [tf.cond(is_training, lambda: x * 2.0, lambda: x)]


def a_fed_predicate_of_a_constant(tf):
    x = tf.constant(2.0)
    return [
        tf.cond(tf.constant(True), lambda: x * 2.0, lambda: x / 0.0),
        tf.cond(tf.less(1, 0), lambda: x, lambda: -x),
    ]


# ---- tf.case ----------------------------------------------------------------------------------------------------


def cases(tf):
    x, y, z = tf.constant(1), tf.constant(2), tf.constant(3)
    first = tf.case([(tf.less(x, y), lambda: tf.constant(17))], default=lambda: tf.constant(23))
    second = tf.case(
        [(tf.less(y, x), lambda: x * 10), (tf.less(z, x), lambda: y * 10), (tf.less(x, z), lambda: z * 10)],
        default=lambda: tf.constant(0), name="second",
    )  # fmt: skip
    return [first, second]


def exclusive_cases(tf):
    x, y = tf.constant(1), tf.constant(2)
    return [
        tf.case({tf.less(x, y): lambda: tf.constant(17), tf.greater(x, y): lambda: tf.constant(23)},
                default=lambda: tf.constant(-1), exclusive=True)
    ]  # fmt: skip


def cases_without_default(tf):
    x, y = tf.constant(1), tf.constant(2)
    return [
        tf.case([(tf.less(y, x), lambda: tf.constant(17)), (tf.less(x, y), lambda: tf.constant(23))]),
        tf.case([(tf.less(x, y), lambda: [tf.constant(17)])], strict=True)[0],
    ]


def gradient_of_cases(tf):
    x = tf.constant(2.0)
    y = tf.case([(x < 1.0, lambda: x * x), (x < 3.0, lambda: x * x * x)], default=lambda: x)
    return [y] + tf.gradients(y, x)
