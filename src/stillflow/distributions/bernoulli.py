"""Bernoulli: a coin toss, by logits or probabilities."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import sigmoid_cross_entropy_with_logits
from stillflow.distributions.argument_checks import check_casting_is_exact, get_logits_and_probs
from stillflow.distributions.distribution import NOT_REPARAMETERIZED
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.random.sampling import random_uniform


@public("distributions.Bernoulli", "contrib.distributions.Bernoulli")
class Bernoulli(ScalarDistribution):
    """The Bernoulli distribution: 1 with probability `probs`, else 0.

    Args:
      logits: log(probs / (1 - probs)); or
      probs: the probabilities, of floats.
      dtype: the type of samples.
      validate_args: whether probabilities and values are checked.
      allow_nan_stats: see Distribution.
      name: the name scope.

    Raises:
      ValueError: if both logits and probs are given, or none.
    """

    PARAMETERS = ("logits",)

    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Bernoulli"
    ):
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = get_logits_and_probs(logits, probs, validate_args=validate_args, name=name)
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, [self._logits, self._probs], name
        )

    @property
    def logits(self):
        """The logarithm of the odds of 1."""
        return self._logits

    @property
    def probs(self):
        """The probability of 1."""
        return self._probs

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], self.batch_shape_tensor()], 0)
        uniform = random_uniform(shape, dtype=self.probs.dtype, seed=seed)
        return ops.cast(ops.less(uniform, self.probs), self.dtype)

    def _log_prob(self, value):
        if self.validate_args:
            value = check_casting_is_exact(value, dtypes.bool_)
        value, logits = ops.cast(value, self.logits.dtype), self.logits
        same = value.shape.is_fully_defined() and logits.shape.is_fully_defined() and value.shape == logits.shape
        if not same:
            logits, value = ops.ones_like(value) * logits, ops.ones_like(logits) * value
        return -sigmoid_cross_entropy_with_logits(labels=value, logits=logits)

    def _entropy(self):
        return -self.logits * (ops.sigmoid(self.logits) - 1) + ops.softplus(-self.logits)

    def _mean(self):
        return ops.identity(self.probs)

    def _variance(self):
        return self._mean() * (1.0 - self.probs)

    def _mode(self):
        return ops.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _divergence(a, b, name=None):
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        of_ones = ops.softplus(-b.logits) - ops.softplus(-a.logits)
        of_zeros = ops.softplus(b.logits) - ops.softplus(a.logits)
        return ops.sigmoid(a.logits) * of_ones + ops.sigmoid(-a.logits) * of_zeros
