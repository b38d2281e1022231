"""Elementwise functions of two arguments, casts and choices, with their gradients."""

_FLOATS = (
    "add subtract multiply divide truediv div realdiv floordiv floormod maximum minimum squared_difference pow "
    "div_no_nan atan2 mod floor_div"
).split()
_INTEGERS = (
    "add subtract multiply divide truediv div floordiv floor_div floormod mod truncatediv truncatemod maximum "
    "minimum squared_difference pow"
).split()
_COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
_DIFFERENTIABLE = (
    "add subtract multiply divide truediv div realdiv floormod maximum minimum squared_difference pow div_no_nan"
).split()


def _floats(tf):
    return tf.constant([[1.5, 2.0, -0.5], [0.25, 3.0, 4.0]], name="x"), tf.constant([2.0, 0.5, 3.0], name="y")


def _of_floats(name):
    def snippet(tf):
        x, y = _floats(tf)
        function = getattr(tf, name)
        return [function(x, y), function(y, 2.0), function(2.0, y, name="named")]

    return snippet


def _of_integers(name):
    def snippet(tf):
        function = getattr(tf, name)
        return [function(tf.constant([[7, -7], [9, 2]]), tf.constant([2, 3])), function([7, -7], 2, name="named")]

    return snippet


def _compared(name):
    def snippet(tf):
        x, y = _floats(tf)
        function = getattr(tf, name)
        return [function(x, y), function(y, 0.5), function([1, 2, 3], [3, 2, 1], name="named")]

    return snippet


def _gradient(name, shapes):
    def snippet(tf):
        x, y = _floats(tf)
        if shapes == "equal":
            y = tf.constant([[2.0, 0.5, 3.0], [1.0, 2.0, 0.5]])
        elif shapes == "unknown":
            x = tf.placeholder_with_default([[1.5, 2.0, -0.5], [0.25, 3.0, 4.0]], [None, 3])
            y = tf.placeholder_with_default([2.0, 0.5, 3.0], [None])
        with tf.name_scope("model"):
            z = getattr(tf, name)(x, y)
        return tf.gradients(z, [x, y])

    return snippet


for _name in _FLOATS:
    globals()[_name + "_of_floats"] = _of_floats(_name)
for _name in _INTEGERS:
    globals()[_name + "_of_integers"] = _of_integers(_name)
for _name in _COMPARISONS:
    globals()[_name + "_of_floats"] = _compared(_name)
for _name in _DIFFERENTIABLE:
    for _shapes in ("equal", "broadcast", "unknown"):
        globals()["gradient_of_%s_of_%s_shapes" % (_name, _shapes)] = _gradient(_name, _shapes)


def gradient_of_atan2(tf):
    y, x = tf.constant([1.0, -2.0]), tf.constant([0.5, 3.0])
    return tf.gradients(tf.atan2(y, x), [y, x])


def gradient_of_double_products(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
    return tf.gradients(x * x, x) + tf.gradients(tf.multiply(x, 3.0), x)


def gradient_of_integer_powers(tf):
    x = tf.constant([1.0, -2.0, 0.0])
    return tf.gradients(x**2, x) + tf.gradients(tf.pow(x, 3.0), x)


def no_nan_functions(tf):
    x, y = tf.constant([0.0, 1.0, 2.0], name="x"), tf.constant([0.0, 0.0, 4.0], name="y")
    return [tf.math.divide_no_nan(x, y), tf.math.multiply_no_nan(x, y), tf.math.xdivy(x, y), tf.math.xlogy(x, y)]


def gradient_of_no_nan_functions(tf):
    x = tf.placeholder_with_default([[0.0, 1.0, 2.0]], [None, 3])
    y = tf.constant([0.5, 0.25, 4.0], name="y")
    found = []
    for function in (tf.math.multiply_no_nan, tf.math.xdivy, tf.math.xlogy):
        found += tf.gradients(function(x, y), [x, y])
    return found


def strings(tf):
    x = tf.constant([["a"], ["bc"]])
    return [tf.add(x, ["d", ""]), x + "!", tf.equal(x, ["a", "bc"]), tf.not_equal(x, "a")]


def logic(tf):
    x, y = tf.constant([True, True, False]), tf.constant([True, False, False])
    return [
        tf.logical_and(x, y), tf.logical_or(x, y), tf.logical_xor(x, y), tf.logical_xor(x, y, name="named"),
        x & y, x | y, x ^ y, x & True, True | y,
    ]  # fmt: skip


def bits(tf):
    x, y = tf.constant([5, -3, 1 << 20], name="x"), tf.constant([3, 1, 4], name="y")
    b = tf.bitwise
    return [
        b.bitwise_and(x, y), b.bitwise_or(x, y), b.bitwise_xor(x, y), b.invert(x), b.left_shift(x, y),
        b.right_shift(x, y),
    ]  # fmt: skip


def sums_of_several(tf):
    a, b, c = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]), tf.placeholder_with_default([5.0, 6.0], [None])
    return [
        tf.add_n([a, b, c]), tf.add_n([a]), tf.add_n([a], name="one"), tf.accumulate_n([a, b]),
        tf.accumulate_n([a, c], shape=[2], tensor_dtype=tf.float32, name="named"), tf.add_n([[1, 2], [3, 4]]),
    ]  # fmt: skip


def gradient_of_sums_of_several(tf):
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    return tf.gradients(tf.add_n([a, b, a]), [a, b]) + tf.gradients(tf.accumulate_n([a, b]), [a, b])


def products_by_a_scalar(tf):
    x = tf.constant([1.0, 2.0])
    return [tf.scalar_mul(2, x), tf.scalar_mul(tf.constant(3.0), x)]


def casts(tf):
    x = tf.constant([1.7, -1.7, 0.0], name="x")
    return [
        tf.cast(x, tf.int32), tf.cast(x, tf.float32), tf.cast(x, "bool"), tf.cast([1, 2], tf.float64),
        tf.cast([True, False], tf.float32), tf.to_int32(x), tf.to_int64(x, name="named"), tf.to_float(3),
        tf.to_double(x), tf.to_float(x), tf.saturate_cast([-5.0, 300.0, 7.0], tf.uint8),
        tf.saturate_cast(x, tf.float64), tf.cast(tf.to_bfloat16(x), tf.float32),
    ]  # fmt: skip


def gradient_of_casts(tf):
    x = tf.constant([1.7, -1.7, 0.0], name="x")
    return tf.gradients(tf.square(tf.cast(x, tf.float64)), x) + tf.gradients(tf.cast(x, tf.float16), x)


def choices(tf):
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    rows = tf.constant([True, False])
    return [
        tf.where(x > 2, x, y), tf.where(True, x, y), tf.where(rows, x, y), tf.where(rows, [1, 2], [3, 4]),
        tf.where(rows, ["a", "b"], ["c", "d"]), tf.where_v2(rows, x, 0.0), tf.where_v2(rows, "a", [["b", "c"]]),
    ]  # fmt: skip


def gradient_of_choices(tf):
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])
    rows = tf.placeholder_with_default([True, False], [None])
    return tf.gradients(tf.where(rows, x, y), [x, y]) + tf.gradients(tf.where(x > 2, x, y) * 3.0, [x, y])


def gradient_of_broadcast_choices(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.constant(7.0)
    return tf.gradients(tf.where_v2([True, False], x, y), [x, y])
