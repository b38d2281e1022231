"""scipy 1.1: numpy's functions among its own, rules of integration, and windows."""

from __future__ import annotations

import functools

import numpy as np

from stillflow.runner.old_modules import answer

_RULES = {"trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid", "simps": "simpson"}
_CHANCE = ("rand", "randn")
_WINDOWS = (
    "barthann", "bartlett", "blackman", "blackmanharris", "bohman", "boxcar", "chebwin", "cosine", "exponential",
    "flattop", "gaussian", "general_gaussian", "hamming", "hann", "kaiser", "nuttall", "parzen", "triang", "tukey",
)  # fmt: skip


class _NumpysNames:
    """numpy's functions and types, which `import scipy as sp` had: sp.mean, sp.arange, sp.randn."""

    def __init__(self, scipy):
        self._own = frozenset(dir(scipy))  # packages of scipy that are loaded when they are asked for

    def __contains__(self, name):
        if name.startswith("_") or name in self._own:
            return False
        return name in _CHANCE or hasattr(np, name)

    def __getitem__(self, name):
        return getattr(np.random if name in _CHANCE else np, name)


def restore(scipy):
    """What scipy had of numpy."""
    answer(scipy, _NumpysNames(scipy))


def _by_position(rule):
    """A rule of integration whose x, dx and axis need no names."""

    @functools.wraps(rule)
    def rule_by_position(y, x=None, dx=1.0, axis=-1, **kwargs):
        return rule(y, x=x, dx=dx, axis=axis, **kwargs)

    return rule_by_position


def restore_integrate(integrate):
    """scipy.integrate.trapz and its kin."""
    for old, name in _RULES.items():
        if not hasattr(integrate, old):
            setattr(integrate, old, _by_position(getattr(integrate, name)))


def restore_signal(signal):
    """scipy.signal.gaussian and the other windows, which are in scipy.signal.windows."""
    for name in _WINDOWS:
        if not hasattr(signal, name):
            setattr(signal, name, getattr(signal.windows, name))
