"""Hooks of boosted trees: when training ends, what it does next, and how important features are."""

from __future__ import annotations

from stillflow import ops
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.platform import logging
from stillflow.summary.writer import FileWriterCache
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.variables.assignments import assign


def _required_step(message):
    step = get_global_step()
    if step is None:
        raise RuntimeError(message)
    return step


@public("contrib.boosted_trees.estimator_batch.trainer_hooks.FeatureImportanceSummarySaver")
class FeatureImportanceSummarySaver(SessionRunHook):
    """Writes how important each feature is, to a folder of the feature's name.

    The graph has tensors for it: gbdt/feature_names, gbdt/feature_usage_counts and gbdt/feature_gains.

    Args:
      model_dir: the folder of the folders.
      every_n_steps: how often.

    Raises ValueError without a folder.
    """

    def __init__(self, model_dir, every_n_steps=1):
        if model_dir is None:
            raise ValueError("model dir must be specified.")
        self._model_dir = model_dir
        self._every_n_steps = every_n_steps
        self._last_step = None

    def begin(self):
        step = _required_step("Global step should be created to use FeatureImportanceSummarySaver.")
        graph = get_default_graph()
        names = ("feature_names", "feature_usage_counts", "feature_gains")
        self._tensors = [step, *(graph.get_tensor_by_name(f"gbdt/{name}:0") for name in names)]

    def before_run(self, run_context):
        return SessionRunArgs(self._tensors)

    def after_run(self, run_context, run_values):
        step, names, counts, gains = run_values.results
        if self._last_step is not None and step < self._last_step + self._every_n_steps:
            return
        if len(names) != len(counts) or len(names) != len(gains):
            raise RuntimeError("Feature names and importance measures have inconsistent lengths.")
        self._last_step = step
        total_count, total_gain = float(sum(counts)) or 1.0, float(sum(gains)) or 1.0
        for name, count, gain in zip(names, counts, gains, strict=True):
            writer = FileWriterCache.get(f"{self._model_dir}/{name.decode()}")
            shares = {
                "usage_counts": count, "usage_fraction": count / total_count, "gains": gain,
                "gains_fraction": gain / total_gain,
            }  # fmt: skip
            for key, value in shares.items():
                summary = protobuf.message("Summary")()
                summary.value.add(tag=f"feature_importance/{key}", simple_value=value)
                writer.add_summary(summary, step)


@public("contrib.boosted_trees.estimator_batch.trainer_hooks.StopAfterNTrees")
class StopAfterNTrees(SessionRunHook):
    """Stops when so many trees are finished, or more than twice as many were tried.

    Args:
      n: how many trees.
      num_attempted_trees_tensor, num_finalized_trees_tensor: int64 scalars.
      override_global_step_value: what the global step is set to in the end, if it is.
    """

    def __init__(
        self, n, num_attempted_trees_tensor, num_finalized_trees_tensor, override_global_step_value=None
    ):  # fmt: skip
        self._num_trees = n
        self._tensors = [num_attempted_trees_tensor, num_finalized_trees_tensor]
        self._last_step_value = override_global_step_value
        self._set_step = None

    def begin(self):
        step = _required_step("Global step should be created.")
        if self._last_step_value is not None:
            self._set_step = assign(step, self._last_step_value)

    def before_run(self, run_context):
        return SessionRunArgs(self._tensors)

    def after_run(self, run_context, run_values):
        attempted, finalized = run_values.results
        if finalized < self._num_trees and attempted <= 2 * self._num_trees:
            return
        logging.info("Requesting stop since we have reached %d trees.", finalized)
        if self._set_step is not None:
            logging.info("Overriding global steps value.")
            run_context.session.run(self._set_step)
        run_context.request_stop()


@public("contrib.boosted_trees.estimator_batch.trainer_hooks.SwitchTrainOp")
class SwitchTrainOp(SessionRunHook):
    """Runs one operation until a step, and another one from then on.

    Args:
      first_train_op, second_train_op: the operations.
      train_steps: the step.
    """

    def __init__(self, first_train_op, train_steps, second_train_op):
        self._ops = first_train_op, second_train_op
        self._train_steps = train_steps

    def begin(self):
        self._step = _required_step("Global step should be created to use SwitchTrainOp.")
        self._current = ops.no_op()

    def before_run(self, run_context):
        return SessionRunArgs({"global_step": self._step, "train_op": self._current})

    def after_run(self, run_context, run_values):
        is_later = run_values.results["global_step"] >= self._train_steps
        self._current = self._ops[1 if is_later else 0]
