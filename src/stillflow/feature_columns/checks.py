"""What is checked of the arguments of several columns."""

from __future__ import annotations

from stillflow.graph import dtypes, nest


def check_key(key):
    """Raises ValueError for a key that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_string_or_int(dtype, prefix):
    """Raises ValueError for a type of which no categories are."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def check_numeric(dtype, key):
    """Raises ValueError for a type that is not of numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def check_normalizer(normalizer_fn):
    """Raises TypeError for what is neither a function nor None."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def checked_shape(shape, key):
    """A shape, a number or a sequence of them, as a tuple. Raises TypeError or ValueError for others."""
    assert shape is not None
    shape = tuple(shape) if nest.is_nested(shape) else (shape,)
    for dimension in shape:
        if not isinstance(dimension, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def checked_default(shape, default_value, dtype, key):
    """The default of a feature as nested tuples of its shape, or None.

    Raises ValueError for another shape, TypeError for another type.
    """
    if default_value is None:
        return None
    is_float = isinstance(default_value, float) and dtype.is_floating
    if isinstance(default_value, int) or is_float:
        return _filled(shape, default_value)
    if callable(getattr(default_value, "tolist", None)):  # an array
        default_value = default_value.tolist()
    if nest.is_nested(default_value):
        if not _has_shape(default_value, shape):
            raise ValueError(
                "The shape of default_value must be equal to given shape. default_value: "
                f"{default_value}, shape: {shape}, key: {key}"
            )
        values = nest.flatten(default_value)
        if all(isinstance(value, int) for value in values):
            return _as_tuples(default_value)
        if any(isinstance(value, float) for value in values) and dtype.is_floating:
            return _as_tuples(default_value)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, key: {key}"
    )


def _filled(shape, value):
    return tuple(_filled(shape[1:], value) for _ in range(shape[0])) if shape else value


def _as_tuples(value):
    return tuple(_as_tuples(item) for item in value) if nest.is_nested(value) else value


def _has_shape(value, shape):
    if nest.is_nested(value) != bool(shape):
        return False
    return not shape or (len(value) == shape[0] and all(_has_shape(item, shape[1:]) for item in value))
