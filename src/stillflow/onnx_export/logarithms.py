"""Sums of numbers whose logarithms are known. Logarithms are double numbers as in the kernels; that of 0 is a finite
number, as differences of infinities would be none."""

from __future__ import annotations

import numpy as np

LOG_ZERO = -1e30
ABSENT = LOG_ZERO / 2  # below it are sums of logarithms of zeros, and nothing else


def log(call, value=LOG_ZERO):
    """A constant, by default the logarithm of 0."""
    return call.constant(value, np.float64)


def log_sum(call, *logs):
    """The logarithm of a sum, of arrays of one shape and type."""
    parts = [call.add("Unsqueeze", value, call.ints(0)) for value in logs]
    return call.add("ReduceLogSumExp", call.add("Concat", *parts, axis=0), call.ints(0), keepdims=0)
