"""DirichletMultinomial: counts of classes whose probabilities are themselves random."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_positive
from stillflow.composites.distributions import multinomial, random_gamma
from stillflow.composites.special import lbeta
from stillflow.distributions.argument_checks import (
    check_nonnegative_integers,
    check_number_of_classes,
    log_combinations,
)
from stillflow.distributions.dirichlet import ConcentratedClasses
from stillflow.distributions.distribution import NOT_REPARAMETERIZED
from stillflow.distributions.seeds import derived_seed
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _checked_concentration(concentration, validate_args):
    if not validate_args:
        return concentration
    concentration = check_number_of_classes(concentration)
    message = "Concentration parameter must be positive."
    return with_dependencies([assert_positive(concentration, message=message)], concentration)


@public("distributions.DirichletMultinomial", "contrib.distributions.DirichletMultinomial")
class DirichletMultinomial(ConcentratedClasses):
    """Counts of `total_count` draws of classes with probabilities that a Dirichlet distribution gave.

    Args:
      total_count: the number of draws, a scalar or one for each distribution, of the concentration's type.
      concentration: that of the Dirichlet distribution.
      validate_args: whether they and values are checked.
      allow_nan_stats: see Distribution.
      name: the name scope.
    """

    def __init__(
        self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"
    ):
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = check_nonnegative_integers(self._total_count)
            self._concentration = _checked_concentration(
                convert_to_tensor(concentration, name="concentration"), validate_args
            )
            self._total_concentration = ops.reduce_sum(self._concentration, -1)
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._total_count, self._concentration], name,
        )  # fmt: skip

    @property
    def total_count(self):
        """The number of draws."""
        return self._total_count

    def _sample_n(self, n, seed=None):
        draws = ops.cast(self.total_count, dtypes.int32)
        classes = self.event_shape_tensor()[0]
        gamma = random_gamma([n], self.concentration, dtype=self.dtype, seed=seed)
        logits = ops.reshape(ops.log(gamma), [-1, classes])
        drawn = multinomial(logits, draws, derived_seed(seed, "dirichlet_multinomial"))
        counts = ops.reduce_sum(ops.one_hot(drawn, classes), -2)
        counts = ops.reshape(counts, ops.concat([[n], self.batch_shape_tensor(), [classes]], 0))
        return ops.cast(counts, self.dtype)

    def _log_prob(self, value):
        value = self._checked_sample(value)
        ordered = lbeta(self.concentration + value) - lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, value)

    def _mean(self):
        return self.total_count * (self.concentration / self.total_concentration[..., None])

    def _variance(self):
        scale = self._variance_scale()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)

    def _variance_scale(self):
        total = self.total_concentration[..., None]
        return ops.sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _checked_sample(self, value):
        if not self.validate_args:
            return value
        value = check_nonnegative_integers(value)
        message = "counts last-dimension must sum to `self.total_count`"
        return with_dependencies(
            [assert_equal(self.total_count, ops.reduce_sum(value, -1), message=message)], value
        )  # fmt: skip
