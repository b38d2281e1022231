"""Casts between all pairs of types, of what fits and of what does not."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case, numbers

TYPES = FLOATS + INTEGERS + ("bool",)


def cases(tf):
    return {
        "{}_to_{}".format(source, target): case(lambda x, target=target: tf.cast(x, target), (source, values(source)))
        for source in TYPES
        for target in TYPES
    }


def values(source):
    """What `source` can hold exactly: fractions, the limits of integers and what lies beside, what is no number."""
    if source not in FLOATS:
        return numbers(source)
    limits = [2.0**power for power in (7, 8, 15, 16, 31, 32, 63, 64)]
    limits += [255.0, 65280.0, 32640.0, 2147483648.0 * 1.5, 2.0**63 * 1.5, 1e30 // 2**76 * 2**76, 1e-40, 65519.0]
    extra = np.array(limits + [-value for value in limits])
    with np.errstate(over="ignore"):
        whole = np.concatenate([numbers("float64"), extra])
        if source == "bfloat16":  # cut off, so that all agree on the value
            whole = (whole.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        return whole.astype(np.float16) if source == "float16" else whole
