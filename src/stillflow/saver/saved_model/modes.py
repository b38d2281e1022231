"""tf.estimator.ModeKeys: what a model is built for; the words of Estimator and those of Keras."""

from __future__ import annotations

from stillflow.names import public


@public("python.saved_model.model_utils.mode_keys.KerasModeKeys")
class KerasModeKeys:
    """What Keras calls the modes."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


@public("estimator.ModeKeys", "python.saved_model.model_utils.mode_keys.EstimatorModeKeys")
class EstimatorModeKeys:
    """What a model function is called for: to train, to be evaluated, or to predict."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@public("python.saved_model.model_utils.mode_keys.is_predict")
def is_predict(mode):
    """Whether a mode is that of predictions, in either language."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


@public("python.saved_model.model_utils.mode_keys.is_eval")
def is_eval(mode):
    """Whether a mode is that of evaluations."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


@public("python.saved_model.model_utils.mode_keys.is_train")
def is_train(mode):
    """Whether a mode is that of training."""
    return mode in (KerasModeKeys.TRAIN, EstimatorModeKeys.TRAIN)
