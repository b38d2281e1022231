"""What an exported model of tf.contrib.learn takes and gives: the signatures of its inputs and heads."""

from __future__ import annotations

from stillflow.contrib.learn.modes import PredictionKey, ProblemType
from stillflow.contrib.learn.serving_inputs import InputFnOps
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from stillflow.saver.saved_model.signatures import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)

DEFAULT_INPUT = public(
    "contrib.learn.utils.saved_model_export_utils.DEFAULT_INPUT_ALTERNATIVE_KEY",
    "contrib.learn.python.learn.utils.saved_model_export_utils.DEFAULT_INPUT_ALTERNATIVE_KEY",
)("default_input_alternative")
_DEFAULT_OUTPUT = "default_output_alternative"


@public("contrib.learn.utils.saved_model_export_utils.get_input_alternatives")
def get_input_alternatives(input_ops):
    """({name: {name: tensor that is fed}}, features) of InputFnOps; of (features, labels) nothing is fed.

    Raises ValueError without features.
    """
    features = input_ops[0]
    if not features:
        raise ValueError("Features must be defined.")
    is_fed = isinstance(input_ops, InputFnOps)
    return {DEFAULT_INPUT: input_ops.default_inputs} if is_fed else {}, features


@public("contrib.learn.utils.saved_model_export_utils.get_output_alternatives")
def get_output_alternatives(model_fn_ops, default_output_alternative_key=None):
    """({name of a head: (ProblemType, {name: tensor})}, the head that is served when none is asked for).

    Args:
      model_fn_ops: ModelFnOps; without alternatives their predictions are one.
      default_output_alternative_key: the head, if there are several.

    Raises ValueError for a head that there is not, and for several heads none of which is chosen.
    """
    alternatives, key = model_fn_ops.output_alternatives, default_output_alternative_key
    if not alternatives:
        if key:
            raise ValueError(
                f"Requested default_output_alternative: {key}, but available output_alternatives are: []"
            )
        predictions = model_fn_ops.predictions
        if not isinstance(predictions, dict):
            predictions = {PredictionKey.GENERIC: predictions}
        return {_DEFAULT_OUTPUT: (ProblemType.UNSPECIFIED, predictions)}, _DEFAULT_OUTPUT
    if key and key not in alternatives:
        raise ValueError(
            f"Requested default_output_alternative: {key}, but available output_alternatives are: "
            f"{sorted(alternatives)}"
        )
    if not key and len(alternatives) > 1:
        raise ValueError(
            f"Please specify a default_output_alternative.  Available output_alternatives are: {sorted(alternatives)}"
        )
    return alternatives, key or next(iter(alternatives))


@public("contrib.learn.utils.saved_model_export_utils.build_standardized_signature_def")
def build_standardized_signature_def(input_tensors, output_tensors, problem_type):
    """The SignatureDef of inputs and outputs, {name: tensor}: of classification or regression where it can be one.

    Raises ValueError without inputs, and without outputs.
    """
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    (examples, *others) = input_tensors.values()
    (output, *more) = output_tensors.values()
    is_class = problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION)
    if not others and is_class:
        scores = output_tensors.get(PredictionKey.SCORES)
        scores = output_tensors.get(PredictionKey.PROBABILITIES) if scores is None else scores
        classes = output_tensors.get(PredictionKey.CLASSES)
        classes = None if classes is None or classes.dtype != dtypes.string else classes
        if classes is None and scores is None and not more:
            classes, scores = (output, None) if output.dtype == dtypes.string else (None, output)
        if classes is not None or scores is not None:
            return classification_signature_def(examples, classes, scores)
    if not others and not more and problem_type == ProblemType.LINEAR_REGRESSION:
        return regression_signature_def(examples, output)
    return predict_signature_def(input_tensors, output_tensors)


@public("contrib.learn.utils.saved_model_export_utils.build_all_signature_defs")
def build_all_signature_defs(input_alternatives, output_alternatives, actual_default_output_alternative_key):
    """{"input:output": SignatureDef} of all pairs, and that of the default head by the default name.

    Raises ValueError if nothing is fed by default.
    """
    found = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(inputs, outputs, problem_type)
        for input_key, inputs in input_alternatives.items()
        for output_key, (problem_type, outputs) in output_alternatives.items()
    }
    default_inputs = input_alternatives.get(DEFAULT_INPUT)
    if not default_inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem_type, outputs = output_alternatives[actual_default_output_alternative_key]
    found[DEFAULT_SERVING_SIGNATURE_DEF_KEY] = build_standardized_signature_def(default_inputs, outputs, problem_type)
    return found
