"""Elementwise ops of one input, for all types."""

from programs.values import INTEGERS, case, numbers

NAMES = (
    "negative abs sign square sqrt rsqrt reciprocal exp expm1 log log1p sigmoid tanh sinh cosh asinh acosh atanh sin "
    "cos tan asin acos atan erf erfc lgamma digamma floor ceil round rint is_nan is_inf is_finite log_sigmoid"
).split()


def cases(tf):
    return {
        "{}_{}".format(name, dtype): case(getattr(tf.math, name), (dtype, numbers(dtype)))
        for name in NAMES
        for dtype in ("float32", "float64") + INTEGERS
    }
