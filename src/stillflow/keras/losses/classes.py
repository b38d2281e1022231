"""Losses as objects: a function with its arguments, and what becomes of the losses of single samples."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.replica_modes import is_distributed
from stillflow.keras.backend.values import get_value
from stillflow.keras.losses import functions
from stillflow.keras.losses.reductions import Reduction, compute_weighted_loss
from stillflow.names import public
from stillflow.variables.variable import Variable


@public("keras.losses.Loss")
class Loss:
    """A loss. Subclasses have `call`, which computes the losses of single samples.

    Args:
      reduction: a tf.keras.losses.Reduction, what becomes of these.
      name: a name.

    Raises:
      ValueError: for an unknown reduction.
    """

    def __init__(self, reduction=Reduction.AUTO, name=None):
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of predictions, weighted and reduced."""
        scope = "lambda" if self.name == "<lambda>" else self.name
        with name_scope(scope or type(self).__name__):
            losses = self.call(y_true, y_pred)
            return compute_weighted_loss(losses, sample_weight, reduction=self._get_reduction())

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        return {"reduction": self.reduction, "name": self.name}

    def call(self, y_true, y_pred):
        """Computes the losses of single samples."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def _get_reduction(self):
        """The reduction, the mean for AUTO. Raises ValueError for means in the scopes of strategies."""
        if self.reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE) and is_distributed():
            raise ValueError(
                "Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction "
                "when losses are used with `tf.distribute.Strategy` outside of the built-in training loops. You can "
                "implement `tf.keras.losses.Reduction.SUM_OVER_BATCH_SIZE` using global batch size."
            )
        return Reduction.SUM_OVER_BATCH_SIZE if self.reduction == Reduction.AUTO else self.reduction


@public("python.keras.losses.LossFunctionWrapper")
class LossFunctionWrapper(Loss):
    """A loss that a function computes, with further arguments."""

    def __init__(self, fn, reduction=Reduction.AUTO, name=None, **kwargs):
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true, y_pred):
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        return {**super().get_config(), **plain_arguments(self._fn_kwargs)}


def plain_arguments(arguments):
    """Arguments of a function, tensors among them by their values."""
    return {
        key: get_value(value) if isinstance(value, (Tensor, Variable)) else value for key, value in arguments.items()
    }


@public("keras.losses.MeanSquaredError")
class MeanSquaredError(LossFunctionWrapper):
    """The mean of squares of differences."""

    def __init__(self, reduction=Reduction.AUTO, name="mean_squared_error"):
        super().__init__(functions.mean_squared_error, name=name, reduction=reduction)


@public("keras.losses.MeanAbsoluteError")
class MeanAbsoluteError(LossFunctionWrapper):
    """The mean of absolute differences."""

    def __init__(self, reduction=Reduction.AUTO, name="mean_absolute_error"):
        super().__init__(functions.mean_absolute_error, name=name, reduction=reduction)


@public("keras.losses.MeanAbsolutePercentageError")
class MeanAbsolutePercentageError(LossFunctionWrapper):
    """The mean of absolute differences, in percent of the truth."""

    def __init__(self, reduction=Reduction.AUTO, name="mean_absolute_percentage_error"):
        super().__init__(functions.mean_absolute_percentage_error, name=name, reduction=reduction)


@public("keras.losses.MeanSquaredLogarithmicError")
class MeanSquaredLogarithmicError(LossFunctionWrapper):
    """The mean of squares of differences of logarithms of 1 + x."""

    def __init__(self, reduction=Reduction.AUTO, name="mean_squared_logarithmic_error"):
        super().__init__(functions.mean_squared_logarithmic_error, name=name, reduction=reduction)


@public("keras.losses.BinaryCrossentropy")
class BinaryCrossentropy(LossFunctionWrapper):
    """The crossentropy of probabilities of yes; see `binary_crossentropy`."""

    def __init__(self, from_logits=False, label_smoothing=0, reduction=Reduction.AUTO, name="binary_crossentropy"):
        super().__init__(
            functions.binary_crossentropy, name=name, reduction=reduction, from_logits=from_logits,
            label_smoothing=label_smoothing,
        )  # fmt: skip
        self.from_logits = from_logits


@public("keras.losses.CategoricalCrossentropy")
class CategoricalCrossentropy(LossFunctionWrapper):
    """The crossentropy of probabilities of classes; see `categorical_crossentropy`."""

    def __init__(
        self, from_logits=False, label_smoothing=0, reduction=Reduction.AUTO, name="categorical_crossentropy"
    ):
        super().__init__(
            functions.categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits,
            label_smoothing=label_smoothing,
        )  # fmt: skip


@public("keras.losses.SparseCategoricalCrossentropy")
class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """The crossentropy where true classes are known; see `sparse_categorical_crossentropy`."""

    def __init__(self, from_logits=False, reduction=Reduction.AUTO, name="sparse_categorical_crossentropy"):
        super().__init__(
            functions.sparse_categorical_crossentropy, name=name, reduction=reduction, from_logits=from_logits
        )


@public("keras.losses.Hinge")
class Hinge(LossFunctionWrapper):
    """The mean of max(1 - truth * prediction, 0)."""

    def __init__(self, reduction=Reduction.AUTO, name="hinge"):
        super().__init__(functions.hinge, name=name, reduction=reduction)


@public("keras.losses.SquaredHinge")
class SquaredHinge(LossFunctionWrapper):
    """The mean of squares of max(1 - truth * prediction, 0)."""

    def __init__(self, reduction=Reduction.AUTO, name="squared_hinge"):
        super().__init__(functions.squared_hinge, name=name, reduction=reduction)


@public("keras.losses.CategoricalHinge")
class CategoricalHinge(LossFunctionWrapper):
    """How far the true class is from being 1 above all others."""

    def __init__(self, reduction=Reduction.AUTO, name="categorical_hinge"):
        super().__init__(functions.categorical_hinge, name=name, reduction=reduction)


@public("keras.losses.Poisson")
class Poisson(LossFunctionWrapper):
    """The mean of prediction - truth * log(prediction)."""

    def __init__(self, reduction=Reduction.AUTO, name="poisson"):
        super().__init__(functions.poisson, name=name, reduction=reduction)


@public("keras.losses.LogCosh")
class LogCosh(LossFunctionWrapper):
    """The mean of logarithms of the hyperbolic cosine of differences."""

    def __init__(self, reduction=Reduction.AUTO, name="logcosh"):
        super().__init__(functions.logcosh, name=name, reduction=reduction)


@public("keras.losses.KLDivergence")
class KLDivergence(LossFunctionWrapper):
    """The divergence of predicted from true probabilities."""

    def __init__(self, reduction=Reduction.AUTO, name="kullback_leibler_divergence"):
        super().__init__(functions.kullback_leibler_divergence, name=name, reduction=reduction)


@public("keras.losses.Huber")
class Huber(LossFunctionWrapper):
    """Half the square of differences, which beyond `delta` goes on as a straight line."""

    def __init__(self, delta=1.0, reduction=Reduction.AUTO, name="huber_loss"):
        super().__init__(functions.huber_loss, name=name, reduction=reduction, delta=delta)


@public("keras.losses.CosineSimilarity")
class CosineSimilarity(LossFunctionWrapper):
    """The cosine of the angle between truth and prediction."""

    def __init__(self, axis=-1, reduction=Reduction.AUTO, name="cosine_similarity"):
        super().__init__(functions.cosine_proximity, reduction=reduction, name=name, axis=axis)
