"""What is measured, in the words of each engine."""

from bench.cases import eager, files, graphs, kernels, models, programs  # noqa: F401  (they register their cases)
from bench.cases.registry import CASES

__all__ = ["CASES"]
