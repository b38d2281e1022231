"""The errors of wrong calls where operations run when they are called: there it is kernels that look at types."""

from __future__ import annotations

import re

import numpy as np

from stillflow import errors

_PLAIN = (bool, int, float, complex, str, bytes)


def wrong_input(op_name, position, expected, observed):
    """For an input of another type than those before it, or the op, ask for."""
    return errors.InvalidArgumentError(
        None, None,
        f"cannot compute {op_name} as input #{position}(zero-based) was expected to be a {expected._c_name} "
        f"tensor but is a {observed._c_name} tensor [Op:{op_name}]",
    )  # fmt: skip


def no_kernel(op_name, attr, observed, allowed):
    """For a type that the op does not work with."""
    registered = "\n".join(f"  device='CPU'; {attr} in [{dtype._c_name}]" for dtype in allowed)
    return errors.NotFoundError(
        None, None,
        f"Could not find valid device for node.\nNode: {{{{node {op_name}}}}} with {attr} = "
        f"{observed._c_name}\nAll kernels registered for op {op_name} :\n{registered}\n [Op:{op_name}]",
    )  # fmt: skip


def of_kernel(op_name, error):
    """For attributes and inputs that do not fit: a graph raises ValueError when the node is added."""
    text = re.split(r" for '[^']*' \(op: ", str(error))[0]
    return errors.InvalidArgumentError(None, None, f"{text} [Op:{op_name}]")


def named(error, name):
    """The same error, told with the name that the caller gave the operation."""
    return error if name is None else type(error)(error._node_def, error._op, f"{error.message} name: {name}")


def unconvertible(value, dtype, error):
    """For a value that cannot become a constant, of the type `dtype` if that is given: `error` says so in a graph."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype != object or value.size == 0:
            return error
        kind = type(value.ravel()[0]).__name__
        return ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type {kind}).")
    items = list(_leaves(value))
    strange = next((item for item in items if not isinstance(item, (*_PLAIN, np.generic))), value)
    kinds = {str if isinstance(item, (str, bytes)) else type(item) for item in items}
    if isinstance(error, ValueError) and str(error).startswith("Argument must be a dense tensor"):
        return ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if len(kinds) > 1 and (strange is not value or not kinds <= {int, float}):
        return ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if strange is not value or not isinstance(value, (*_PLAIN, list, tuple)):
        return ValueError(
            f"Attempt to convert a value ({strange!r}) with an unsupported type ({type(strange)}) to a Tensor."
        )
    if any(type(item) is int and not -(2**63) <= item < 2**63 for item in items):
        return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if dtype is None:
        return error
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype._c_name}")


def _leaves(value):
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
