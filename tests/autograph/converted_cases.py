"""Functions whose control flow depends on tensors: TensorFlow 1.15.5 gives these results for them, converted."""

import functools

import stillflow as tf


def absolute(x):
    if x > 0:
        return x
    return -x


def early_returns(x):
    if x > 10:
        return x * 2
    if x > 5:
        return x * 3
    return x


def counting(n):
    i = 0
    total = 0
    while i < n:
        total += i
        i += 1
    return total, i


def jumps(n):  # without its feature, == of a tensor and a number is False
    total = 0
    for i in tf.range(n):
        if i == 3:
            continue
        if i > 6:
            break
        total += i
    return total


def builtin_range(n):
    total = 0
    for i in range(n):
        total = total + i * i
    return total


def rows(x):
    total = tf.zeros([2])
    for row in x:
        total += row
    return total


def logic(a, b):
    if (a and not b) or False:
        return tf.constant(1)
    return tf.constant(2)


def expression(x):
    return x * 2 if x < 1 else x


def _square_above_one(y):
    if y > 1:
        y = y * y
    return y


def calls(x):
    return _square_above_one(x) + functools.partial(_square_above_one)(tf.constant(3))


def nested_loops(n):
    total = 0
    for i in tf.range(n):
        for j in tf.range(i):
            if j > 2:
                break
            total += j
    return total


class _Box:
    pass


def attributes(x):
    box = _Box()
    box.value = tf.constant(1)
    if x > 0:
        box.value = x * 2
    return box.value


def builtins(x):
    return len(x), abs(x), float(x[0]), int(x[0])


def lambdas(x):
    choose = lambda y: y if y > 0 else -y  # noqa: E731
    return choose(x) + tf.map_fn(lambda z: z * 2, tf.stack([x, x]))


def inner_function(x):
    def ten_times(y):
        if y > 2:
            return y
        return y * 10

    return ten_times(x)


def break_of_while(x):
    while x < 100:
        x = x * 2
        if x > 20:
            break
    return x


def in_try(x):
    try:
        if x > 0:
            y = x
        else:
            y = -x
    finally:
        z = 1
    with tf.name_scope("scope"):
        if y > 2:
            y = y + z
    return y


def of_its_own_name(x):
    of_its_own_name.calls = 1
    if x > 0:
        x = x * 2.0
    return x


def fibonacci(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


def arrays(n):
    array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        if i % 2 > 0:
            array = array.write(i, i * i)
        else:
            array = array.write(i, 0)
    return array.stack()


CASES = [
    (absolute, [-3], 3),
    (absolute, [4], 4),
    (early_returns, [3], 3),
    (early_returns, [7], 21),
    (early_returns, [12], 24),
    (counting, [5], (10, 5)),
    (jumps, [10], 21),
    (builtin_range, [4], 14),
    (rows, [[[1.0, 2.0], [3.0, 4.0]]], [4.0, 6.0]),
    (logic, [True, False], 1),
    (logic, [True, True], 2),
    (expression, [0.5], 1.0),
    (expression, [2.0], 2.0),
    (calls, [0], 9),
    (nested_loops, [6], 10),
    (attributes, [3], 6),
    (attributes, [-1], 1),
    (builtins, [[1.5, -2.0]], (2, [1.5, 2.0], 1.5, 1)),
    (lambdas, [-2], [-2, -2]),
    (inner_function, [1], 10),
    (inner_function, [3], 3),
    (break_of_while, [3], 24),
    (in_try, [-5], 6),
    (of_its_own_name, [3.0], 6.0),
    (fibonacci, [10], 55),
    (arrays, [5], [0, 1, 0, 9, 0]),
]
