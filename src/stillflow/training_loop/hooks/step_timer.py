"""tf.train.SecondOrStepTimer: triggers every so many seconds or steps."""

from __future__ import annotations

import time

from stillflow.names import public


@public("train.SecondOrStepTimer", "estimator.SecondOrStepTimer")
class SecondOrStepTimer:
    """Says when it is time again, by the clock or by steps; the first time is at once.

    Args:
      every_secs: a number of seconds.
      every_steps: a number of steps instead.

    Raises ValueError unless exactly one is given.
    """

    def __init__(self, every_secs=None, every_steps=None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self):
        """Forgets the last time."""
        self._last_triggered_step = None
        self._last_triggered_time = None

    def should_trigger_for_step(self, step):
        """Whether it is time at a step; never twice for one step."""
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        """Takes note that it was time. Returns the seconds and steps since the time before: twice None at first."""
        now = time.time()
        elapsed = None, None
        if self._last_triggered_time is not None:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time = now
        self._last_triggered_step = step
        return elapsed

    def last_triggered_step(self):
        """The step of the last time, or None."""
        return self._last_triggered_step


@public("python.training.basic_session_run_hooks.NeverTriggerTimer")
class NeverTriggerTimer:
    """A timer for which it is never time."""

    def reset(self):
        """There is nothing to forget."""

    def should_trigger_for_step(self, step):
        """False."""
        return False

    def update_last_triggered_step(self, step):
        """Twice None."""
        return None, None

    def last_triggered_step(self):
        """None."""
