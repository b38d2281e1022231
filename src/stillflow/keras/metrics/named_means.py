"""Means of accuracies and losses, as metrics."""

from __future__ import annotations

from stillflow.keras.losses import functions as losses
from stillflow.keras.metrics import functions
from stillflow.keras.metrics.means import MeanMetricWrapper
from stillflow.names import public


@public("keras.metrics.Accuracy")
class Accuracy(MeanMetricWrapper):
    """How often the prediction is the truth."""

    def __init__(self, name="accuracy", dtype=None):
        super().__init__(functions.accuracy, name, dtype=dtype)


@public("keras.metrics.BinaryAccuracy")
class BinaryAccuracy(MeanMetricWrapper):
    """How often the truth, 0 or 1, is on the side of a threshold where the prediction is."""

    def __init__(self, name="binary_accuracy", dtype=None, threshold=0.5):
        super().__init__(functions.binary_accuracy, name, dtype=dtype, threshold=threshold)


@public("keras.metrics.CategoricalAccuracy")
class CategoricalAccuracy(MeanMetricWrapper):
    """How often the greatest of predictions is that of the true class."""

    def __init__(self, name="categorical_accuracy", dtype=None):
        super().__init__(functions.categorical_accuracy, name, dtype=dtype)


@public("keras.metrics.SparseCategoricalAccuracy")
class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the greatest of predictions is that of the true class, given as a number."""

    def __init__(self, name="sparse_categorical_accuracy", dtype=None):
        super().__init__(functions.sparse_categorical_accuracy, name, dtype=dtype)


@public("keras.metrics.TopKCategoricalAccuracy")
class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the prediction of the true class is among the k greatest."""

    def __init__(self, k=5, name="top_k_categorical_accuracy", dtype=None):
        super().__init__(functions.top_k_categorical_accuracy, name, dtype=dtype, k=k)


@public("keras.metrics.SparseTopKCategoricalAccuracy")
class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the prediction of the true class, given as a number, is among the k greatest."""

    def __init__(self, k=5, name="sparse_top_k_categorical_accuracy", dtype=None):
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)


@public("keras.metrics.CosineSimilarity")
class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between truth and prediction."""

    def __init__(self, name="cosine_similarity", dtype=None, axis=-1):
        super().__init__(losses.cosine_proximity, name, dtype=dtype, axis=axis)


@public("keras.metrics.MeanAbsoluteError")
class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of absolute differences."""

    def __init__(self, name="mean_absolute_error", dtype=None):
        super().__init__(losses.mean_absolute_error, name, dtype=dtype)


@public("keras.metrics.MeanAbsolutePercentageError")
class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of absolute differences, in percent of the truth."""

    def __init__(self, name="mean_absolute_percentage_error", dtype=None):
        super().__init__(losses.mean_absolute_percentage_error, name, dtype=dtype)


@public("keras.metrics.MeanSquaredError")
class MeanSquaredError(MeanMetricWrapper):
    """The mean of squares of differences."""

    def __init__(self, name="mean_squared_error", dtype=None):
        super().__init__(losses.mean_squared_error, name, dtype=dtype)


@public("keras.metrics.MeanSquaredLogarithmicError")
class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of squares of differences of logarithms of 1 + x."""

    def __init__(self, name="mean_squared_logarithmic_error", dtype=None):
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype=dtype)


@public("keras.metrics.Hinge")
class Hinge(MeanMetricWrapper):
    """The mean of max(1 - truth * prediction, 0)."""

    def __init__(self, name="hinge", dtype=None):
        super().__init__(losses.hinge, name, dtype=dtype)


@public("keras.metrics.SquaredHinge")
class SquaredHinge(MeanMetricWrapper):
    """The mean of squares of max(1 - truth * prediction, 0)."""

    def __init__(self, name="squared_hinge", dtype=None):
        super().__init__(losses.squared_hinge, name, dtype=dtype)


@public("keras.metrics.CategoricalHinge")
class CategoricalHinge(MeanMetricWrapper):
    """How far the true class is from being 1 above all others."""

    def __init__(self, name="categorical_hinge", dtype=None):
        super().__init__(losses.categorical_hinge, name, dtype=dtype)


@public("keras.metrics.LogCoshError")
class LogCoshError(MeanMetricWrapper):
    """The mean of logarithms of the hyperbolic cosine of differences."""

    def __init__(self, name="logcosh", dtype=None):
        super().__init__(losses.logcosh, name, dtype=dtype)


@public("keras.metrics.Poisson")
class Poisson(MeanMetricWrapper):
    """The mean of prediction - truth * log(prediction)."""

    def __init__(self, name="poisson", dtype=None):
        super().__init__(losses.poisson, name, dtype=dtype)


@public("keras.metrics.KLDivergence")
class KLDivergence(MeanMetricWrapper):
    """The divergence of predicted from true probabilities."""

    def __init__(self, name="kullback_leibler_divergence", dtype=None):
        super().__init__(losses.kullback_leibler_divergence, name, dtype=dtype)


@public("keras.metrics.BinaryCrossentropy")
class BinaryCrossentropy(MeanMetricWrapper):
    """The crossentropy of probabilities of yes."""

    def __init__(self, name="binary_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        super().__init__(
            losses.binary_crossentropy, name, dtype=dtype, from_logits=from_logits, label_smoothing=label_smoothing
        )


@public("keras.metrics.CategoricalCrossentropy")
class CategoricalCrossentropy(MeanMetricWrapper):
    """The crossentropy of probabilities of classes."""

    def __init__(self, name="categorical_crossentropy", dtype=None, from_logits=False, label_smoothing=0):
        super().__init__(
            losses.categorical_crossentropy,
            name,
            dtype=dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


@public("keras.metrics.SparseCategoricalCrossentropy")
class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The crossentropy where true classes are known."""

    def __init__(self, name="sparse_categorical_crossentropy", dtype=None, from_logits=False, axis=-1):
        super().__init__(
            losses.sparse_categorical_crossentropy, name, dtype=dtype, from_logits=from_logits, axis=axis
        )
