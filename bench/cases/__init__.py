"""What is measured, in the words of each engine."""

# These register their cases.
from bench.cases import deep, eager, files, graphs, kernels, layers, models, programs, recurrent  # noqa: F401
from bench.cases.registry import CASES

__all__ = ["CASES"]
