"""tf.estimator.TrainSpec and EvalSpec: what train_and_evaluate trains and evaluates on."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.estimator.exporters import Exporter
from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunHook


class _TrainSpec(NamedTuple):
    input_fn: Any
    max_steps: Any
    hooks: Any


def _check_input_fn(input_fn):
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def checked_hooks(hooks):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


@public("estimator.TrainSpec")
class TrainSpec(_TrainSpec):
    """What train_and_evaluate trains on.

    Args:
      input_fn: as for Estimator.train.
      max_steps: the global step to stop at; None for the end of the input.
      hooks: SessionRunHooks.

    Raises TypeError for another kind of thing, ValueError for a step that is not positive.
    """

    def __new__(cls, input_fn, max_steps=None, hooks=None):
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks))


class _EvalSpec(NamedTuple):
    input_fn: Any
    steps: Any
    name: Any
    hooks: Any
    exporters: Any
    start_delay_secs: Any
    throttle_secs: Any


@public("estimator.EvalSpec")
class EvalSpec(_EvalSpec):
    """What train_and_evaluate evaluates on, and how often.

    Args:
      input_fn: as for Estimator.evaluate.
      steps: how many batches; None for all.
      name: of the evaluation.
      hooks: SessionRunHooks.
      exporters: a tf.estimator.Exporter, or several.
      start_delay_secs: how long an evaluator in a cluster waits before it begins, in seconds.
      throttle_secs: how long at least from one evaluation to the next, in seconds.

    Raises TypeError for another kind of thing; ValueError for other numbers, and exporters that share a name.
    """

    def __new__(
        cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, throttle_secs=600
    ):
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks = checked_hooks(hooks)
        exporters = _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs)


def _checked_exporters(exporters):
    if not exporters:
        return ()
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    error = TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    try:
        found = tuple(exporters)
    except TypeError:
        raise error from None
    names: list = []
    for exporter in found:
        if not isinstance(exporter, Exporter):
            raise error
        if not exporter.name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names: "
                f"{[each.name for each in found]}"
            )
        if not isinstance(exporter.name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(exporter.name)}")
        if exporter.name in names:
            raise ValueError(
                "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
                f"{[each.name for each in found]}"
            )
        names.append(exporter.name)
    return found
