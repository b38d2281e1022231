"""Monitors that say or keep what they see: tensors, variables, summaries, steps per second."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np

from stillflow.contrib.learn.step_monitors.base import BaseMonitor, EveryN, output_of
from stillflow.formats import protobuf
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import get_collection
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.summary.writer import FileWriter, FileWriterCache
from stillflow.training_loop.messages import log


def _listed(names, outputs):
    return ", ".join(f"{tag} = {output_of(outputs, name)}" for tag, name in names.items() if name in outputs)


@public("contrib.learn.monitors.PrintTensor")
class PrintTensor(EveryN):
    """Logs tensors.

    Args:
      tensor_names: {what to call it: name} or a list of names.
      every_n, first_n: see EveryN.
    """

    def __init__(self, tensor_names, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        if not isinstance(tensor_names, dict):
            tensor_names = {item: item for item in tensor_names}
        self._tensor_names = tensor_names

    def every_n_step_begin(self, step):
        return list(self._tensor_names.values())

    def every_n_step_end(self, step, outputs):
        log().info("Step %d: %s", step, _listed(self._tensor_names, outputs))


@public("contrib.learn.monitors.LoggingTrainable")
class LoggingTrainable(EveryN):
    """Logs the trainable variables, those of a scope if it is given."""

    def __init__(self, scope=None, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._scope = scope
        self._names: dict = {}

    def every_n_step_begin(self, step):
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=self._scope)
        self._names = {variable.name: variable.value().name for variable in variables}
        return list(self._names.values())

    def every_n_step_end(self, step, outputs):
        log().info("Logging Trainable: Step %d: %s", step, _listed(self._names, outputs))


@public("contrib.learn.monitors.SummarySaver")
class SummarySaver(EveryN):
    """Writes summaries.

    Args:
      summary_op: the summaries, a string tensor; that of the scaffold if it is None.
      save_steps: every how many steps.
      output_dir, summary_writer: where; by default the estimator's folder.
      scaffold: a Scaffold.
    """

    def __init__(self, summary_op, save_steps=100, output_dir=None, summary_writer=None, scaffold=None):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._scaffold = scaffold
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriter(output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step):
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step, outputs):
        if self._summary_op is not None and self._summary_writer:
            self._summary_writer.add_summary(output_of(outputs, self._summary_op), step)
        return False

    def end(self, session=None):
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


@public("contrib.learn.monitors.CaptureVariable")
class CaptureVariable(EveryN):
    """Keeps the values of a tensor, by step."""

    def __init__(self, var_name, every_n=100, first_n=1):
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._values: dict = {}

    @property
    def values(self):
        """{step: value}."""
        return self._values

    def every_n_step_begin(self, step):
        return [self._var_name]

    def every_n_step_end(self, step, outputs):
        self._values[step] = output_of(outputs, self._var_name)


@public("contrib.learn.monitors.GraphDump")
class GraphDump(BaseMonitor):
    """Keeps the first outputs of all operations at each step, but of some types."""

    IGNORE_OPS: ClassVar = ["Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice"]

    def __init__(self, ignore_ops=None):
        super().__init__()
        self._ignored = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict = {}
        self._tensors: list[Any] = []

    @property
    def data(self):
        """{step: {tensor: value}}."""
        return self._data

    def begin(self, max_steps=None):
        super().begin(max_steps=max_steps)
        for op in get_default_graph().get_operations():
            if op.type not in self._ignored:
                log().info("op=%s name=%s.", op.type, op.name)
                self._tensors.extend(op.outputs[:1])

    def step_begin(self, step):
        super().step_begin(step)
        return self._tensors

    def step_end(self, step, output):
        super().step_end(step, output)
        self._data[step] = output

    def compare(self, other_dump, step, atol=1e-06):
        """(the names that are equal at a step in both, {name: the difference, or both values} of the others).

        Raises ValueError for a name that the other dump lacks.
        """
        mine, others = self.data.get(step, {}), other_dump.data.get(step, {})
        matched, different = [], {}
        for key in mine:
            if not isinstance(key, str):
                continue
            if key not in others:
                raise ValueError("%s missing at step %s.", (key, step))
            value, other = output_of(mine, key), output_of(others, key)
            if isinstance(value, str):
                continue
            if isinstance(value, np.ndarray):
                if np.allclose(value, other, atol=atol):
                    matched.append(key)
                else:
                    different[key] = value - other
            elif value == other:
                matched.append(key)
            else:
                different[key] = (value, other)
        return matched, different


@public("contrib.learn.monitors.StepCounter")
class StepCounter(EveryN):
    """Writes the steps per second as the summary global_step/sec."""

    def __init__(self, every_n_steps=100, output_dir=None, summary_writer=None):
        super().__init__(every_n_steps=every_n_steps)
        self._last_step = self._last_time = None
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator):
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, current_step, outputs):
        now = time.time()
        if self._last_time is not None and self._summary_writer:
            rate = (current_step - self._last_step) / (now - self._last_time)
            summary = protobuf.message("Summary")
            value = summary.Value(tag="global_step/sec", simple_value=rate)
            self._summary_writer.add_summary(summary(value=[value]), current_step)
        self._last_step, self._last_time = current_step, now


@public("contrib.learn.monitors.get_default_monitors")
def get_default_monitors(
    loss_op=None, summary_op=None, save_summary_steps=100, output_dir=None, summary_writer=None
):  # fmt: skip
    """A PrintTensor of the loss and a SummarySaver, as far as the loss and the summaries are given."""
    monitors: list[BaseMonitor] = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors
