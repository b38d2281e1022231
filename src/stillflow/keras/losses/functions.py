"""Functions of true and predicted values, one loss for each sample."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.normalization import l2_normalize
from stillflow.keras.backend import neural
from stillflow.keras.backend.arithmetic import clip, mean
from stillflow.layers.core.conditions import smart_cond
from stillflow.layers.core.settings import epsilon, floatx
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _pair(y_true, y_pred):
    y_pred = convert_to_tensor(y_pred)
    return ops.cast(y_true, y_pred.dtype), y_pred


@public(
    "keras.metrics.mean_squared_error", "keras.metrics.mse", "keras.metrics.MSE",
    "keras.losses.mean_squared_error", "keras.losses.mse", "keras.losses.MSE",
)  # fmt: skip
def mean_squared_error(y_true, y_pred):
    """The mean of squares of differences."""
    y_true, y_pred = _pair(y_true, y_pred)
    return mean(ops.squared_difference(y_pred, y_true), axis=-1)


@public(
    "keras.metrics.mean_absolute_error", "keras.metrics.mae", "keras.metrics.MAE",
    "keras.losses.mean_absolute_error", "keras.losses.mae", "keras.losses.MAE",
)  # fmt: skip
def mean_absolute_error(y_true, y_pred):
    """The mean of absolute differences."""
    y_true, y_pred = _pair(y_true, y_pred)
    return mean(ops.abs(y_pred - y_true), axis=-1)


@public(
    "keras.metrics.mean_absolute_percentage_error", "keras.metrics.mape", "keras.metrics.MAPE",
    "keras.losses.mean_absolute_percentage_error", "keras.losses.mape", "keras.losses.MAPE",
)  # fmt: skip
def mean_absolute_percentage_error(y_true, y_pred):
    """The mean of absolute differences, in percent of the truth."""
    y_true, y_pred = _pair(y_true, y_pred)
    difference = ops.abs((y_true - y_pred) / clip(ops.abs(y_true), epsilon(), None))
    return 100.0 * mean(difference, axis=-1)


@public(
    "keras.metrics.mean_squared_logarithmic_error", "keras.metrics.msle", "keras.metrics.MSLE",
    "keras.losses.mean_squared_logarithmic_error", "keras.losses.msle", "keras.losses.MSLE",
)  # fmt: skip
def mean_squared_logarithmic_error(y_true, y_pred):
    """The mean of squares of differences of logarithms of 1 + x."""
    y_true, y_pred = _pair(y_true, y_pred)
    first = ops.log(clip(y_pred, epsilon(), None) + 1.0)
    second = ops.log(clip(y_true, epsilon(), None) + 1.0)
    return mean(ops.squared_difference(first, second), axis=-1)


def _signs(y_true):
    """The truth as -1 and 1, also if it is given as 0 and 1."""
    is_zero, is_one = ops.equal(y_true, 0), ops.equal(y_true, 1)
    is_binary = ops.reduce_all(ops.logical_or(is_zero, is_one))
    return smart_cond(is_binary, lambda: 2.0 * y_true - 1.0, lambda: y_true)


@public("keras.metrics.squared_hinge", "keras.losses.squared_hinge")
def squared_hinge(y_true, y_pred):
    """The mean of squares of max(1 - truth * prediction, 0); the truth is -1 or 1, or 0 or 1."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _signs(y_true)
    return mean(ops.square(ops.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


@public("keras.metrics.hinge", "keras.losses.hinge")
def hinge(y_true, y_pred):
    """The mean of max(1 - truth * prediction, 0); the truth is -1 or 1, or 0 or 1."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = _signs(y_true)
    return mean(ops.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


@public("keras.losses.categorical_hinge")
def categorical_hinge(y_true, y_pred):
    """How far the prediction of the true class is from being 1 above that of all others, at least 0."""
    y_true, y_pred = _pair(y_true, y_pred)
    right = ops.reduce_sum(y_true * y_pred, axis=-1)
    wrong = ops.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return ops.maximum(0.0, wrong - right + 1.0)


@public("python.keras.losses.huber_loss")
def huber_loss(y_true, y_pred, delta=1.0):
    """Half the square of the difference; beyond `delta` only delta times its absolute value, less delta^2 / 2."""
    y_pred = ops.cast(y_pred, floatx())
    y_true = ops.cast(y_true, floatx())
    error = ops.abs(ops.sub(y_pred, y_true))
    quadratic = ops.minimum(error, delta)
    linear = ops.sub(error, quadratic)
    half = convert_to_tensor(0.5, dtype=quadratic.dtype)
    return ops.add(ops.mul(half, ops.mul(quadratic, quadratic)), ops.mul(delta, linear))


@public("keras.losses.logcosh")
def logcosh(y_true, y_pred):
    """The mean of logarithms of the hyperbolic cosine of differences."""
    y_true, y_pred = _pair(y_true, y_pred)
    difference = y_pred - y_true
    return mean(difference + ops.softplus(-2.0 * difference) - ops.log(2.0), axis=-1)


@public("keras.metrics.categorical_crossentropy", "keras.losses.categorical_crossentropy")
def categorical_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0):
    """The crossentropy of predicted probabilities with the true ones.

    Args:
      y_true, y_pred: probabilities of classes.
      from_logits: whether `y_pred` are logits.
      label_smoothing: the share of the truth that is distributed evenly over all classes.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    label_smoothing = convert_to_tensor(label_smoothing, dtype=floatx())

    def smoothed():
        count = ops.cast(ops.shape(y_true)[1], y_pred.dtype)
        return y_true * (1.0 - label_smoothing) + label_smoothing / count

    y_true = smart_cond(label_smoothing, smoothed, lambda: y_true)
    return neural.categorical_crossentropy(y_true, y_pred, from_logits=from_logits)


@public("keras.metrics.sparse_categorical_crossentropy", "keras.losses.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(y_true, y_pred, from_logits=False, axis=-1):
    """The crossentropy of predicted probabilities, where the true class is known.

    Args:
      y_true: numbers of classes.
      y_pred: probabilities of classes.
      from_logits: whether `y_pred` are logits.
      axis: the axis of classes.
    """
    return neural.sparse_categorical_crossentropy(y_true, y_pred, from_logits=from_logits, axis=axis)


@public("keras.metrics.binary_crossentropy", "keras.losses.binary_crossentropy")
def binary_crossentropy(y_true, y_pred, from_logits=False, label_smoothing=0):
    """The mean crossentropy of predicted probabilities of yes with the truth, 0 or 1.

    Args:
      y_true, y_pred: the truth, and probabilities.
      from_logits: whether `y_pred` are logits.
      label_smoothing: how far the truth is moved towards 0.5.
    """
    y_true, y_pred = _pair(y_true, y_pred)
    label_smoothing = convert_to_tensor(label_smoothing, dtype=floatx())
    y_true = smart_cond(
        label_smoothing, lambda: y_true * (1.0 - label_smoothing) + 0.5 * label_smoothing, lambda: y_true
    )
    return mean(neural.binary_crossentropy(y_true, y_pred, from_logits=from_logits), axis=-1)


@public(
    "keras.metrics.kullback_leibler_divergence", "keras.metrics.kld", "keras.metrics.KLD",
    "keras.losses.kullback_leibler_divergence", "keras.losses.kld", "keras.losses.KLD",
)  # fmt: skip
def kullback_leibler_divergence(y_true, y_pred):
    """The divergence of predicted from true probabilities. Kullback and Leibler, 1951."""
    y_true, y_pred = _pair(y_true, y_pred)
    y_true = clip(y_true, epsilon(), 1)
    y_pred = clip(y_pred, epsilon(), 1)
    return ops.reduce_sum(y_true * ops.log(y_true / y_pred), axis=-1)


@public("keras.metrics.poisson", "keras.losses.poisson")
def poisson(y_true, y_pred):
    """The mean of prediction - truth * log(prediction)."""
    y_true, y_pred = _pair(y_true, y_pred)
    return mean(y_pred - y_true * ops.log(y_pred + epsilon()), axis=-1)


@public(
    "keras.metrics.cosine_proximity", "keras.metrics.cosine", "keras.losses.cosine_proximity", "keras.losses.cosine",
    "keras.losses.cosine_similarity",
)  # fmt: skip
def cosine_proximity(y_true, y_pred, axis=-1):
    """The cosine of the angle between truth and prediction."""
    y_true = l2_normalize(y_true, axis=axis)
    y_pred = l2_normalize(y_pred, axis=axis)
    return ops.reduce_sum(y_true * y_pred, axis=axis)
