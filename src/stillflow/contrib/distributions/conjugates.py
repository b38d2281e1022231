"""What observations of known deviation say of a mean that is normal a priori."""

from __future__ import annotations

from stillflow import ops
from stillflow.distributions.normal import Normal
from stillflow.names import public


def _moments(prior, scale, s, n):
    """(mean, variance) of the mean after the observations, variance of an observation.

    Raises TypeError if the prior is not normal or the types differ.
    """
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    n = ops.cast(n, prior.dtype)
    before, of_one = ops.square(prior.scale), ops.square(scale)
    after = 1.0 / (1 / before + n / of_one)
    return (prior.loc / before + s / of_one) * after, after, of_one


@public("contrib.distributions.normal_conjugates_known_scale_posterior")
def normal_conjugates_known_scale_posterior(prior, scale, s, n):
    """The distribution of the mean of normal numbers, after n of them with the sum s were seen.

    Args:
      prior: a Normal, of the mean before.
      scale: the standard deviation of the numbers.
      s: their sum.
      n: how many they are, an integer tensor.

    Raises TypeError if the prior is not normal, or s of another type.
    """
    mean, variance, _ = _moments(prior, scale, s, n)
    return Normal(loc=mean, scale=ops.sqrt(variance))


@public("contrib.distributions.normal_conjugates_known_scale_predictive")
def normal_conjugates_known_scale_predictive(prior, scale, s, n):
    """The distribution of the next number. Args and errors: see normal_conjugates_known_scale_posterior."""
    mean, variance, of_one = _moments(prior, scale, s, n)
    return Normal(loc=mean, scale=ops.sqrt(variance + of_one))
