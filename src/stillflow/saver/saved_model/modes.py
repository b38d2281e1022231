"""tf.estimator.ModeKeys: what a model is built for; the words of Estimator and those of Keras."""

from __future__ import annotations

import collections.abc

from stillflow.names import public


@public("python.saved_model.model_utils.mode_keys.KerasModeKeys", "python.keras.utils.mode_keys.ModeKeys")
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


@public("python.saved_model.model_utils.mode_keys.ModeKeyMap")
class ModeKeyMap(collections.abc.Mapping):
    """Values by mode, in the words of Estimator or of Keras. They cannot be changed."""

    def __init__(self, **kwargs):
        """Raises ValueError for what is no mode, and for two values of one mode."""
        self._keys = list(kwargs)
        self._values: dict = {}
        for given, value in kwargs.items():
            key = self._key(given)
            if key in self._values:
                raise ValueError(f"Error creating ModeKeyMap. Multiple keys/values found for {key} mode.")
            self._values[key] = value

    @staticmethod
    def _key(mode):
        for key, is_mode in (
            (KerasModeKeys.TRAIN, is_train), (KerasModeKeys.TEST, is_eval), (KerasModeKeys.PREDICT, is_predict)
        ):  # fmt: skip
            if is_mode(mode):
                return key
        raise ValueError(f"Invalid mode key: {mode}.")

    def __getitem__(self, key):
        return self._values[self._key(key)]

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)
