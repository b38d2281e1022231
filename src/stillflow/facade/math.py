"""tf.math, of which most names are tf.* too."""

from stillflow.facade.array import invert_permutation
from stillflow.facade.array_order import bincount
from stillflow.facade.checks import is_non_decreasing, is_strictly_increasing
from stillflow.facade.math_binary import *
from stillflow.facade.math_binary import divide_no_nan, multiply_no_nan, polyval, xdivy, xlogy
from stillflow.facade.math_reductions import *
from stillflow.facade.math_reductions import reduce_euclidean_norm, reduce_std, reduce_variance, zero_fraction
from stillflow.facade.math_special import *
from stillflow.facade.math_special import bessel_i0, bessel_i0e, bessel_i1, bessel_i1e
from stillflow.facade.math_unary import *
from stillflow.facade.math_unary import reciprocal_no_nan, softplus, softsign
from stillflow.facade.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_sum,
    unsorted_segment_max,
    unsorted_segment_mean,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from stillflow.facade.sparse_tensors import confusion_matrix


def __getattr__(name):
    if name in ("in_top_k", "l2_normalize", "log_softmax", "softmax", "top_k"):
        from stillflow.facade import nn

        return getattr(nn, name)
    raise AttributeError(f"module 'tf.math' has no attribute {name!r}")
