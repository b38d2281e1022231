"""Callbacks of one run, called in order."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from stillflow.keras.callbacks.base import BaseLogger, Callback, History, ProgbarLogger
from stillflow.names import public
from stillflow.platform import logging

_KEPT = 10  # how many times of hooks are looked at


def configure(
    callbacks, model, do_validation=False, batch_size=None, epochs=None, steps_per_epoch=None, samples=None,
    verbose=0, mode="train",
):  # fmt: skip
    """A CallbackList for a run of a model: of training also the callbacks that are always there."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    callbacks = list(callbacks or [])
    if mode == "train":
        model.history = History()
        callbacks = [BaseLogger(), *callbacks, model.history]
    found = CallbackList(callbacks)
    found.set_model(model)
    names = list(getattr(model, "metrics_names", ()))
    for callback in found:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = names[1:]
    metrics: list = []
    if mode != "predict":
        metrics = names + ([f"val_{name}" for name in names] if do_validation else [])
    found.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps_per_epoch,
            "samples": samples,
            "verbose": verbose,
            "do_validation": do_validation,
            "metrics": metrics,
        }
    )
    found.model.stop_training = False
    return found


def progress_bar(model, count_mode):
    """The callback that prints how far a run is."""
    return ProgbarLogger(count_mode, stateful_metrics=getattr(model, "metrics_names", ["loss"])[1:])


def make_logs(model, logs, outputs, mode, prefix=""):
    """Puts outputs into logs under the names of metrics, and returns the logs."""
    if mode == "predict":
        logs["outputs"] = outputs
    else:
        for name, output in zip(model.metrics_names, outputs, strict=False):
            logs[prefix + name] = output
    return logs


def name_results(callbacks, progress, model):
    """Tells callbacks and the progress bar what there is to log, of a model that its first batch has compiled."""
    if not isinstance(callbacks, CallbackList):
        return
    names = list(model.metrics_names)
    validated = [f"val_{name}" for name in names] if callbacks.params["do_validation"] else []
    callbacks.params["metrics"] = progress.params["metrics"] = names + validated
    for callback in (*callbacks, progress):
        if hasattr(callback, "stateful_metrics"):
            callback.stateful_metrics = set(names[1:])


@public("python.keras.callbacks.CallbackList")
class CallbackList:
    """Callbacks that are called one after another.

    Args:
      callbacks: a list of callbacks.
      queue_length: how many times of hooks are looked at to find slow ones.
    """

    def __init__(self, callbacks=None, queue_length=_KEPT):
        self.callbacks = list(callbacks or [])
        self.queue_length = queue_length
        self.params: dict = {}
        self.model: Any = None
        self._hooks: dict = {}  # name of a hook -> the methods that do something
        self._reset_batch_timing()

    def _reset_batch_timing(self):
        self._times: dict = {}
        self._batch_time = 0.0
        self._batch_begin = 0.0

    def append(self, callback):
        self.callbacks.append(callback)
        self._hooks.clear()

    def __iter__(self):
        return iter(self.callbacks)

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def _methods(self, name):
        """The methods of a hook that do something."""
        found = self._hooks.get(name)
        if found is None:
            found = [getattr(each, name) for each in self.callbacks if _does_something(each, name)]
            self._hooks[name] = found
        return found

    def call_batch_hook(self, mode, hook, batch, logs=None):
        """Calls a hook of a batch, and warns if that takes longer than the batch."""
        name = f"on_{mode}_batch_{hook}"
        begin = time.perf_counter()
        if hook == "begin":
            self._batch_begin = begin
        else:
            self._batch_time = begin - self._batch_begin
        methods = self._methods(name)
        if not methods:
            return
        for method in methods:
            method(batch, logs or {})
        taken = time.perf_counter() - begin
        times = self._times.setdefault(name, [])
        times.append(taken)
        del times[: -self.queue_length]
        if taken > 0.1 and self._batch_time > 0.0:
            median = float(np.median(times))
            if median > 0.95 * self._batch_time and median > 0.1:
                logging.warning(
                    f"Method ({name}) is slow compared to the batch update ({median:f}). Check your callbacks."
                )

    def on_train_batch_begin(self, batch, logs=None):
        self.call_batch_hook("train", "begin", batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self.call_batch_hook("train", "end", batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        self.call_batch_hook("test", "begin", batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        self.call_batch_hook("test", "end", batch, logs)

    def on_predict_batch_begin(self, batch, logs=None):
        self.call_batch_hook("predict", "begin", batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self.call_batch_hook("predict", "end", batch, logs)

    on_batch_begin = on_train_batch_begin
    on_batch_end = on_train_batch_end

    def call_begin_hook(self, mode):
        self._call(f"on_{mode}_begin", None)

    def call_end_hook(self, mode):
        self._call(f"on_{mode}_end", None)

    def _call(self, name, *args):
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def on_epoch_begin(self, epoch, logs=None):
        self._call("on_epoch_begin", epoch, logs or {})
        self._reset_batch_timing()

    def on_epoch_end(self, epoch, logs=None):
        self._call("on_epoch_end", epoch, {} if logs is None else logs)


_OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}


def _does_something(callback, name):
    """Whether a callback has a hook of its own, under the old name too."""
    if not isinstance(callback, Callback):
        return True
    return any(
        each in callback.__dict__ or getattr(type(callback), each) is not getattr(Callback, each)
        for each in (name, _OLD_NAMES.get(name, name))
    )
