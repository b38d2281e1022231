"""Categorical: one of several classes, by logits or probabilities."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import sparse_softmax_cross_entropy_with_logits
from stillflow.composites.distributions import multinomial
from stillflow.distributions.argument_checks import (
    check_casting_is_exact,
    check_number_of_classes,
    get_logits_and_probs,
)
from stillflow.distributions.distribution import NOT_REPARAMETERIZED
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _broadcast(event, parameters, dtype):
    """Classes, and parameters of the distributions that they are of, with one row of parameters for each class.

    Raises TypeError for classes that are neither integers nor floats.
    """
    if event.dtype.is_floating:
        event = ops.cast(event, dtypes.int32)
    elif not event.dtype.is_integer:
        raise TypeError(f"`value` should have integer `dtype` or `self.dtype` ({dtype})")
    are_known = (
        parameters.shape.ndims is not None
        and parameters.shape[:-1].is_fully_defined()
        and event.shape.is_fully_defined()
    )
    if not are_known or parameters.shape[:-1] != event.shape:
        parameters = parameters * ops.ones_like(event[..., None], parameters.dtype)
        shape = ops.shape(parameters)[:-1]
        event = event * ops.ones(shape, event.dtype)
        if parameters.shape.ndims is not None:
            event.set_shape(parameters.shape[:-1])
    return event, parameters


@public("distributions.Categorical", "contrib.distributions.Categorical")
class Categorical(ScalarDistribution):
    """The categorical distribution: class i with probability probs[..., i].

    Args:
      logits: unnormalized logarithms of probabilities, classes along the last dimension; or
      probs: probabilities that sum to 1 along the last dimension.
      dtype: the type of samples.
      validate_args: whether probabilities and values are checked.
      allow_nan_stats: see Distribution.
      name: the name scope.

    Raises:
      ValueError: if both logits and probs are given, or none; and for scalars.
    """

    PARAMETERS = ("logits",)

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True,
        name="Categorical",
    ):  # fmt: skip
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            if validate_args:
                self._logits = check_number_of_classes(self._logits)
            self._note_sizes()
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], name
        )

    def _note_sizes(self):
        """Makes tensors of the batch's rank and shape and the number of classes, constants where they are known."""
        shape = self._logits.shape.with_rank_at_least(1)
        if shape.ndims is not None:
            self._batch_rank = convert_to_tensor(shape.ndims - 1, dtypes.int32, "batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = ops.rank(self._logits) - 1
        logits_shape = ops.shape(self._logits, name="logits_shape")
        classes = dimension_value(shape[-1])
        if classes is not None:
            self._event_size = convert_to_tensor(classes, dtypes.int32, "event_size")
        else:
            with name_scope("event_size"):
                self._event_size = logits_shape[self._batch_rank]
        if shape[:-1].is_fully_defined():
            self._batch_shape_value = ops.constant(shape[:-1].as_list(), dtypes.int32, name="batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_shape_value = logits_shape[:-1]

    @classmethod
    def _param_shapes(cls, sample_shape):
        raise NotImplementedError("_param_shapes not implemented")

    @property
    def event_size(self):
        """The number of classes."""
        return self._event_size

    @property
    def logits(self):
        """Unnormalized logarithms of probabilities."""
        return self._logits

    @property
    def probs(self):
        """The probabilities of classes."""
        return self._probs

    def _batch_shape_tensor(self):
        return ops.identity(self._batch_shape_value)

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _sample_n(self, n, seed=None):
        logits = self.logits if self.logits.shape.ndims == 2 else ops.reshape(self.logits, [-1, self.event_size])
        dtype = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        draws = multinomial(logits, n, seed=seed, output_dtype=dtype)
        draws = ops.reshape(ops.transpose(draws), ops.concat([[n], self.batch_shape_tensor()], 0))
        return ops.cast(draws, self.dtype)

    def _checked_value(self, value):
        value = convert_to_tensor(value, name="k")
        return check_casting_is_exact(value, dtypes.int32) if self.validate_args else value

    def _cdf(self, value):
        value, probs = _broadcast(self._checked_value(value), self.probs, self.dtype.base_dtype)
        rows = ops.reshape(probs, (-1, self._event_size))
        is_below = ops.sequence_mask(ops.reshape(value, [-1]), self._event_size)
        below = ops.where(is_below, rows, ops.zeros_like(rows))
        return ops.reshape(ops.reduce_sum(below, axis=-1), ops.shape(value))

    def _log_prob(self, value):
        value, logits = _broadcast(self._checked_value(value), self.logits, self.dtype.base_dtype)
        return -sparse_softmax_cross_entropy_with_logits(labels=value, logits=logits)

    def _entropy(self):
        return -ops.reduce_sum(ops.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        mode = ops.cast(ops.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


@RegisterKL(Categorical, Categorical)
def _divergence(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ratio = ops.log_softmax(a.logits) - ops.log_softmax(b.logits)
        return ops.reduce_sum(ops.softmax(a.logits) * ratio, axis=-1)
