"""Distributions of classes as vectors: OneHotCategorical, RelaxedOneHotCategorical, RelaxedBernoulli."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.cross_entropy import softmax_cross_entropy_with_logits
from stillflow.composites.distributions import multinomial
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.elementwise import Exp, Sigmoid
from stillflow.contrib.distributions.continuous import Logistic
from stillflow.contrib.distributions.transformed import TransformedDistribution
from stillflow.distributions.argument_checks import get_logits_and_probs
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution
from stillflow.distributions.divergence import RegisterKL
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


class _OfClasses(Distribution):
    """A distribution of vectors, of which there is a number for each class."""

    _logits: Any
    _probs: Any

    def _take(self, logits, probs, validate_args, name):
        self._logits, self._probs = get_logits_and_probs(
            logits, probs, multidimensional=True, validate_args=validate_args, name=name
        )

    def _take_sizes(self):
        rank = self._logits.shape.with_rank_at_least(1).ndims
        if rank is None:
            with name_scope("batch_rank"):
                self._batch_rank = ops.rank(self._logits) - 1
        else:
            self._batch_rank = convert_to_tensor(rank - 1, dtype=dtypes.int32, name="batch_rank")
        with name_scope("event_size"):
            self._event_size = ops.shape(self._logits)[-1]

    @property
    def logits(self):
        """Unnormalized logarithms of probabilities."""
        return self._logits

    @property
    def probs(self):
        """The probabilities of classes."""
        return self._probs

    @property
    def event_size(self):
        """The number of classes."""
        return self._event_size

    def _batch_shape_tensor(self):
        return ops.shape(self.logits)[:-1]

    def _batch_shape(self):
        return self.logits.shape[:-1]

    def _event_shape_tensor(self):
        return ops.shape(self.logits)[-1:]

    def _event_shape(self):
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _rows(self, tensor):
        return ops.reshape(tensor, [-1, self._event_size])

    def _with_value_shapes(self, value):
        """(logits, value), broadcast to the shape of both."""
        logits = self.logits
        are_known = logits.shape.is_fully_defined() and value.shape.is_fully_defined()
        if not are_known or logits.shape != value.shape:
            logits = ops.ones_like(value, dtype=logits.dtype) * logits
            value = ops.ones_like(logits, dtype=value.dtype) * value
        return logits, value


@public("contrib.distributions.OneHotCategorical")
class OneHotCategorical(_OfClasses):
    """The categorical distribution, of vectors that are 1 at a class and 0 elsewhere.

    Args:
      logits: unnormalized logarithms of probabilities, classes along the last dimension; or
      probs: probabilities that sum to 1.
      dtype: the type of samples.
      validate_args: whether probabilities, and values, are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self,
        logits=None,
        probs=None,
        dtype=dtypes.int32,
        validate_args=False,
        allow_nan_stats=True,
        name="OneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._take(logits, probs, validate_args, name)
            self._take_sizes()
        parents = [self._logits, self._probs]
        super().__init__(dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], ops.shape(self.logits)], 0)
        rows = self.logits if self.logits.shape.ndims == 2 else self._rows(self.logits)
        numbers = ops.transpose(multinomial(rows, n, seed=seed))
        return ops.reshape(ops.one_hot(numbers, self._event_size, dtype=self.dtype), shape)

    def _log_prob(self, value):
        if self.validate_args:
            total = ops.reduce_sum(value, axis=[-1])
            value = with_dependencies([checks.assert_near(ops.ones([], total.dtype), total)], value)
        logits, value = self._with_value_shapes(value)
        shape = ops.shape(ops.reduce_sum(logits, -1))
        rows = self._rows(logits)
        return ops.reshape(-softmax_cross_entropy_with_logits(labels=self._rows(value), logits=rows), shape)

    def _entropy(self):
        return -ops.reduce_sum(ops.log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self):
        found = ops.one_hot(ops.argmax(self.logits, axis=self._batch_rank), self._event_size, dtype=self.dtype)
        found.set_shape(self.logits.shape)
        return found

    def _covariance(self):
        p = self.probs
        return ops.matrix_set_diag(-ops.matmul(p[..., None], p[..., None, :]), self._variance())

    def _variance(self):
        return self.probs * (1.0 - self.probs)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _divergence(a, b, name=None):
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        probs = ops.softmax(a.logits)
        return ops.reduce_sum(probs * (ops.log_softmax(a.logits) - ops.log_softmax(b.logits)), axis=-1)


@public("contrib.distributions.ExpRelaxedOneHotCategorical")
class ExpRelaxedOneHotCategorical(_OfClasses):
    """The distribution of the logarithms of a RelaxedOneHotCategorical.

    Args:
      temperature: positive numbers; the lower, the nearer to one-hot.
      logits: unnormalized logarithms of probabilities, classes along the last dimension; or
      probs: probabilities that sum to 1.
      dtype: the type of samples; by default that of the parameters.
      validate_args: whether parameters and values are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="ExpRelaxedOneHotCategorical",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._take(logits, probs, validate_args, name)
            if dtype is None:
                dtype = self._logits.dtype
                if not validate_args:
                    temperature = ops.cast(temperature, dtype)
            with control_dependencies([checks.assert_positive(temperature)] if validate_args else []):
                self._temperature = ops.identity(temperature, name="temperature")
                self._temperature_rows = ops.reshape(temperature, [-1, 1], name="temperature_2d")
            self._take_sizes()
        parents = [self._logits, self._probs, self._temperature]
        super().__init__(dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, parents, name)

    @property
    def temperature(self):
        """How far from one-hot samples are."""
        return self._temperature

    def _sample_n(self, n, seed=None):
        shape = ops.concat([[n], ops.shape(self.logits)], 0)
        rows = self._rows(self.logits * ops.ones(shape, dtype=self.dtype))
        # 0 would give infinity; the smallest normal number does not.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform = random_uniform(ops.shape(rows), smallest, 1.0, self.dtype, seed)
        noisy = ops.div(-ops.log(-ops.log(uniform)) + rows, self._temperature_rows)
        return ops.reshape(ops.log_softmax(noisy), shape)

    def _log_prob(self, value):
        if self.validate_args:
            is_negative = checks.assert_non_positive(value)
            zero, total = ops.zeros([], dtype=self.dtype), reduce_logsumexp(value, axis=[-1])
            value = with_dependencies([is_negative, checks.assert_near(zero, total)], value)
        logits, value = self._with_value_shapes(value)
        shape = ops.shape(ops.reduce_sum(logits, axis=[-1]))
        rows, value_rows = self._rows(logits), self._rows(value)
        classes = ops.cast(self._event_size, value.dtype)
        constant = ops.lgamma(classes) + (classes - 1.0) * ops.log(self.temperature)
        unnormalized = ops.reduce_sum(
            ops.log_softmax(rows - value_rows * self._temperature_rows), [-1], keepdims=False
        )
        return ops.reshape(constant + unnormalized, shape)


@public("contrib.distributions.RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(TransformedDistribution):
    """softmax((logits + Gumbel noise) / temperature), with gradients by the parameters (the concrete distribution).

    The arguments are as in ExpRelaxedOneHotCategorical.
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        dtype=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedOneHotCategorical",
    ):
        relaxed = ExpRelaxedOneHotCategorical(
            temperature, logits, probs, dtype, validate_args=validate_args, allow_nan_stats=allow_nan_stats
        )
        super().__init__(relaxed, Exp(), name=name)


@public("contrib.distributions.RelaxedBernoulli")
class RelaxedBernoulli(TransformedDistribution):
    """sigmoid((logits + logistic noise) / temperature), with gradients by the parameters.

    Args:
      temperature: positive numbers; the lower, the nearer to 0 and 1.
      logits: log(probs / (1 - probs)); or
      probs: the probabilities of 1.
      validate_args: whether parameters are checked.
      allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self,
        temperature,
        logits=None,
        probs=None,
        validate_args=False,
        allow_nan_stats=True,
        name="RelaxedBernoulli",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with control_dependencies([checks.assert_positive(temperature)] if validate_args else []):
                self._temperature = ops.identity(temperature, name="temperature")
            self._logits, self._probs = get_logits_and_probs(logits=logits, probs=probs, validate_args=validate_args)
            noise = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name + "/Logistic",
            )
            bijector = Sigmoid(validate_args=validate_args)
            super().__init__(noise, bijector, validate_args=validate_args, name=name)
        self._parameters = parameters

    @property
    def temperature(self):
        """How far from 0 and 1 samples are."""
        return self._temperature

    @property
    def logits(self):
        """The logarithm of the odds of 1."""
        return self._logits

    @property
    def probs(self):
        """The probability of 1."""
        return self._probs
