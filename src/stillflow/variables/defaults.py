"""What variables are where nothing says so: reference variables, or resource variables."""

from __future__ import annotations

from stillflow.names import public

_enabled = False


@public("resource_variables_enabled")
def resource_variables_enabled():
    """Whether variables are resource variables where nothing says otherwise."""
    return _enabled


@public("enable_resource_variables")
def enable_resource_variables():
    """Makes resource variables the default."""
    global _enabled
    _enabled = True


@public("disable_resource_variables")
def disable_resource_variables():
    """Makes reference variables the default, as they are from the start."""
    global _enabled
    _enabled = False
