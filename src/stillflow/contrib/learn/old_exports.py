"""Exports of estimators of before SavedModels: tf.contrib.learn.utils.export."""

from __future__ import annotations

from stillflow.contrib.learn.tensor_signatures import create_example_parser_from_signatures
from stillflow.contrib.session_bundle import exporter
from stillflow.estimator.kept_exports import largest_export_versions
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.training.global_step import create_global_step, get_global_step
from stillflow.training_loop.messages import log
from stillflow.variables.listing import local_variables_initializer
from stillflow.variables.readiness import tables_initializer

# ---- Functions of examples, features and predictions to signatures ------------------------------------------


def _check_examples(examples):
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")


@public("contrib.learn.utils.export.generic_signature_fn")
def generic_signature_fn(examples, unused_features, predictions):
    """(a Signature with names for examples and predictions, {}). Raises ValueError without examples."""
    _check_examples(examples)
    named = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return exporter.generic_signature({"inputs": examples, **named}), {}


@public("contrib.learn.utils.export.classification_signature_fn")
def classification_signature_fn(examples, unused_features, predictions):
    """(a Signature of classes, {}). Raises ValueError without examples."""
    _check_examples(examples)
    classes = predictions["classes"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, classes_tensor=classes), {}


@public("contrib.learn.utils.export.classification_signature_fn_with_prob")
def classification_signature_fn_with_prob(examples, unused_features, predictions):
    """(a Signature of the probabilities of classes, {}). Raises ValueError without examples."""
    _check_examples(examples)
    scores = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, scores_tensor=scores), {}


@public("contrib.learn.utils.export.regression_signature_fn")
def regression_signature_fn(examples, unused_features, predictions):
    """(a Signature of numbers, {}). Raises ValueError without examples."""
    _check_examples(examples)
    return exporter.regression_signature(input_tensor=examples, output_tensor=predictions), {}


@public("contrib.learn.utils.export.logistic_regression_signature_fn")
def logistic_regression_signature_fn(examples, unused_features, predictions):
    """(a Signature of the probability of the second of two classes, {}). Raises ValueError without examples."""
    _check_examples(examples)
    found = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    if len(found.shape) != 2 or found.shape[1] != 2:
        log().fatal("Expected predictions of shape [batch, 2], but received predictions of shape: %s", found.shape)
    return exporter.regression_signature(input_tensor=examples, output_tensor=found[:, 1]), {}


# ---- Exports ------------------------------------------------------------------------------------------------


def parse_as_in_training(estimator, examples):
    """The features that training had, out of serialized Examples. Raises ValueError before training."""
    if estimator.features_info is None:
        raise ValueError("Features information missing, was fit() ever called?")
    return create_example_parser_from_signatures(estimator.features_info, examples)


@public("contrib.learn.utils.export_estimator")
def export_estimator(
    estimator, export_dir, signature_fn=None, input_fn=parse_as_in_training, default_batch_size=1,
    exports_to_keep=None,
):  # fmt: skip
    """Writes the newest checkpoint of an estimator with a graph that makes predictions of serialized Examples.

    Args:
      estimator: a tf.contrib.learn.Estimator.
      export_dir: where to make the folder, which is called after the step.
      signature_fn: a function of examples, features and predictions to (a Signature, {name: Signature}).
      input_fn: a function of the estimator and the Examples to features; by default those of training.
      default_batch_size: how many Examples there are; None for any number.
      exports_to_keep: how many exports stay; all by default.
    """
    write_export(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)


def write_export(
    estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep, input_feature_key=None,
    use_deprecated_input_fn=True, prediction_key=None, checkpoint_path=None,
):  # fmt: skip
    """Writes a checkpoint with a graph that makes predictions. Returns the folder's path, as bytes.

    Args: as Estimator.export and export_estimator have them.
    """
    if input_fn is None and not use_deprecated_input_fn:
        raise ValueError("input_fn must be defined.")
    checkpoint_path = checkpoint_path or latest_checkpoint(estimator.model_dir)
    with Graph().as_default() as graph:
        create_global_step(graph)
        if use_deprecated_input_fn:
            examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
            features = (input_fn or parse_as_in_training)(estimator, examples)
        else:
            features, _ = input_fn()
            examples = None if input_feature_key is None else features.pop(input_feature_key)
        if not features and examples is None:
            raise ValueError("Either features or examples must be defined.")
        predictions = estimator.predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        if signature_fn is None:
            log().warning("Without a signature_fn, the export has a generic signature.")
            signature_fn = generic_signature_fn
        default_signature, named_signatures = signature_fn(examples, features, predictions)
        with Session("") as session:
            saver = _saver(graph)
            saver.restore(session, checkpoint_path)
            export = exporter.Exporter(saver)
            export.init(
                init_op=group(local_variables_initializer(), tables_initializer()),
                default_graph_signature=default_signature,
                named_graph_signatures=named_signatures,
                assets_collection=graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            )
            kept = None if exports_to_keep is None else largest_export_versions(exports_to_keep)
            return export.export(export_dir, get_global_step(), session, exports_to_keep=kept)


def _saver(graph):
    found = graph.get_collection(GraphKeys.SAVERS)
    if found:
        return found[0]
    saver = Saver()
    graph.add_to_collection(GraphKeys.SAVERS, saver)
    return saver
