"""What numpy 2 does otherwise than the numpy of old programs: how numbers print, and where small integers end."""

from __future__ import annotations

import warnings

import numpy as np

from stillflow.runner import numpy_calls, numpy_names
from stillflow.runner.notices import Once

_PROMOTION = (
    "with numpy 2 an integer of 8 to 32 bits stays one beside a Python number, and may overflow; numpy 1 widened it. "
    "Where this is not meant, int(...) or .astype(...) says which is."
)


def install():
    """Makes numpy answer to names and calls that it has dropped, print numbers as it did and tell of overflow."""
    numpy_names.install(Once("np.{} is no longer part of numpy; for this program it is still there."))
    numpy_calls.install()
    np.set_printoptions(legacy="1.25")  # type: ignore[arg-type]
    warnings.showwarning = _TellingOfOverflow(warnings.showwarning)


class _TellingOfOverflow:
    """warnings.showwarning, which says once what an overflow of a number may come from."""

    def __init__(self, show):
        self._show = show
        self._tell = Once(_PROMOTION)

    def __call__(self, message, category, filename, lineno, file=None, line=None):
        self._show(message, category, filename, lineno, file, line)
        if str(message).startswith("overflow encountered in scalar"):
            self._tell()


def hint(error):
    """What to say after an error that a program ends with, or ""."""
    if isinstance(error, OverflowError) and "out of bounds for" in str(error):
        return f"stillflow: {_PROMOTION}\n"
    return ""
