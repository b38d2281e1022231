"""Multinomial: counts of classes in several draws."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import distributions as random_composites
from stillflow.composites.checks import assert_equal
from stillflow.composites.functional import map_fn
from stillflow.distributions.argument_checks import (
    check_nonnegative_integers,
    get_logits_and_probs,
    log_combinations,
)
from stillflow.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("distributions.Multinomial", "contrib.distributions.Multinomial")
class Multinomial(Distribution):
    """Counts of classes in `total_count` independent draws.

    Args:
      total_count: the number of draws, a scalar or one for each distribution, of the probabilities' type.
      logits: unnormalized logarithms of probabilities, classes along the last dimension; or
      probs: probabilities that sum to 1 along the last dimension.
      validate_args: whether they and values are checked.
      allow_nan_stats: see Distribution.
      name: the name scope.

    Raises:
      ValueError: if both logits and probs are given, or none.
    """

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = check_nonnegative_integers(self._total_count)
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            self._mean_value = self._total_count[..., None] * self._probs
        super().__init__(
            self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._total_count, self._logits, self._probs], name,
        )  # fmt: skip

    @property
    def total_count(self):
        """The number of draws."""
        return self._total_count

    @property
    def logits(self):
        """Unnormalized logarithms of probabilities."""
        return self._logits

    @property
    def probs(self):
        """The probabilities of classes."""
        return self._probs

    def _batch_shape_tensor(self):
        return ops.shape(self._mean_value)[:-1]

    def _batch_shape(self):
        return self._mean_value.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self):
        return ops.shape(self._mean_value)[-1:]

    def _event_shape(self):
        return self._mean_value.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n, seed=None):
        draws = ops.cast(self.total_count, dtypes.int32)
        classes = self.event_shape_tensor()[0]
        draws = ops.ones_like(self.logits[..., 0], draws.dtype) * draws
        logits = ops.ones_like(draws[..., None], self.logits.dtype) * self.logits
        flat_logits = ops.reshape(logits, [-1, classes])
        flat_draws = n * ops.reshape(draws, [-1])

        def counts_of_one(arguments):
            logits, draws = arguments
            drawn = random_composites.multinomial(logits[None, ...], draws, seed)
            return ops.reduce_sum(ops.one_hot(ops.reshape(drawn, [n, -1]), classes), axis=-2)

        counts = map_fn(counts_of_one, [flat_logits, flat_draws], dtype=self.dtype)
        counts = ops.transpose(counts, perm=[1, 0, 2])
        return ops.reshape(counts, ops.concat([[n], self.batch_shape_tensor(), [classes]], 0))

    def _log_prob(self, value):
        return self._log_unnormalized_prob(value) - self._log_normalization(value)

    def _log_unnormalized_prob(self, value):
        value = self._checked_sample(value)
        return ops.reduce_sum(value * ops.log_softmax(self.logits), -1)

    def _log_normalization(self, value):
        value = self._checked_sample(value)
        return -log_combinations(self.total_count, value)

    def _mean(self):
        return ops.identity(self._mean_value)

    def _full_probs(self):
        return self.probs * ops.ones_like(self.total_count)[..., None]

    def _covariance(self):
        probs = self._full_probs()
        return ops.matrix_set_diag(
            -ops.matmul(self._mean_value[..., None], probs[..., None, :]), self._variance()
        )  # fmt: skip

    def _variance(self):
        probs = self._full_probs()
        return self._mean_value - self._mean_value * probs

    def _checked_sample(self, value):
        if not self.validate_args:
            return value
        value = check_nonnegative_integers(value)
        message = "counts must sum to `self.total_count`"
        return with_dependencies(
            [assert_equal(self.total_count, ops.reduce_sum(value, -1), message=message)], value
        )  # fmt: skip
