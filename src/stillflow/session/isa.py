"""The kernel library to load: for the best instruction set of the processor, or the one that STILLFLOW_ISA names."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from stillflow import _engine

_DIRECTORY = Path(_engine.__file__).parent


def supported() -> list[str]:
    """The instruction sets that the processor runs and that were built, best first."""
    return [isa for isa in _engine.supported_isas() if _library(isa).exists()]


def built() -> list[str]:
    """The instruction sets that this installation has kernels for, whatever the processor."""
    return sorted(path.stem.removeprefix("_kernels_") for path in _DIRECTORY.glob("_kernels_*.so"))


def _library(isa: str) -> Path:
    return _DIRECTORY / f"_kernels_{isa}.so"


@functools.cache
def kernels(isa: str | None = None) -> _engine.Kernels:
    """The kernel library for an instruction set; None takes STILLFLOW_ISA or the best.

    Raises ValueError for an instruction set that this machine does not have, or this installation, which may have
    been built for one machine alone.
    """
    there = supported()
    if isa is None:
        isa = os.environ.get("STILLFLOW_ISA") or (there[0] if there else _engine.supported_isas()[0])
        return kernels(isa)
    if isa in there:
        return _engine.Kernels(_library(isa))
    message = f"Instruction set {isa!r} is not one of {', '.join(_engine.supported_isas())}, which this machine has"
    if isa in _engine.supported_isas():
        message = (
            f"Instruction set {isa!r} was not built: this installation of stillflow has kernels for "
            f"{', '.join(built()) or 'none'} (make test builds all)"
        )
    raise ValueError(message)
