"""Observers of operations as they are added or run: this thread's gradient tapes."""

from __future__ import annotations

import threading


class _Recorders(threading.local):
    def __init__(self):
        self.active: tuple = ()
        self.unwanted: tuple = (
            None,
            frozenset(),
        )  # an operation, and which of its inputs have no part in a derivative


_recorders = _Recorders()


def start(recorder):
    """Calls `recorder.record(operation)` for each new operation of this thread until `stop`."""
    _recorders.active = (*_recorders.active, recorder)


def stop(recorder):
    _recorders.active = tuple(other for other in _recorders.active if other is not recorder)


def active():
    """Those that are recording in this thread, outermost first."""
    return _recorders.active


def wanted(tensors):
    """Whether something records what depends on one of these tensors."""
    return any(recorder.wants(tensors) for recorder in _recorders.active)


class paused:  # noqa: N801
    """A context in which nothing is recorded in this thread."""

    def __enter__(self):
        self._saved = _recorders.active
        _recorders.active = ()

    def __exit__(self, *exception):
        _recorders.active = self._saved


def record(op):
    for recorder in _recorders.active:
        recorder.record(op)


def differentiate(function, op, grads, unwanted):
    """function(op, *grads), the gradient function of `op`, which may leave out the gradients by some inputs.

    `unwanted` has the positions of these inputs, for `unwanted_inputs`.
    """
    saved = _recorders.unwanted
    _recorders.unwanted = op, unwanted
    try:
        return function(op, *grads)
    finally:
        _recorders.unwanted = saved


def unwanted_inputs(op):
    """The positions of the inputs by which nobody wants the gradient of `op`. Only tapes tell."""
    asked, unwanted = _recorders.unwanted
    return unwanted if asked is op else frozenset()
