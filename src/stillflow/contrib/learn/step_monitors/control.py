"""Monitors that save, or end training."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from stillflow.contrib.learn.step_monitors.base import BaseMonitor, EveryN, output_of
from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.summary.writer import FileWriterCache
from stillflow.training_loop.hooks.stopping import NanLossDuringTrainingError
from stillflow.training_loop.messages import log


@public("contrib.learn.monitors.StopAtStep")
class StopAtStep(BaseMonitor):
    """Ends training after so many steps, or at a step.

    Raises ValueError if both are given or none.
    """

    def __init__(self, num_steps=None, last_step=None):
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps: Any = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self):
        return True

    def step_begin(self, step):
        super().step_begin(step)
        if self._last_step is None:
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step, output):
        super().step_end(step, output)
        return step >= self._last_step


@public("contrib.learn.monitors.NanLoss")
class NanLoss(EveryN):
    """Ends training when the loss is not a number: by an error, or by a warning if `fail_on_nan_loss` is False."""

    def __init__(self, loss_tensor, every_n_steps=100, fail_on_nan_loss=True):
        super().__init__(every_n_steps=every_n_steps)
        self._loss = loss_tensor
        self._fails = fail_on_nan_loss

    def every_n_step_begin(self, step):
        return [self._loss]

    def every_n_step_end(self, step, outputs):
        if not np.isnan(output_of(outputs, self._loss)):
            return False
        message = "Model diverged with loss = NaN."
        if self._fails:
            log().error(message)
            raise NanLossDuringTrainingError
        log().warning(message)
        return True


@public("contrib.learn.monitors.CheckpointSaver")
class CheckpointSaver(BaseMonitor):
    """Saves checkpoints: after the first step, every so often, and at the end.

    Args:
      checkpoint_dir, checkpoint_basename: where.
      save_secs, save_steps: how often; one of them.
      saver: the Saver; that of the scaffold if it is None.
      scaffold: a Scaffold.

    Raises ValueError if both times are given or none.
    """

    def __init__(
        self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
        scaffold=None,
    ):  # fmt: skip
        log().info("Create CheckpointSaver.")
        super().__init__()
        self._saver, self._scaffold = saver, scaffold
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._path = str(Path(checkpoint_dir) / checkpoint_basename)
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")
        self._seconds, self._steps = save_secs, save_steps
        self._forget()

    def _forget(self):
        self._saved_time: Any = None
        self._begun_step = self._saved_step = None

    def begin(self, max_steps=None):
        super().begin(max_steps)
        self._forget()

    def step_begin(self, step):
        super().step_begin(step)
        self._begun_step = step
        return []

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._saved_time is None:
            self._save(step, session)
        if self._steps is not None and step >= self._saved_step + self._steps:
            self._save(step, session)
        if self._seconds is not None and time.time() >= self._saved_time + self._seconds:
            self._save(step, session)

    def end(self, session=None):
        super().end(session)
        self._save(self._begun_step, session)

    def _save(self, step, session):
        if step == self._saved_step:
            return
        log().info("Saving checkpoints for %d into %s.", step, self._path)
        self._saved_time, self._saved_step = time.time(), step
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._path, global_step=step)
        message = protobuf.message("SessionLog")
        self._summary_writer.add_session_log(message(status=message.CHECKPOINT, checkpoint_path=self._path), step)
