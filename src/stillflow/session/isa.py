"""Which kernels to run: the best that the processor has, or those that STILLFLOW_ISA names."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from stillflow import _engine

_DIRECTORY = Path(_engine.__file__).parent


def supported() -> list[str]:
    """The instruction sets that the processor runs and that were built, best first."""
    return [isa for isa in _engine.supported_isas() if _library(isa).exists()]


def _library(isa: str) -> Path:
    return _DIRECTORY / f"_kernels_{isa}.so"


@functools.cache
def kernels(isa: str | None = None) -> _engine.Kernels:
    """The kernel library for an instruction set; None takes STILLFLOW_ISA or the best.

    Raises ValueError for an instruction set that this machine does not have.
    """
    if isa is None:
        isa = os.environ.get("STILLFLOW_ISA") or supported()[0]
        return kernels(isa)
    if isa not in supported():
        raise ValueError(f"Instruction set {isa!r} is not one of {', '.join(supported())}, which this machine has")
    return _engine.Kernels(_library(isa))
