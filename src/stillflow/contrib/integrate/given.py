"""What both integrators ask of their arguments."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph.contexts import control_dependencies


def check_types(y0, t, dt=None):
    """Raises TypeError for a state that is neither real nor complex, and for times that are not real."""
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    if not t.dtype.is_floating:
        raise TypeError("`t` must have a floating point dtype")
    if dt is not None and not dt.dtype.is_floating:
        raise TypeError("`dt` must have a floating point dtype")


def after_check_of_order(t):
    """A context whose operations run once it is known that the times increase."""
    return control_dependencies([assert_that(ops.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])])
