"""tf.contrib.bayesflow.monte_carlo: expectations as means over samples."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public(
    "contrib.bayesflow.monte_carlo.expectation",
    "contrib.bayesflow.python.ops.monte_carlo_impl.expectation",
)
def expectation(f, samples, log_prob=None, use_reparametrization=True, axis=0, keep_dims=False, name=None):
    """The mean of f(x) over samples x.

    Args:
      f: a function of the samples.
      samples: a tensor of samples.
      log_prob: a function that gives their log-probabilities; needed unless `use_reparametrization`.
      use_reparametrization: whether gradients pass through the samples; otherwise they are those of the score
        function, f(x) grad log_prob(x).
      axis: the dimension of samples, or several.
      keep_dims: whether they remain, of size 1.
      name: the scope of the new nodes.

    Raises ValueError for what is no function.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return ops.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        x = ops.stop_gradient(samples)
        logarithm = log_prob(x)
        value = f(x)
        value += ops.stop_gradient(value) * (logarithm - ops.stop_gradient(logarithm))
        return ops.reduce_mean(value, axis=axis, keepdims=keep_dims)


@public(
    "contrib.bayesflow.monte_carlo.expectation_importance_sampler",
    "contrib.bayesflow.python.ops.monte_carlo_impl.expectation_importance_sampler",
)
def expectation_importance_sampler(
    f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler"
):  # fmt: skip
    """The expectation of f under p, by samples of another distribution q: the mean of f(z) p(z) / q(z).

    Args:
      f: a function of samples.
      log_p: a function that gives the logarithm of p, which need not be normalized.
      sampling_dist_q: q, a distribution.
      z: samples of q; or
      n: how many are to be drawn.
      seed: of these.
      name: the scope of the new nodes.

    Raises ValueError unless one of z and n is given.
    """
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        target, own = log_p(z), sampling_dist_q.log_prob(z)

        def mean(log_f):
            return _log_mean(log_f + target - own)

        # f is the difference of two positive functions, of which the logarithms are summed.
        value = f(z)
        above = ops.log(ops.relu(value) + 1.0)
        below = ops.log(ops.relu(-1.0 * value) + 1.0)
        above, below = mean(above), mean(below)
    return ops.exp(above) - ops.exp(below)


@public(
    "contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace",
    "contrib.bayesflow.python.ops.monte_carlo_impl.expectation_importance_sampler_logspace",
)
def expectation_importance_sampler_logspace(
    log_f, log_p, sampling_dist_q, z=None, n=None, seed=None, name="expectation_importance_sampler_logspace"
):  # fmt: skip
    """The logarithm of expectation_importance_sampler, for a positive f whose logarithm is given."""
    with name_scope(name, values=[z, n]):
        z = _samples(sampling_dist_q, z, n, seed)
        return _log_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


def _log_mean(logarithms):
    """log(mean(exp(logarithms))) over the first dimension."""
    center = ops.stop_gradient(ops.reduce_max(logarithms, axis=[0]))
    centered = ops.exp(logarithms - center)
    return ops.log(ops.reduce_mean(centered, axis=[0])) + center


@public("contrib.bayesflow.python.ops.monte_carlo_impl._get_samples")
def _samples(dist, z, n, seed):
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
        return convert_to_tensor(z, name="z") if n is None else dist.sample(n, seed=seed)
