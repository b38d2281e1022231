"""Assertions and other checks of values."""

import sys


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.constant(values), shape)


def _after(tf, checks, tensor):
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(tensor)


def comparisons(tf):
    x, y = _unknown(tf, [1, 2]), tf.constant([2, 3])
    return [
        _after(tf, [
            tf.assert_equal(x, x), tf.assert_equal(x, x + 0, name="e"), tf.assert_less(x, y),
            tf.assert_less_equal(x, y, message="why", summarize=2),
            tf.assert_greater(y, x, name="g"), tf.assert_greater_equal(y, x, data=["here", x]),
            tf.assert_none_equal(x, y), tf.debugging.assert_less(x, y),
        ], x)
    ]  # fmt: skip


def known_comparisons(tf):
    x, y = tf.constant([1, 2]), tf.constant([2, 3])
    return [_after(tf, [tf.assert_less(x, y), tf.assert_equal(x, x), tf.assert_greater(y, x)], x)]


def signs(tf):
    x = _unknown(tf, [1, 2])
    return [
        _after(tf, [
            tf.assert_positive(x), tf.assert_negative(-x), tf.assert_non_negative(x), tf.assert_non_positive(-x),
            tf.assert_positive(x, message="m", name="p"),
        ], x)
    ]  # fmt: skip


def ranks(tf):
    x, y = _unknown(tf, [[1.0, 2.0]]), tf.constant([[1.0]])
    return [
        _after(tf, [
            tf.assert_rank(x, 2), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [1, 2]), tf.assert_rank(y, 2),
            tf.assert_rank_at_least(y, 2), tf.assert_rank_in(y, (0, 2)), tf.assert_scalar(tf.constant(3)),
        ], x)
    ]  # fmt: skip


def types(tf):
    x = tf.constant([1, 2])
    return [
        _after(tf, [
            tf.assert_type(x, tf.int32), tf.assert_integer(x), tf.assert_type(tf.constant(1.0), tf.float32, name="t"),
        ], x)
    ]  # fmt: skip


def asserts(tf):
    x = _unknown(tf, [1, 2])
    return [_after(tf, [tf.Assert(tf.reduce_all(x > 0), ["x", x], summarize=2, name="a"), tf.Assert(True, [x])], x)]


def finite(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.check_numerics(x, "bad")
    return [y, tf.verify_tensor_all_finite(x, "no", name="v"), tf.debugging.check_numerics(x, "z", name="c")] + (
        tf.gradients(y * 3.0, x)
    )


def prints(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x, [x, "text"], "message ", first_n=1, summarize=2)
    return [y, tf.Print(x, [])] + tf.gradients(y * 2.0, x)


def prints_of_templates(tf):
    x = tf.constant([1.0, 2.0])
    return [_after(tf, [tf.print("x", x, 3), tf.print(x, output_stream=sys.stdout, end="", summarize=1)], x)]


def waits(tf):
    x, y = tf.constant([1.0]), tf.constant([2.0])
    a, b = tf.tuple([x * 2.0, y + 1.0])
    return [_after(tf, [tf.group(x, y), tf.group(x.op, name="g"), tf.no_op()], x), a, b]


def shapes(tf):
    x, y, z = tf.ones([2, 3]), _unknown(tf, [[1, 2, 3]], [None, 3]), _unknown(tf, [1, 2, 3], [None])
    return [
        _after(tf, [
            tf.debugging.assert_shapes([(x, ("N", "D")), (y, ("M", "D")), (z, ("D",))]),
            tf.debugging.assert_shapes({x: [2, None]}, name="named"), tf.debugging.assert_shapes([(y, [..., 3])]),
            tf.debugging.assert_shapes([(z, [3]), (y, [1, "."])], message="why", summarize=2),
        ], x)
    ]  # fmt: skip


def all_of_a_list_finite(tf):
    return [tf.verify_tensor_all_finite([1.0, 2.0], "no")]


def all_finite(tf):
    x = tf.constant([1.0, 2.0]) / _unknown(tf, [2.0, 4.0], [2])
    with tf.control_dependencies([tf.add_check_numerics_ops()]):
        return [tf.identity(x)]


def formatted(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return [
        tf.strings.format("a {} b {}", (x, tf.constant("t"))), tf.strings.format("%", x, "%", -1, name="f"),
        tf.guarantee_const(x), tf.guarantee_const([1.0], name="g"),
    ]  # fmt: skip
