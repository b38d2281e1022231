"""Gradients by formulas: an op that can be written out in other ops has the gradient of what is written."""

from __future__ import annotations

from typing import Any

from stillflow.graph import recording

_differentiation: dict[str, Any] = {}  # the class of tapes, which stands above the ops


def install(tape_class):
    """Says by what operations are recorded and differentiated: see autodiff.tape."""
    _differentiation["tape"] = tape_class


def gradient_of(formula, count):
    """The gradient function of an op that computes what `formula` does.

    `formula(op)` adds the operations, and returns what stands for the first of the op's outputs. The gradient is by
    the first `count` inputs; by the others it is None.
    """

    def gradient(op, *grads):
        tape = _differentiation["tape"]()
        inputs = op._inputs[:count]
        for tensor in inputs:
            tape.watch(tensor)
        recording.start(tape)
        try:
            outputs = formula(op)
        finally:
            recording.stop(tape)
        found = tape.gradient(outputs, inputs, grads[: len(outputs)], unconnected=None)
        return *found, *(None for _ in op._inputs[count:])

    return gradient
