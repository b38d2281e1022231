"""The multiply-add that sums of products are defined by, in numpy."""

import numpy as np


def fused(a, b, c):
    """a * b + c of float32 arrays, rounded once.

    The product is exact in double; the sum is rounded to odd there, so that rounding it again does no harm.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    shifted = total - product
    error = (product - (total - shifted)) + (addend - shifted)
    is_even = total.view(np.int64) & 1 == 0
    toward_error = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & np.isfinite(total) & is_even, np.nextafter(total, toward_error), total).astype(
        np.float32
    )
