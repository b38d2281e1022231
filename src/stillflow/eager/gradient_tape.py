"""tf.GradientTape: records operations, and differentiates what they computed."""

from __future__ import annotations

import contextlib
import logging
import math
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.autodiff.reverse import UnconnectedGradients
from stillflow.autodiff.tape import Tape
from stillflow.graph import nest, recording
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.resource_variable import is_resource_variable

_log = logging.getLogger("tensorflow")


@public("GradientTape", "contrib.eager.GradientTape")
class GradientTape:
    """Records operations that depend on what it watches, while it is entered, for `gradient`.

    Trainable resource variables are watched from their first use on, if `watch_accessed_variables`; tensors where
    `watch` says so. The record is given up with the first call of `gradient`, unless the tape is `persistent`. Tapes
    may be nested: one records the gradients of another too. In a graph it records the nodes that are added.

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        dy_dx = tape.gradient(y, x)
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._tape: Any = None  # a Tape while there is something to ask it for
        self._recording = False

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *exception):
        if self._recording:
            self._stop()

    def _start(self):
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._tape is None:
            self._tape = Tape(self._watch_accessed_variables)
        recording.start(self._tape)
        self._recording = True

    def _stop(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        recording.stop(self._tape)
        self._recording = False

    def watch(self, tensor):
        """Records what depends on a tensor or variable, or on each in a nested structure.

        Raises ValueError for what is neither.
        """
        for item in nest.flatten(tensor):
            if not (isinstance(item, Tensor) or is_resource_variable(item)):
                raise ValueError(f"Passed in object of type {type(item)}, not tf.Tensor")
            if not item.dtype.is_floating:
                _log.warning("The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", item.dtype)
            if is_resource_variable(item):
                self._tape.watch_variable(item)
            else:
                self._tape.watch(item)

    @contextlib.contextmanager
    def stop_recording(self):
        """A context in which nothing is recorded. Raises RuntimeError if the tape is not recording."""
        if self._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self):
        """Forgets what has been recorded, and goes on recording."""
        self._stop()
        self._tape = None
        self._start()

    def watched_variables(self):
        """The variables that are watched, in the order in which they were made."""
        return self._tape.watched_variables()

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivatives of the sum of `target` with respect to each of `sources`.

        Args:
          target: a tensor or a nested structure of tensors.
          sources: a tensor or variable that is watched, or a nested structure of them.
          output_gradients: the gradients to start from, one for each target; ones by default.
          unconnected_gradients: what is returned for sources that no target depends on.

        Returns:
          What `sources` is, with a Tensor, IndexedSlices or None in the place of each.

        Raises:
          RuntimeError: for the second call, if the tape is not persistent.
          ValueError: for an unknown `unconnected_gradients`.
          LookupError: if an operation on the way has no gradient.
        """
        if self._tape is None:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if self._recording and not self._persistent:
            self._stop()
        try:
            unconnected = UnconnectedGradients(unconnected_gradients)
        except ValueError:
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
        given = None
        if output_gradients is not None:
            given = [None if x is None else convert_to_tensor(x) for x in nest.flatten(output_gradients)]
        handles = [getattr(source, "_handle", source) for source in nest.flatten(sources)]
        found = self._tape.gradient(self._targets(target), handles, given, unconnected)
        if not self._persistent:
            self._tape = None
        return nest.pack_sequence_as(sources, found)

    def _targets(self, target):
        """The targets as tensors. A variable is read while the tape records, so that the value depends on it."""
        targets = nest.flatten(target)
        if any(is_resource_variable(item) for item in targets):
            with contextlib.nullcontext() if self._recording else self:
                return [convert_to_tensor(item) for item in targets]
        return targets

    def jacobian(
        self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
        experimental_use_pfor=True,
    ):  # fmt: skip
        """The derivatives of every element of `target` with respect to each of `sources`.

        Args:
          target: a tensor of known shape.
          sources, unconnected_gradients: as for `gradient`.
          parallel_iterations, experimental_use_pfor: accepted; the elements are gone through one by one.

        Returns:
          What `sources` is, with tensors of the shape of `target` followed by that of the source, or None.

        Raises:
          RuntimeError: as `gradient`; without `experimental_use_pfor` also if the tape is not persistent.
        """
        self._check_jacobian(experimental_use_pfor)
        shape = target.shape.as_list()
        size = math.prod(shape)
        # Of a target without elements one gradient is built all the same, by which the others' absence is told.
        starts = [np.reshape(row, shape) for row in np.eye(max(size, 1), size, dtype=target.dtype.as_numpy_dtype)]
        handles = [getattr(source, "_handle", source) for source in nest.flatten(sources)]
        found = []
        for rows in zip(*self._gradients_from(starts, target, handles, unconnected_gradients), strict=True):
            stacked = None if rows[0] is None else ops.pack(rows)[:size]
            found.append(None if stacked is None else ops.reshape(stacked, shape + stacked.shape.as_list()[1:]))
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self, target, source, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
        experimental_use_pfor=True,
    ):  # fmt: skip
        """The derivatives of every element of each target[i] with respect to source[i].

        Args:
          target: a tensor [b, y_1, ..., y_n] of known shape, where target[i] depends on source[i] only.
          source: a tensor [b, x_1, ..., x_m].
          unconnected_gradients, parallel_iterations, experimental_use_pfor: as for `jacobian`.

        Returns:
          A tensor [b, y_1, ..., y_n, x_1, ..., x_m], or None.

        Raises:
          ValueError: for ranks below 2, and if the first dimensions differ.
          RuntimeError: as `jacobian`.
        """
        if not (
            target.shape.with_rank_at_least(2)
            and source.shape.with_rank_at_least(2)
            and target.shape[:1].is_compatible_with(source.shape[:1])
        ):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to match."
            )
        self._check_jacobian(experimental_use_pfor)
        batch, *shape = target.shape.as_list()
        size = math.prod(shape)
        starts = [
            np.broadcast_to(np.reshape(row, shape), [batch, *shape])
            for row in np.eye(max(size, 1), size, dtype=target.dtype.as_numpy_dtype)
        ]
        rows = [row for (row,) in self._gradients_from(starts, target, [source], unconnected_gradients)]
        if rows[0] is None:
            return None
        return ops.reshape(ops.pack(rows, axis=1)[:, :size], [batch, *shape, *source.shape.as_list()[1:]])

    def _check_jacobian(self, uses_pfor):
        if self._tape is None:
            raise RuntimeError("GradientTape.gradient can only be called once on non-persistent tapes.")
        if not uses_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with eager execution "
                "enabled and with  experimental_use_pfor set to False."
            )

    def _gradients_from(self, starts, target, handles, unconnected_gradients):
        """For each of the arrays `starts`, the gradients with respect to `handles` that begin with it."""
        unconnected = UnconnectedGradients(unconnected_gradients)
        if self._recording and not self._persistent:
            self._stop()
        found = [self._tape.gradient([target], handles, [ops.constant(start)], unconnected) for start in starts]
        if not self._persistent:
            self._tape = None
        return found
