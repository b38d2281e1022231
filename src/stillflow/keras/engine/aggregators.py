"""What comes of all batches together."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.shallow_nest import flatten_up_to, get_traverse_shallow_structure
from stillflow.names import public
from stillflow.ragged.composites import append_composite, is_composite


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


@public("python.keras.engine.training_utils.ConcatAggregator")
class Concatenation:
    """One output of all batches, joined at the end: an array, or sparse or ragged tensors."""

    def __init__(self):
        self.results: Any = []

    def aggregate(self, output, start=None, stop=None):
        self.results.append(output.numpy() if isinstance(output, EagerTensor) else output)

    def finalize(self):
        parts = self.results
        if len(parts) == 1:
            self.results = parts[0]
        else:
            self.results = (
                functools.reduce(append_composite, parts) if is_composite(parts[0]) else np.concatenate(parts)
            )


@public("python.keras.engine.training_utils.SliceAggregator")
class Slices:
    """One output of all batches, put where it belongs in an array of so many samples.

    Raises ValueError for an output of all samples at once that has another number of them.
    """

    def __init__(self, num_samples):
        self.num_samples = num_samples
        self.results: Any = None
        self._stop = 0

    def aggregate(self, output, start, stop):
        output = output.numpy() if isinstance(output, EagerTensor) else output
        shape = (self.num_samples, *output.shape[1:])
        self._stop = stop
        if stop - start == self.num_samples:
            if len(output) != self.num_samples:
                raise ValueError(
                    "Mismatch between expected batch size and model output batch size. Output shape = "
                    f"{output.shape}, expected output shape = shape {shape}"
                )
            self.results = output
            return
        if self.results is None:
            self.results = np.empty(shape, output.dtype)
        self.results[start:stop] = output

    def finalize(self):
        if self._stop < self.num_samples:  # a callback has stopped the run
            self.results = self.results[: self._stop]


@public("python.keras.engine.training_utils.OutputsAggregator")
class Outputs:
    """The outputs of all batches, joined.

    Args:
      use_steps: whether the number of samples is not known.
      num_samples: the number of samples.
    """

    _structure: Any = None

    def __init__(self, use_steps, num_samples=None):
        self._use_steps = use_steps
        self.count = num_samples
        self.results: Any = []

    def create(self, outputs):
        self._structure = get_traverse_shallow_structure(lambda each: not is_composite(each), outputs)
        self.results = [
            Concatenation() if self._use_steps or is_composite(each) else Slices(self.count)
            for each in flatten_up_to(self._structure, outputs)
        ]

    def aggregate(self, outputs, start=None, stop=None):
        for result, output in zip(self.results, flatten_up_to(self._structure, outputs), strict=True):
            result.aggregate(output, start, stop)

    def finalize(self):
        for result in self.results:
            result.finalize()
        self.results = nest.pack_sequence_as(self._structure, [each.results for each in self.results])
