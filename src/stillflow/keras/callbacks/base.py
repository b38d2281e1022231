"""Callback: what is to be done at times of a training; and the callbacks that are always there."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow.keras.callbacks.progress import Progbar
from stillflow.names import public


@public("keras.callbacks.Callback")
class Callback:
    """Something to do at times of a training, test or prediction. Subclasses have methods for these.

    Attributes:
      model: the model.
      params: {"batch_size": , "epochs": , "steps": , "samples": , "verbose": , "do_validation": , "metrics": }.
      validation_data: None.
    """

    params: Any

    def __init__(self):
        self.validation_data = None
        self.model: Any = None

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        """The old name of `on_train_batch_begin`."""

    def on_batch_end(self, batch, logs=None):
        """The old name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch, logs=None):
        """Called at the beginning of an epoch of training."""

    def on_epoch_end(self, epoch, logs=None):
        """Called at the end of an epoch of training; `logs` has the results, of the validation too."""

    def on_train_batch_begin(self, batch, logs=None):
        """Called before a batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """Called after a batch of training; `logs` has the results."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Called before a batch of a test or validation."""

    def on_test_batch_end(self, batch, logs=None):
        """Called after a batch of a test or validation; `logs` has the results."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Called before a batch of predictions."""

    def on_predict_batch_end(self, batch, logs=None):
        """Called after a batch of predictions; `logs` has the outputs."""

    def on_train_begin(self, logs=None):
        """Called before a training."""

    def on_train_end(self, logs=None):
        """Called after a training."""

    def on_test_begin(self, logs=None):
        """Called before a test or validation."""

    def on_test_end(self, logs=None):
        """Called after a test or validation."""

    def on_predict_begin(self, logs=None):
        """Called before predictions."""

    def on_predict_end(self, logs=None):
        """Called after predictions."""


@public("keras.callbacks.BaseLogger")
class BaseLogger(Callback):
    """Puts the means of all batches into the logs of an epoch.

    Args:
      stateful_metrics: names of metrics that are of all batches anyway.
    """

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics: Any = set(stateful_metrics or [])

    def on_epoch_begin(self, epoch, logs=None):
        self.seen = 0
        self.totals = {}

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        size = np.float64(logs.get("size", 0))
        totals, stateful = self.totals, self.stateful_metrics
        self.seen += size * logs.get("num_steps", 1)
        for key, value in logs.items():
            totals[key] = value if key in stateful else totals.get(key, 0.0) + value * size

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        for key in self.params["metrics"]:
            if key in self.totals:
                logs[key] = self.totals[key] if key in self.stateful_metrics else self.totals[key] / self.seen


@public("keras.callbacks.TerminateOnNaN")
class TerminateOnNaN(Callback):
    """Stops the training if the loss is not a number."""

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


@public("keras.callbacks.ProgbarLogger")
class ProgbarLogger(Callback):
    """Prints how far the training is.

    Args:
      count_mode: "samples" or "steps".
      stateful_metrics: names of metrics that are of all batches anyway.

    Raises:
      ValueError: for another mode.
    """

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics: Any = set(stateful_metrics or [])

    def on_train_begin(self, logs=None):
        self.verbose = self.params["verbose"]
        self.epochs = self.params["epochs"]

    def on_epoch_begin(self, epoch, logs=None):
        self.seen = 0
        self.target = self.params["steps" if self.use_steps else "samples"]
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self.progbar = Progbar(
            target=self.target, verbose=self.verbose, stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )  # fmt: skip

    def on_batch_begin(self, batch, logs=None):
        self.log_values = []

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        count = logs.get("num_steps", 1)
        self.seen += count if self.use_steps else logs.get("size", 0) * count
        if self.verbose:
            self._note(logs)
            if self.target is None or self.seen < self.target:
                self.progbar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch, logs=None):
        if self.verbose:
            self._note(logs or {})
            self.progbar.update(self.seen, self.log_values)

    def _note(self, logs):
        self.log_values += [(key, logs[key]) for key in self.params["metrics"] if key in logs]


@public("keras.callbacks.History")
class History(Callback):
    """Keeps the results of all epochs; `fit` returns it.

    Attributes:
      epoch: the numbers of epochs.
      history: {name of a metric: [result of each epoch]}.
    """

    epoch: list
    history: dict

    def on_train_begin(self, logs=None):
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


@public("keras.callbacks.LambdaCallback")
class LambdaCallback(Callback):
    """Calls functions.

    Args:
      on_epoch_begin, on_epoch_end: functions of the epoch and the logs.
      on_batch_begin, on_batch_end: functions of the batch and the logs.
      on_train_begin, on_train_end: functions of the logs.
      kwargs: further methods, or attributes.
    """

    def __init__(
        self, on_epoch_begin=None, on_epoch_end=None, on_batch_begin=None, on_batch_end=None, on_train_begin=None,
        on_train_end=None, **kwargs,
    ):  # fmt: skip
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end, "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end, "on_train_begin": on_train_begin, "on_train_end": on_train_end,
        }  # fmt: skip
        self.__dict__.update(kwargs)
        self.__dict__.update((name, function) for name, function in given.items() if function is not None)
