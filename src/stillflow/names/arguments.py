"""Arguments that TensorFlow has renamed: functions take both names."""

from __future__ import annotations


def renamed(new_name, new_value, old_name, old_value):
    """The value given under either name. Raises ValueError if it is given under both."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'")
    return old_value
