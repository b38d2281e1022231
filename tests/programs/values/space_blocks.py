"""Blocks as batches and as depth: all types, and what is said of shapes that do not fit."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case


def cases(tf):
    def to_batch(x, block, paddings):
        return tf.space_to_batch_nd(x, block, paddings)

    def to_space(x, block, crops):
        return tf.batch_to_space_nd(x, block, crops)

    found = {}
    for dtype in FLOATS + INTEGERS:
        x = np.arange(24).reshape(1, 4, 6)
        found["to_batch_" + dtype] = case(to_batch, (dtype, x), ("int32", [2, 3]), ("int64", [[1, 1], [0, 0]]))
        found["to_space_" + dtype] = case(to_space, (dtype, x), ("int64", [1]), ("int32", [[1, 2]]))
        found["to_depth_" + dtype] = case(lambda x: tf.space_to_depth(x, 2), (dtype, x[..., None]))
        found["from_depth_" + dtype] = case(lambda x: tf.depth_to_space(x, 2), (dtype, x.reshape(1, 1, 3, 8)))
    wrong = {
        "divides": ([2, 4, 3], [3], [[0, 0]]),
        "negative": ([2, 4, 3], [2], [[-1, 1]]),
        "rank": ([2], [2], [[0, 0]]),
        "block_rank": ([2, 4], [[2]], [[0, 0]]),
        "margins": ([2, 4], [2], [[0, 0], [0, 0]]),
        "margin_pair": ([2, 4], [2], [[0]]),
        "zero": ([2, 4], [0], [[0, 0]]),
        "batch": ([3, 4], [2], [[0, 0]]),
        "crop": ([2, 2], [2], [[3, 2]]),
    }
    for name, (shape, block, margins) in wrong.items():
        inputs = (("float32", np.zeros(shape)), ("int32", block), ("int32", margins))
        found["to_batch_wrong_" + name] = case(to_batch, *inputs)
        found["to_space_wrong_" + name] = case(to_space, *inputs)
    for shape in ((1, 3, 4, 1), (1, 4, 4), (1, 0, 2, 1), (0, 2, 2, 4)):
        found["to_depth_{}".format(shape)] = case(
            lambda x: tf.space_to_depth(x, 2), ("float32", np.zeros(shape)), known=False
        )
        found["from_depth_{}".format(shape)] = case(
            lambda x: tf.depth_to_space(x, 2), ("float32", np.zeros(shape)), known=False
        )
    return found
