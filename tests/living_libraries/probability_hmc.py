"""TensorFlow Probability: linear regression by Hamiltonian Monte Carlo, beside the posterior in closed form."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

random = np.random.RandomState(0)
x = np.stack([np.ones(50), random.uniform(-1, 1, 50)], axis=1).astype(np.float32)
y = (x @ [1.0, 2.0] + 0.5 * random.randn(50)).astype(np.float32)


def log_posterior(weights):
    prior = tfp.distributions.MultivariateNormalDiag(tf.zeros(2), tf.ones(2))
    noise = tfp.distributions.Normal(tf.linalg.matvec(x, weights), 0.5)
    return prior.log_prob(weights) + tf.reduce_sum(noise.log_prob(y))


kernel = tfp.mcmc.SimpleStepSizeAdaptation(
    tfp.mcmc.HamiltonianMonteCarlo(log_posterior, step_size=0.05, num_leapfrog_steps=5, seed=1),
    num_adaptation_steps=300,
)
samples, accepted = tfp.mcmc.sample_chain(
    2000, tf.zeros(2), kernel=kernel, num_burnin_steps=500, parallel_iterations=1,
    trace_fn=lambda _, results: results.inner_results.is_accepted,
)  # fmt: skip
with tf.Session() as session:
    samples, accepted = session.run([samples, accepted])

covariance = np.linalg.inv(np.eye(2) + x.T @ x / 0.25)
mean = covariance @ x.T @ y / 0.25
print("sampled", samples.mean(0), samples.std(0), "exact", mean, np.sqrt(np.diag(covariance)))
assert 0.5 < accepted.mean() < 0.99
assert np.abs(samples.mean(0) - mean).max() < 0.02
assert np.abs(samples.std(0) / np.sqrt(np.diag(covariance)) - 1).max() < 0.15
