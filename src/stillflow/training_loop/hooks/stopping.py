"""tf.train.StopAtStepHook, NanTensorHook and GlobalStepWaiterHook: when training ends, and when it begins."""

from __future__ import annotations

import time

import numpy as np

from stillflow.names import public
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_reading import step_tensor
from stillflow.training_loop.messages import log

_GLANCE_SECS = 0.5
_STEPS_PER_MESSAGE = 1000


@public("train.StopAtStepHook", "estimator.StopAtStepHook")
class StopAtStepHook(SessionRunHook):
    """Stops at a step.

    Args:
      num_steps: how many steps to take from the beginning of this session.
      last_step: the global step to stop at, instead.

    Raises ValueError unless exactly one is given.
    """

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self):
        self._global_step_tensor = step_tensor("StopAtStepHook")

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 < self._last_step:
            return
        # Whether this run was a step is not known: it may have read something only.
        if run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


@public(
    "train.NanLossDuringTrainingError",
    "contrib.learn.NanLossDuringTrainingError",
    "estimator.NanLossDuringTrainingError",
)
class NanLossDuringTrainingError(RuntimeError):
    """The loss was not a number."""

    def __str__(self):
        return "NaN loss during training."


@public("train.NanTensorHook", "estimator.NanTensorHook")
class NanTensorHook(SessionRunHook):
    """Stops when the loss is not a number.

    Args:
      loss_tensor: the loss, a scalar.
      fail_on_nan_loss: whether that is an error, NanLossDuringTrainingError; otherwise training just ends.
    """

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            log().error(message)
            raise NanLossDuringTrainingError
        log().warning(message)
        run_context.request_stop()


@public("train.GlobalStepWaiterHook", "estimator.GlobalStepWaiterHook")
class GlobalStepWaiterHook(SessionRunHook):
    """Holds the first run back until the global step, which others count, has reached `wait_until_step`."""

    def __init__(self, wait_until_step):
        self._wait_until_step = wait_until_step

    def begin(self):
        self._worker_is_started = False
        self._global_step_tensor = step_tensor("_GlobalStepWaiterHook")

    def before_run(self, run_context):
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True

    def _wait(self, session):
        log().info("Waiting for global step %d before starting training.", self._wait_until_step)
        logged_step = 0
        while True:
            step = session.run(self._global_step_tensor)
            if step >= self._wait_until_step:
                return
            if step - logged_step > _STEPS_PER_MESSAGE:
                log().info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until_step,
                    step,
                )
                logged_step = step
            time.sleep(_GLANCE_SECS)
