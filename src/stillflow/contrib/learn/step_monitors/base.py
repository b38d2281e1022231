"""BaseMonitor and EveryN, and the hook that they run in."""

from __future__ import annotations

import inspect
from typing import Any

from stillflow.names import public
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.progress import element_of_graph


@public("contrib.learn.monitors.BaseMonitor")
class BaseMonitor:
    """One that does nothing; descendants extend its methods."""

    def __init__(self):
        self._begun = False
        self._current_epoch = None
        self._current_step = None
        self._max_steps = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self):
        """Whether it runs on workers that are not the chief."""
        return False

    def set_estimator(self, estimator):
        """Says which estimator is trained. Raises ValueError for None."""
        if estimator is None:
            raise ValueError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps=None):
        """Before training, up to that step if it is given. Raises ValueError if it has begun."""
        if self._begun:
            raise ValueError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session=None):
        """After training. Raises ValueError if it has not begun."""
        if not self._begun:
            raise ValueError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch):
        """Before an epoch. Raises ValueError within one, and for a number below 0."""
        if self._current_epoch is not None:
            raise ValueError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise ValueError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch):
        """After an epoch. Raises ValueError for another one than has begun."""
        if self._current_epoch != epoch:
            raise ValueError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step):
        """Before a step: a list of tensors, or their names, that are wanted. Raises ValueError for a wrong number."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise ValueError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step, output):
        """After a step, with the values by what was wanted: whether training ends. Raises ValueError for another."""
        if self._current_step != step:
            raise ValueError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step, session):
        """After all monitors' step_end."""


def output_of(outputs, request):
    """The value of what was wanted, by itself or by its name."""
    return outputs[request] if request in outputs else outputs[request.name]


@public("contrib.learn.monitors.EveryN")
class EveryN(BaseMonitor):
    """One that acts at the first steps, every few steps, and at the last.

    Args:
      every_n_steps: how many steps later it acts again.
      first_n_steps: at how many steps it acts at first.
    """

    def __init__(self, every_n_steps=100, first_n_steps=1):
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_successful_step = None
        self._last_active_step = 0
        self._is_active = False

    def every_n_step_begin(self, step):
        """step_begin of the steps at which it acts."""
        return []

    def every_n_step_end(self, step, outputs):
        """step_end of the steps at which it acts."""
        return False

    def every_n_post_step(self, step, session):
        """post_step of the steps at which it acts, and of the last one."""

    def step_begin(self, step):
        super().step_begin(step)
        is_next = step >= self._every_n_steps + self._last_active_step
        self._is_active = step <= self._first_n_steps or is_next or step == self._max_steps
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step, output):
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._is_active else False

    def post_step(self, step, session):
        super().post_step(step, session)
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session=None):
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


@public("contrib.learn.monitors.RunHookAdapterForMonitors")
class MonitorHook(SessionRunHook):
    """Runs monitors as one hook."""

    def __init__(self, monitors):
        self._monitors = monitors

    def begin(self):
        self._last_step = None
        self._global_step = get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context):
        if self._last_step is None:
            self._last_step = run_context.session.run(self._global_step) + 1
        wanted = []
        for monitor in self._monitors:
            requests = monitor.step_begin(self._last_step)
            if requests:
                if not isinstance(requests, list):
                    raise ValueError("Monitor.step_begin should return a list.")
                wanted.extend(requests)
        fetches = {"step": self._global_step}
        if wanted:
            fetches["monitors"] = {request: element_of_graph(request) for request in wanted}
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        found = run_values.results.get("monitors", {})
        for monitor in self._monitors:
            if monitor.step_end(self._last_step, found):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = run_values.results["step"] + 1

    def end(self, session):
        self._last_step = None
        for monitor in self._monitors:
            if "session" in inspect.signature(monitor.end).parameters:
                monitor.end(session=session)
            else:
                monitor.end()


@public("contrib.learn.monitors.replace_monitors_with_hooks")
def as_hooks(monitors_or_hooks, estimator):
    """Hooks, with one for all monitors, which are told of the estimator. On workers some monitors do not run."""
    given = list(monitors_or_hooks or ())
    hooks = [each for each in given if isinstance(each, SessionRunHook)]
    monitors = [each for each in given if not isinstance(each, SessionRunHook)]
    if not estimator.config.is_chief:
        monitors = [monitor for monitor in monitors if monitor.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, MonitorHook(monitors)] if monitors else hooks
