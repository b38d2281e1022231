"""What comes of all batches together."""

from __future__ import annotations

import numpy as np

from stillflow.eager.tensor import EagerTensor


class Means:
    """The mean loss of all batches, and the last results of metrics, which are of all batches anyway.

    Args:
      use_steps: whether batches are steps that count the same.
      count: the number of samples, or of steps.
    """

    def __init__(self, use_steps, count):
        self._use_steps = use_steps
        self.count = count
        self.results: list = []

    def create(self, outputs):
        self.results = [0.0] * len(outputs)

    def aggregate(self, outputs, start=None, stop=None):
        self.results[0] += outputs[0] * np.float64(1 if self._use_steps else stop - start)
        self.results[1:] = outputs[1:]

    def finalize(self):
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] /= self.count


class Outputs:
    """The outputs of all batches, joined.

    Args:
      use_steps: whether the number of samples is not known.
      count: the number of samples, or of steps.
    """

    def __init__(self, use_steps, count):
        self._use_steps = use_steps
        self.count = count
        self.results: list = []
        self._parts: list = []

    def create(self, outputs):
        self._parts = [[] for _ in outputs]

    def aggregate(self, outputs, start=None, stop=None):
        for parts, output in zip(self._parts, outputs, strict=True):
            output = output.numpy() if isinstance(output, EagerTensor) else output
            if stop is not None and not self._use_steps and stop - start == self.count and len(output) != self.count:
                raise ValueError(
                    "Mismatch between expected batch size and model output batch size. Output shape = "
                    f"{output.shape}, expected output shape = shape {(self.count, *output.shape[1:])}"
                )
            parts.append(output)

    def finalize(self):
        self.results = [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in self._parts]
