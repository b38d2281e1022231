"""tf.estimator.FinalExporter and its kin: which evaluated checkpoints train_and_evaluate exports."""

from __future__ import annotations

import abc
import os

from stillflow import errors
from stillflow.estimator.kept_exports import get_paths, largest_export_versions, negation
from stillflow.files import gfile
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.summary.event_files import summary_iterator
from stillflow.training_loop.messages import log

_LOSS = "loss"
_DIGITS = 10  # of the seconds since 1970, which folders of exports are called after


@public("estimator.Exporter")
class Exporter(abc.ABC):
    """Something that exports a model after it has been evaluated."""

    @property
    @abc.abstractmethod
    def name(self):
        """What its folder is called."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports, or does not.

        Args:
          estimator: the Estimator.
          export_path: the folder for its exports.
          checkpoint_path: the checkpoint that was evaluated.
          eval_result: what `evaluate` returned.
          is_the_final_export: whether training has come to its end.

        Returns:
          The path of the export, or None.
        """


@public("python.estimator.exporter._SavedModelExporter")
class _SavedModelExporter(Exporter):
    """Exports a SavedModel each time."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self):
        return self._name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


@public("estimator.FinalExporter")
class FinalExporter(Exporter):
    """Exports once, at the end of the training.

    Args:
      name: what its folder is called.
      serving_input_receiver_fn, assets_extra, as_text: as for Estimator.export_saved_model.
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if not is_the_final_export:
            return None
        log().info("Performing the final export in the end of training.")
        return self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


@public("estimator.LatestExporter")
class LatestExporter(Exporter):
    """Exports after each evaluation, and keeps the newest exports.

    Args:
      name: what its folder is called.
      serving_input_receiver_fn, assets_extra, as_text: as for Estimator.export_saved_model.
      exports_to_keep: how many to keep; None for all.

    Raises ValueError for a number that is not positive.
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5):
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = exports_to_keep
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        result = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        _delete_old_exports(export_path, self._exports_to_keep)
        return result


def _loss_smaller(best_eval_result, current_eval_result):
    """Whether the loss has become smaller. Raises ValueError for results without one."""
    if not best_eval_result or _LOSS not in best_eval_result:
        raise ValueError("best_eval_result cannot be empty or no loss is found in it.")
    if not current_eval_result or _LOSS not in current_eval_result:
        raise ValueError("current_eval_result cannot be empty or no loss is found in it.")
    return best_eval_result[_LOSS] > current_eval_result[_LOSS]


def _check_compare_fn(compare_fn):
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    names = set(fn_args(compare_fn))
    for name in ("best_eval_result", "current_eval_result"):
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    others = list(names - {"best_eval_result", "current_eval_result"})
    if others:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {others}")


@public("estimator.BestExporter")
class BestExporter(Exporter):
    """Exports when the model is better than it has ever been, and keeps the newest exports.

    Args:
      name: what its folder is called.
      serving_input_receiver_fn: as for Estimator.export_saved_model.
      event_file_pattern: the event files of former evaluations, in the folder of the Estimator; None for none.
      compare_fn: a function of `best_eval_result` and `current_eval_result` that says whether the second is better;
        by default the one with the smaller loss is.
      assets_extra, as_text: as for Estimator.export_saved_model.
      exports_to_keep: how many to keep; None for all.

    Raises ValueError for a function of other arguments, and a number that is not positive.
    """

    def __init__(
        self, name="best_exporter", serving_input_receiver_fn=None, event_file_pattern="eval/*.tfevents.*",
        compare_fn=_loss_smaller, assets_extra=None, as_text=False, exports_to_keep=5,
    ):  # fmt: skip
        _check_compare_fn(compare_fn)
        self._compare_fn = compare_fn
        self._saved_model_exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir = None
        self._best_eval_result = None
        self._exports_to_keep = exports_to_keep
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")

    @property
    def name(self):
        return self._saved_model_exporter.name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            log().info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_so_far(os.path.join(self._model_dir, self._event_file_pattern))
        if self._best_eval_result is not None and not self._compare_fn(
            best_eval_result=self._best_eval_result, current_eval_result=eval_result
        ):
            return None
        log().info("Performing best model export.")
        self._best_eval_result = eval_result
        result = self._saved_model_exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        _delete_old_exports(export_path, self._exports_to_keep)
        return result

    def _best_so_far(self, pattern):
        """The best of the results in event files, {metric: value}, or None."""
        best = None
        for path in gfile.Glob(pattern):
            for event in summary_iterator(path):
                found = simple_values(event)
                if found and (best is None or self._compare_fn(best, found)):
                    best = found
        return best


def simple_values(event):
    """{tag: number} of the summaries in an Event message."""
    if not event.HasField("summary"):
        return {}
    return {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}


def _with_version(path):
    """The path with its version, the time of the export, or None for what is no export."""
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if len(name) == _DIGITS and name.isdigit() else None


def _delete_old_exports(folder, kept_count):
    """Deletes exports, but for the newest ones."""
    if kept_count is None:
        return
    old = negation(largest_export_versions(kept_count))
    for path, _ in old(get_paths(folder, _with_version)):
        try:
            gfile.DeleteRecursively(path)
        except errors.NotFoundError as error:
            log().warning("Can not delete %s recursively: %s", path, error)
