"""Callbacks that look at a metric after each epoch: to save, to stop, to slow down."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from stillflow.keras.backend.values import get_value, set_value
from stillflow.keras.callbacks.base import Callback
from stillflow.names import public
from stillflow.platform import logging
from stillflow.saver.checkpoint_state import latest_checkpoint


def _warn(text):
    logging.warning(text)


def _is_greater_better(kind, mode, monitor, words=("acc",)):
    """Whether more of a metric is better. An unknown mode is warned of."""
    if mode not in ("auto", "min", "max"):
        _warn(f"{kind} mode {mode} is unknown, fallback to auto mode.")
        mode = "auto"
    return mode == "max" or (mode == "auto" and any(word in monitor for word in words))


@public("keras.callbacks.ModelCheckpoint")
class ModelCheckpoint(Callback):
    """Saves the model.

    Args:
      filepath: the path, with places for `epoch` and metrics: "weights.{epoch:02d}-{val_loss:.2f}.hdf5".
      monitor: the metric that is looked at.
      verbose: whether it is said.
      save_best_only: whether to save only if the metric has become better.
      save_weights_only: whether to save the weights alone.
      mode: "min", "max" or "auto": whether less or more is better.
      save_freq: "epoch", or the number of samples after which to save.
      load_weights_on_restart: whether a training begins with the weights of the latest file.
      period: the old way to say after how many epochs to save.

    Raises:
      ValueError: for another `save_freq`.
    """

    def __init__(
        self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False, mode="auto",
        save_freq="epoch", **kwargs,
    ):  # fmt: skip
        super().__init__()
        self.monitor = monitor
        self.verbose = verbose
        self.filepath = filepath
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.epochs_since_last_save = 0
        self._samples_seen_since_last_saving = 0
        self._current_epoch = 0
        self.load_weights_on_restart = kwargs.get("load_weights_on_restart", False)
        self.period = kwargs.get("period", 1)
        for name, instead in (
            (
                "load_weights_on_restart",
                "`model.load_weights()` for loading weights before the start of `model.fit()`",
            ),
            ("period", "`save_freq` to specify the frequency in number of samples seen"),
        ):
            if name in kwargs:
                _warn(f"`{name}` argument is deprecated. Please use {instead}.")
        is_greater = _is_greater_better("ModelCheckpoint", mode, monitor, ("acc",)) or (
            mode == "auto" and monitor.startswith("fmeasure")
        )
        self.monitor_op = np.greater if is_greater else np.less
        self.best = -np.inf if is_greater else np.inf
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")

    def set_model(self, model):
        self.model = model
        if not model._is_graph_network and type(model).__name__ != "Sequential":
            self.save_weights_only = True  # there is no config of it

    def on_train_begin(self, logs=None):
        if not self.load_weights_on_restart:
            return
        path = self._get_most_recently_modified_file_matching_pattern(self.filepath)
        if path is not None:
            try:
                self.model.load_weights(path)
            except (OSError, ValueError) as error:
                raise ValueError(f"Error loading file from {path}. Reason: {error}") from error

    def _get_most_recently_modified_file_matching_pattern(self, pattern):
        return _latest_file(pattern)

    def on_batch_end(self, batch, logs=None):
        if isinstance(self.save_freq, int):
            self._samples_seen_since_last_saving += (logs or {}).get("size", 1)
            if self._samples_seen_since_last_saving >= self.save_freq:
                self._save_model(self._current_epoch, logs or {})
                self._samples_seen_since_last_saving = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._current_epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch":
            self._save_model(epoch, logs or {})

    def _save_model(self, epoch, logs):
        if self.save_freq == "epoch" and self.epochs_since_last_save < self.period:
            return
        self.epochs_since_last_save = 0
        path = self.filepath.format(epoch=epoch + 1, **logs)
        opening = f"\nEpoch {epoch + 1:05d}:"
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                _warn(f"Can save best model only with {self.monitor} available, skipping.")
                return
            if not self.monitor_op(current, self.best):
                if self.verbose > 0:
                    print(f"{opening} {self.monitor} did not improve from {self.best:0.5f}")
                return
            if self.verbose > 0:
                print(
                    f"{opening} {self.monitor} improved from {self.best:0.5f} to {current:0.5f}, saving model to "
                    f"{path}"
                )
            self.best = current
        elif self.verbose > 0:
            print(f"{opening} saving model to {path}")
        (self.model.save_weights if self.save_weights_only else self.model.save)(path, overwrite=True)


def _latest_file(pattern):
    """The latest checkpoint or file of a path with places for numbers, or None."""
    folder = Path(pattern).parent
    expression = "^" + re.sub("{.*}", ".*", Path(pattern).name) + "$"
    checkpoint = latest_checkpoint(str(folder))
    if checkpoint is not None and re.match(expression, Path(checkpoint).name):
        return checkpoint
    paths = [path for path in folder.iterdir() if re.match(expression, path.name)] if folder.is_dir() else []
    if not paths:
        return None
    times = {path: path.stat().st_mtime for path in paths}
    newest = [path for path in paths if times[path] == max(times.values())]
    return str(newest[0] if len(newest) == 1 else max(paths))


@public("keras.callbacks.EarlyStopping")
class EarlyStopping(Callback):
    """Stops the training if a metric does not become better any more.

    Args:
      monitor: the metric.
      min_delta: the least change that counts.
      patience: for how many epochs to wait.
      verbose: whether it is said.
      mode: "min", "max" or "auto": whether less or more is better.
      baseline: what the metric has to be better than to begin with.
      restore_best_weights: whether the weights of the best epoch are restored.
    """

    def __init__(
        self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None,
        restore_best_weights=False,
    ):  # fmt: skip
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        is_greater = _is_greater_better("EarlyStopping", mode, monitor)
        self.monitor_op = np.greater if is_greater else np.less
        self.min_delta = abs(min_delta) if is_greater else -abs(min_delta)
        self.wait = 0
        self.stopped_epoch = 0
        self.restore_best_weights = restore_best_weights
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = 0
        self.stopped_epoch = 0
        self.best = np.inf if self.monitor_op is np.less else -np.inf
        if self.baseline is not None:
            self.best = self.baseline

    def on_epoch_end(self, epoch, logs=None):
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose > 0:
                    print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs):
        """The metric, or None if it is not there."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            _warn(
                f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available metrics "
                "are: "
                f"{','.join(logs or ())}"
            )
        return value


@public("keras.callbacks.LearningRateScheduler")
class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch.

    Args:
      schedule: a function of the epoch and the rate, or of the epoch alone, to the rate.
      verbose: whether it is said.
    """

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch, logs=None):
        """Sets the rate. Raises ValueError if the optimizer has none, or the function returns no float."""
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        try:
            rate = self.schedule(epoch, float(get_value(self.model.optimizer.lr)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError('The output of the "schedule" function should be float.')
        set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = get_value(self.model.optimizer.lr)


@public("keras.callbacks.ReduceLROnPlateau")
class ReduceLROnPlateau(Callback):
    """Lowers the learning rate if a metric does not become better any more.

    Args:
      monitor: the metric.
      factor: what the rate is multiplied by.
      patience: for how many epochs to wait.
      verbose: whether it is said.
      mode: "min", "max" or "auto": whether less or more is better.
      min_delta: the least change that counts.
      cooldown: for how many epochs to wait after the rate has been lowered.
      min_lr: the least rate.
      epsilon: the old name of `min_delta`.

    Raises:
      ValueError: for a factor of 1 or more.
    """

    def __init__(
        self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=1e-4, cooldown=0,
        min_lr=0, **kwargs,
    ):  # fmt: skip
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            _warn("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode
        self._reset()

    def _reset(self):
        is_greater = _is_greater_better("Learning Rate Plateau Reducing", self.mode, self.monitor)
        if is_greater:
            self.monitor_op = lambda current, best: np.greater(current, best + self.min_delta)
        else:
            self.monitor_op = lambda current, best: np.less(current, best - self.min_delta)
        self.best = -np.inf if is_greater else np.inf
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, logs=None):
        self._reset()

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        optimizer = self.model.optimizer
        logs["lr"] = get_value(optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            _warn(
                f"Reduce LR on plateau conditioned on metric `{self.monitor}` which is not available. Available "
                f"metrics are: {','.join(logs)}"
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            rate = float(get_value(optimizer.lr))
            if self.wait >= self.patience and rate > self.min_lr:
                rate = max(rate * self.factor, self.min_lr)
                set_value(optimizer.lr, rate)
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.")
                self.cooldown_counter = self.cooldown
                self.wait = 0

    def in_cooldown(self):
        """Whether the rate has been lowered not long ago."""
        return self.cooldown_counter > 0
