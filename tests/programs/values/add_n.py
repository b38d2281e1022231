"""Sums of several tensors, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case, numbers


def cases(tf):
    found = {}
    for dtype in FLOATS + INTEGERS + ("bool",):
        x = numbers(dtype)
        for count in (2, 3, 9):
            found["{}_{}".format(dtype, count)] = case(
                lambda *inputs: tf.add_n(list(inputs)), *[(dtype, np.roll(x, i)) for i in range(count)]
            )
        found["accumulate_" + dtype] = case(lambda *inputs: tf.accumulate_n(list(inputs)), (dtype, x), (dtype, x))
    for known in (True, False):
        for name, shapes in (("sizes", ([2], [3])), ("ranks", ([2], [1, 2])), ("scalar", ([], [2]))):
            inputs = [("float32", np.zeros(shape)) for shape in shapes]
            found["{}_{}".format(name, known)] = case(lambda *each: tf.add_n(list(each)), *inputs, known=known)
    found["none"] = case(lambda: tf.add_n([]))
    found["no_list"] = case(tf.add_n, ("float32", [1]))
    found["types"] = case(lambda x, y: tf.add_n([x, y]), ("float32", [1]), ("int32", [1]))
    return found
