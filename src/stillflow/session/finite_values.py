"""Whether values are finite: the filter that TensorFlow's debugger stops runs with."""

from __future__ import annotations

import numpy as np

from stillflow.names import public


@public("python.debug.has_inf_or_nan", "python.debug.lib.debug_data.has_inf_or_nan")
def has_inf_or_nan(datum, tensor):
    """Whether an array has an infinity or a NaN; False for strings and for what is not an array.

    Args:
      datum: what the debugger knows of the array; not used.
      tensor: the array, or None for one that was never computed.
    """
    if not isinstance(tensor, (np.ndarray, np.generic)) or not np.issubdtype(tensor.dtype, np.number):
        return False
    return not bool(np.isfinite(tensor).all())
