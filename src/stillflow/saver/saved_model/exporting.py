"""How models are exported: which signatures a mode has, and which folder a SavedModel goes to."""

from __future__ import annotations

import os
import time

from stillflow.files import filesystem, gfile
from stillflow.names import public
from stillflow.saver.saved_model import modes, names
from stillflow.saver.saved_model.export_outputs import EvalOutput, ExportOutput, PredictOutput, TrainOutput
from stillflow.saver.saved_model.signatures import is_valid_signature

# What single tensors are called where a dict of them is wanted.
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"

_MOST_ATTEMPTS = 10
_METHODS = {
    names.CLASSIFY_METHOD_NAME: "Classify",
    names.REGRESS_METHOD_NAME: "Regress",
    names.PREDICT_METHOD_NAME: "Predict",
    names.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    names.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


EXPORT_TAG_MAP = public(
    "python.estimator.export.export_lib.EXPORT_TAG_MAP", "python.saved_model.model_utils.export_utils.EXPORT_TAG_MAP",
    "python.saved_model.model_utils.EXPORT_TAG_MAP",
)(modes.ModeKeyMap(train=[names.TRAINING], eval=[names.EVAL], infer=[names.SERVING]))  # fmt: skip


def tags_of(mode):
    """The tags by which the graph for a mode is found. Raises ValueError for what is no mode."""
    if modes.is_predict(mode):
        return [names.SERVING]
    if modes.is_train(mode):
        return [names.TRAINING]
    if modes.is_eval(mode):
        return [names.EVAL]
    raise ValueError(f"Invalid mode key: {mode}.")


_SIGNATURES = public(
    "python.saved_model.model_utils.SIGNATURE_KEY_MAP",
    "python.saved_model.model_utils.export_utils.SIGNATURE_KEY_MAP",
)(
    modes.ModeKeyMap(
        train=names.DEFAULT_TRAIN_SIGNATURE_DEF_KEY,
        test=names.DEFAULT_EVAL_SIGNATURE_DEF_KEY,
        predict=names.DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    )
)


@public(
    "python.saved_model.model_utils.export_outputs_for_mode",
    "python.saved_model.model_utils.export_utils.export_outputs_for_mode",
)
def export_outputs_for_mode(mode, serving_export_outputs=None, predictions=None, loss=None, metrics=None):
    """{name of a signature: ExportOutput} of a model in a mode.

    Args:
      mode: one of tf.estimator.ModeKeys.
      serving_export_outputs: those of the mode PREDICT, or None for its predictions.
      predictions: a tensor, or {name: tensor}.
      loss: a tensor.
      metrics: {name: (value, update)}.

    Raises ValueError for another mode, TypeError for outputs that are none.
    """
    if modes.is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    output = TrainOutput if modes.is_train(mode) else EvalOutput
    return {_SIGNATURES[mode]: output(loss, predictions, metrics)}


@public(
    "python.saved_model.model_utils.get_export_outputs",
    "python.saved_model.model_utils.export_utils.get_export_outputs",
)
def get_export_outputs(export_outputs, predictions):
    """{name of a signature: ExportOutput}, one of which is the default of a server.

    Args:
      export_outputs: such a dict, or None for the predictions.
      predictions: a tensor, or {name: tensor}.

    Raises:
      TypeError: if it is no dict of ExportOutputs.
      ValueError: if there are several and none is called "serving_default".
    """
    default = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if export_outputs is None:
        export_outputs = {default: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {export_outputs}")
    if not all(isinstance(value, ExportOutput) for value in export_outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {export_outputs}")
    if len(export_outputs) == 1 and default not in export_outputs:
        (export_outputs[default],) = export_outputs.values()
    if len(export_outputs) > 1 and default not in export_outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default.  Do this by naming "
            "one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    return export_outputs


@public(
    "python.saved_model.model_utils.build_all_signature_defs",
    "python.saved_model.model_utils.export_utils.build_all_signature_defs",
)
def build_all_signature_defs(receiver_tensors, export_outputs, receiver_tensors_alternatives=None, serving_only=True):
    """{name: SignatureDef} of all outputs that fit the inputs, and of the alternative inputs as well.

    Args:
      receiver_tensors: {name: tensor} that callers feed, or a single tensor.
      export_outputs: {name: ExportOutput}.
      receiver_tensors_alternatives: {name: other inputs}; the signatures are called "<name>:<name of the output>".
      serving_only: whether to leave out what servers cannot offer.

    Raises ValueError if `export_outputs` is no dict.
    """
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    receivers = {"": receiver_tensors}
    receivers.update({f"{name or 'None'}:": other for name, other in (receiver_tensors_alternatives or {}).items()})
    included, excluded = {}, {}
    for prefix, tensors in receivers.items():
        if not isinstance(tensors, dict):
            tensors = {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                included[name] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded[name] = str(error)
    _report(included, excluded)
    if serving_only:
        return {name: signature for name, signature in included.items() if is_valid_signature(signature)}
    return included


def _report(included, excluded):
    by_method: dict = {method: [] for method in _METHODS}
    for name, signature in included.items():
        by_method.setdefault(signature.method_name, []).append(name)
    for method, found in by_method.items():
        _log().info("Signatures INCLUDED in export for %s: %s", _METHODS.get(method, method), found or None)
    if excluded:
        _log().info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
        for name, message in excluded.items():
            _log().info("'%s' : %s", name, message)
    if not included:
        _log().warning("Export includes no signatures!")
    elif names.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in included:
        _log().warning("Export includes no default signature!")


@public(
    "python.saved_model.model_utils.get_timestamped_export_dir",
    "python.saved_model.model_utils.export_utils.get_timestamped_export_dir",
    "contrib.learn.utils.saved_model_export_utils.get_timestamped_export_dir",
)
def get_timestamped_export_dir(export_dir_base):
    """A folder that is not there, called after the seconds since 1970, as bytes.

    Raises RuntimeError if ten in a row are taken.
    """
    base = filesystem.path_text(export_dir_base)
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        path = os.fsencode(os.path.join(base, str(int(time.time()))))
        if not gfile.Exists(path):
            return path
        time.sleep(1)
        _log().warning("Directory %s already exists; retrying (attempt %s/%s)", path, attempt, _MOST_ATTEMPTS)
    raise RuntimeError(f"Failed to obtain a unique export directory name after {_MOST_ATTEMPTS} attempts.")


@public(
    "python.saved_model.model_utils.get_temp_export_dir",
    "python.saved_model.model_utils.export_utils.get_temp_export_dir",
    "contrib.learn.utils.saved_model_export_utils.get_temp_export_dir",
)
def get_temp_export_dir(timestamped_export_dir):
    """What the folder is called until the SavedModel is complete, as bytes."""
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    # TensorFlow formats the name's bytes as text, and programs know such folders by it.
    return os.path.join(folder, os.fsencode(f"temp-{name!r}"))


def _log():
    from stillflow.platform import logging

    return logging
