"""Initializers of orthogonal kernels of convolutions."""

import importlib


def _module(tf, name):
    return importlib.import_module(f"{tf.__name__}.python.{name}")


def all_sizes(tf):
    make = _module(tf, "ops.init_ops")
    return [
        make.convolutional_delta_orthogonal(gain=2.0, seed=1)([3, 3, 2, 3]),
        make.convolutional_orthogonal_1d(seed=2)([3, 2, 3]),
        make.convolutional_orthogonal_2d(gain=0.5, seed=3)([3, 3, 2, 2]),
        make.convolutional_orthogonal_3d(seed=4)([2, 2, 2, 1, 2]),
        make.convolutional_orthogonal_2d(seed=5)([1, 1, 2, 3]),
    ]
