"""Assertions in eager execution, and their messages."""

from __future__ import annotations

import numpy as np

from stillflow import errors
from stillflow.composites import checks
from stillflow.graph.mode import eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.convert import convert_n_to_tensor

_SHOWN = 3  # elements of each tensor, unless it is said how many


@eager_version_of(checks.assert_that)
def require(condition, data, summarize=None, name=None):
    """Raises InvalidArgumentError with the values of `data` unless `condition` is true."""
    if condition:
        return
    lines = [_listed(constant_value(tensor), summarize) for tensor in convert_n_to_tensor(data)]
    raise errors.InvalidArgumentError(
        None, None, f"Expected '{condition!s}' to be true. Summarized data: " + "\n".join(lines)
    )


def _listed(value, summarize):
    if not np.ndim(value):
        return "" if summarize == 0 else str(value)
    flat = np.reshape(value, -1)
    count = _SHOWN if summarize is None else flat.size if summarize < 0 else summarize
    items = [str(item) for item in flat[:count]]
    return ", ".join(items if len(items) == flat.size else [*items, "..."])


@eager_version_of(checks.check_comparison)
def require_comparison(sign, compare, known, x, y, data, summarize, message):
    """Raises InvalidArgumentError unless `compare` holds for all elements of x and y."""
    holds = compare(x, y).numpy()
    if np.all(holds):
        return
    count = _SHOWN if summarize is None else max(x.numpy().size, y.numpy().size) if summarize < 0 else summarize
    if data is None:
        data = _differences(sign, holds, x.numpy(), y.numpy(), count)
    if message is not None:
        data = [message, *data]
    raise errors.InvalidArgumentError(None, None, "\n".join(_line(item, count) for item in data))


def _differences(sign, holds, x, y, count):
    """What to say of a failed comparison: the first places where it does not hold, and the first elements."""
    lines: list = [f"Condition x {sign} y did not hold."]
    if count <= 0:
        return lines
    if np.shape(x) == np.shape(y) != ():
        where = np.argwhere(~holds)[:count]
        lines += [
            f"Indices of first {len(where)} different values:", where, "Corresponding x values:", x[~holds][:count],
            "Corresponding y values:", y[~holds][:count],
        ]  # fmt: skip
    for name, value in (("x", x), ("y", y)):
        flat = np.reshape(value, -1)
        lines += [f"First {min(flat.size, count)} elements of {name}:", flat[:count]]
    return lines


def _line(item, count):
    if not isinstance(item, Tensor):
        return str(item)
    value = constant_value(item)
    if not np.ndim(value):
        return str(value)
    items = [str(element) for element in np.reshape(value, -1)[:count]]
    return str(items if len(items) == np.size(value) else [*items, "..."])
