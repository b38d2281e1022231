"""Strategies that export the models of Experiments, and which of the exports in a folder are kept."""

from __future__ import annotations

import time
from pathlib import Path

from stillflow import errors
from stillflow.contrib.layers.column_inputs import create_feature_spec_for_parsing
from stillflow.contrib.learn.experiments import ExportStrategy
from stillflow.contrib.learn.serving_inputs import build_parsing_serving_input_fn
from stillflow.estimator.estimator import Estimator as CoreEstimator
from stillflow.estimator.kept_exports import get_paths, largest_export_versions, negation
from stillflow.estimator.receivers import build_parsing_serving_input_receiver_fn
from stillflow.files import gfile
from stillflow.names import public
from stillflow.platform.compat import as_text
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.summary.event_files import summary_iterator
from stillflow.training_loop.messages import log

# ---- Folders of exports -------------------------------------------------------------------------------------------

_DIGITS_OF_SECONDS = 10


def _with_version(path):
    name = Path(path.path).name
    is_version = len(name) == _DIGITS_OF_SECONDS and name.isdigit()
    return path._replace(export_version=int(name)) if is_version else None


@public("contrib.learn.utils.saved_model_export_utils.get_most_recent_export")
def get_most_recent_export(export_dir_base):
    """The newest of the exports in a folder, whose names are seconds: a (path, export_version), or None."""
    newest = largest_export_versions(1)(get_paths(export_dir_base, parser=_with_version))
    return newest[0] if newest else None


@public("contrib.learn.utils.saved_model_export_utils.garbage_collect_exports")
def garbage_collect_exports(export_dir_base, exports_to_keep):
    """Deletes all but the `exports_to_keep` newest exports in a folder; none if that is None."""
    if exports_to_keep is None:
        return
    superfluous = negation(largest_export_versions(exports_to_keep))
    for path in superfluous(get_paths(export_dir_base, parser=_with_version)):
        try:
            gfile.DeleteRecursively(path.path)
        except errors.NotFoundError as error:
            log().warning("Can not delete %s recursively: %s", path.path, error)


# ---- Strategies ---------------------------------------------------------------------------------------------------


@public("contrib.learn.make_export_strategy")
def make_export_strategy(
    serving_input_fn,
    default_output_alternative_key=None,
    assets_extra=None,
    as_text=False,
    exports_to_keep=5,
    strip_default_attrs=None,
):
    """An ExportStrategy "Servo" that writes SavedModels.

    Args:
      serving_input_fn: a function that returns InputFnOps, or a ServingInputReceiver for a tf.estimator.Estimator.
      default_output_alternative_key: the head that is served when none is asked for, if there are several.
      assets_extra: {path in the folder "assets.extra": path of a file to copy}.
      as_text: whether to write text.
      exports_to_keep: how many exports stay; None for all.
      strip_default_attrs: whether to leave out attributes with defaults.

    The strategy raises ValueError for a tf.estimator.Estimator with a default head.
    """

    def export_fn(estimator, export_dir_base, checkpoint_path=None, strip_default_attrs=strip_default_attrs):
        options = {
            "assets_extra": assets_extra,
            "as_text": as_text,
            "checkpoint_path": checkpoint_path,
            "strip_default_attrs": bool(strip_default_attrs),
        }
        if not isinstance(estimator, CoreEstimator):
            options["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. Given: "
                f"{default_output_alternative_key}"
            )
        result = estimator.export_savedmodel(export_dir_base, serving_input_fn, **options)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


@public("contrib.learn.utils.saved_model_export_utils.make_parsing_export_strategy")
def make_parsing_export_strategy(
    feature_columns,
    default_output_alternative_key=None,
    assets_extra=None,
    as_text=False,
    exports_to_keep=5,
    target_core=False,
    strip_default_attrs=None,
):
    """make_export_strategy for serialized tf.train.Examples with the features of tf.contrib.layers' columns.

    `target_core` says that it is for a tf.estimator.Estimator.
    """
    spec = create_feature_spec_for_parsing(feature_columns)
    build = build_parsing_serving_input_receiver_fn if target_core else build_parsing_serving_input_fn
    return make_export_strategy(
        build(spec), default_output_alternative_key, assets_extra, as_text, exports_to_keep, strip_default_attrs
    )


def _has_less_loss(best, candidate):
    for result, name in ((best, "curr_best_eval_result"), (candidate, "cand_eval_result")):
        if not result or "loss" not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return best["loss"] > candidate["loss"]


@public("contrib.learn.utils.saved_model_export_utils.BestModelSelector")
class BestModelSelector:
    """Remembers the best evaluation.

    Args:
      event_file_pattern: a pattern of event files with earlier evaluations, or None.
      compare_fn: a function of the best evaluation and a new one, whether the new one is better; by default whether
        its loss is less.
    """

    def __init__(self, event_file_pattern=None, compare_fn=None):
        self._compare = compare_fn or _has_less_loss
        self._best = None
        for path in gfile.Glob(event_file_pattern) if event_file_pattern else ():
            for event in summary_iterator(path):
                if event.HasField("summary"):
                    values = (value for value in event.summary.value if value.HasField("simple_value"))
                    self._take({value.tag: value.simple_value for value in values})

    def _take(self, result):
        if self._best is not None and not self._compare(self._best, result):
            return False
        self._best = result
        return True

    def update(self, checkpoint_path, eval_result):
        """(checkpoint_path, eval_result) if the evaluation is the best so far, else ("", None).

        Raises ValueError without a checkpoint, and without an evaluation.
        """
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError("%s has empty evaluation results.", checkpoint_path)
        return (checkpoint_path, eval_result) if self._take(eval_result) else ("", None)


@public("contrib.learn.utils.saved_model_export_utils.extend_export_strategy")
def extend_export_strategy(base_export_strategy, post_export_fn, post_export_name=None):
    """An ExportStrategy that makes something of what another one has exported, instead of it.

    Args:
      base_export_strategy: the other one.
      post_export_fn: a function of the path of an export and a folder; it returns the path of what it has made there.
      post_export_name: the name; by default the other's.

    The strategy raises RuntimeError if a folder is there already, ValueError for a path that is not in the folder.
    """

    def export_fn(estimator, export_dir_base, checkpoint_path=None):
        seconds = int(time.time())
        base = _new_folder(f"{export_dir_base}/temp-base-export-{seconds}")
        exported = base_export_strategy.export(estimator, base, checkpoint_path)
        later = _new_folder(f"{export_dir_base}/temp-post-export-{seconds}")
        made = as_text(post_export_fn(exported, later))
        if not made.startswith(later):
            raise ValueError(f"post_export_fn must return a sub-directory of {later}")
        found = f"{export_dir_base}/{made.removeprefix(later).strip('/')}"
        if gfile.Exists(found):
            raise RuntimeError("Failed to obtain final export directory")
        gfile.Rename(made, found)
        gfile.DeleteRecursively(base)
        gfile.DeleteRecursively(later)
        return found

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)


def _new_folder(path):
    if gfile.Exists(path):
        raise RuntimeError(f"Failed to obtain export directory {path}")
    gfile.MakeDirs(path)
    return path


@public("contrib.learn.utils.saved_model_export_utils.make_best_model_export_strategy")
def make_best_model_export_strategy(
    serving_input_fn, exports_to_keep=1, model_dir=None, event_file_pattern=None, compare_fn=None,
    default_output_alternative_key=None, strip_default_attrs=None,
):  # fmt: skip
    """An ExportStrategy "best_model" that exports a checkpoint only if its evaluation is the best so far.

    Each export lies in a folder that is called after the checkpoint.

    Args:
      serving_input_fn, exports_to_keep, default_output_alternative_key, strip_default_attrs: see
        make_export_strategy.
      model_dir, event_file_pattern: a folder and a pattern of event files below it, whose evaluations count, too.
      compare_fn: see BestModelSelector.
    """
    strategy = make_export_strategy(
        serving_input_fn,
        exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs,
    )
    has_events = model_dir and event_file_pattern
    best = BestModelSelector(str(Path(model_dir, event_file_pattern)) if has_events else None, compare_fn)

    def export_fn(estimator, export_dir_base, checkpoint_path=None, eval_result=None):
        checkpoint_path, result = best.update(checkpoint_path or latest_checkpoint(estimator.model_dir), eval_result)
        if not checkpoint_path:
            return ""
        folder = Path(export_dir_base, Path(checkpoint_path).name)
        return strategy.export(estimator, str(folder), checkpoint_path, result)

    return ExportStrategy("best_model", export_fn)
