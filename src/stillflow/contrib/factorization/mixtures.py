"""Mixtures of normal distributions, fitted by expectation and maximization."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less_equal
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group, with_dependencies
from stillflow.random.sampling import random_uniform
from stillflow.variables.assignments import assign
from stillflow.variables.variable import Variable

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
_TINY = np.finfo(float).eps
_LEAST_VARIANCE = 1e-3
_LOG_OF_2_PI = math.log(2 * math.pi)


@public("contrib.factorization.python.ops.gmm_ops._covariance")
def covariance(x, diag):
    """The covariance of the rows of a float32 matrix [n, d]: [d, d], or [1, d] of its diagonal."""
    count = ops.cast(ops.shape(x)[0], dtypes.float32)
    x -= ops.reduce_mean(x, 0, keepdims=True)
    products = ops.reduce_sum(ops.square(x), 0, keepdims=True) if diag else ops.matmul(x, x, transpose_a=True)
    return products / (count - 1)


def _random_rows(data, count, seed):
    """Rows of several matrices, each as likely as the others."""
    total = ops.add_n([ops.shape(shard)[0] for shard in data])
    with control_dependencies([assert_less_equal(count, total)]):
        total = ops.cast(total, dtypes.int64)
        rows = random_uniform([count], minval=0, maxval=total, seed=seed, dtype=dtypes.int64)
    return embedding_lookup(data, rows % total, partition_strategy="div")


@public("contrib.factorization.GmmAlgorithm")
class GmmAlgorithm:
    """The variables of a mixture, what it says of points, and a step of its fit.

    Args:
      data: a list of float32 matrices; each row is a point.
      num_classes: how many distributions there are.
      initial_means: a matrix of their means; random points by default.
      params: what a step updates: "w" for weights, "m" for means, "c" for covariances.
      covariance_type: "full" or "diag".
      random_seed: of the random points.

    Raises Exception for another type of covariances.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self, data, num_classes, initial_means=None, params="wmc", covariance_type=FULL_COVARIANCE, random_seed=0
    ):  # fmt: skip
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params = params
        self._random_seed = random_seed
        self._is_full = covariance_type == FULL_COVARIANCE
        self._num_classes = num_classes
        self._dimensions = ops.shape(data[0])[1]
        self._ridge = ops.diag(ops.ones(ops.stack([self._dimensions]))) * _LEAST_VARIANCE
        self._create_variables()
        self._init_ops = self._initializations(data, initial_means)
        densities = [self._log_densities(shard) + ops.log(self._alpha) for shard in data]
        self._totals = [reduce_logsumexp(density, axis=1, keepdims=True) for density in densities]
        self._shares = [ops.exp(density - total) for density, total in zip(densities, self._totals, strict=True)]
        self._train_ops = self._maximization(data)
        self._log_likelihood_op = reduce_logsumexp([reduce_logsumexp(total) for total in self._totals])
        each = [
            ops.expand_dims(total + ops.log(share), 0)
            for total, share in zip(self._totals, self._shares, strict=True)
        ]
        self._scores = ops.squeeze(reduce_logsumexp(ops.concat(each, 0), axis=2, keepdims=True), axis=[0])

    def _create_variables(self):
        nothing = ops.constant([], dtype=dtypes.float32)
        self._means = Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        shares = ops.tile([1.0 / self._num_classes], [self._num_classes])
        self._alpha = Variable(shares, name=self.CLUSTERS_WEIGHT, validate_shape=False)
        self._is_initialized = Variable(False, dtype=dtypes.bool_, name="initialized")

    def _initializations(self, data, initial_means):
        """Operations that set means and covariances unless they are there."""
        means = _random_rows(data, self._num_classes, self._random_seed) if initial_means is None else initial_means
        means = ops.expand_dims(means, 1)
        covs = covariance(data[0], diag=not self._is_full) + self._ridge
        covs = ops.expand_dims(covs if self._is_full else ops.diag_part(covs), 0)
        covs = ops.tile(covs, [self._num_classes, *([1] * (2 if self._is_full else 1))])
        is_initialized = with_dependencies([means, covs], ops.identity(self._is_initialized))

        def set_once(variable, value):
            done = assign(variable, value, validate_shape=False)
            done = with_dependencies([done], assign(self._is_initialized, True))
            return cond(is_initialized, ops.no_op, lambda: done).op

        return [set_once(self._means, means), set_once(self._covs, covs)]

    def _log_densities(self, points):
        """The logarithms of the densities of points: [n, classes]."""
        numbers = ops.cast(self._dimensions, dtypes.float32) * _LOG_OF_2_PI
        points = ops.expand_dims(points, 0)
        if self._is_full:
            factor = ops.cholesky(self._covs + self._ridge)
            logs = 2.0 * ops.reduce_sum(ops.log(ops.matrix_diag_part(factor)), 1)
            away = ops.transpose(points - self._means, perm=[0, 2, 1])
            squares = ops.square(ops.matrix_triangular_solve(factor, away, lower=True))
            return -0.5 * (ops.transpose(ops.reduce_sum(squares, 1)) + numbers + logs)
        variances = self._covs.value() + _LEAST_VARIANCE
        logs = ops.reduce_sum(ops.log(variances), 1, keepdims=True)
        squares = ops.matmul(ops.squared_difference(points, self._means), ops.expand_dims(1.0 / variances, 2))
        return -0.5 * (numbers + ops.transpose(logs) + ops.transpose(ops.squeeze(squares, [2])))

    # ---- A step -------------------------------------------------------------------------------------------------

    def _sums(self, data):
        """(shares of points, sums of points by shares, sums of their products), of all data."""
        counts, sums, products = [], [], []
        for points, shares in zip(data, self._shares, strict=True):
            counts.append(ops.reduce_sum(shares, 0))
            sums.append(ops.expand_dims(ops.matmul(shares, points, transpose_a=True), 1))
            weighted = ops.expand_dims(ops.transpose(points), 0) * ops.expand_dims(ops.transpose(shares), 1)
            again = ops.tile(ops.expand_dims(points, 0), [self._num_classes, 1, 1])
            products.append(ops.matmul(weighted, again))
        return ops.add_n(counts), ops.add_n(sums), ops.add_n(products)

    def _maximization(self, data):
        with control_dependencies(self._shares):
            counts, sums, products = self._sums(data)
            shares = counts / len(data)
            alpha_op, means = ops.no_op(), self._means.value()
            if "w" in self._params:
                alpha_op = self._alpha.assign(shares / (ops.reduce_sum(shares) + _TINY))
            counts = ops.reshape(counts, [self._num_classes, 1, 1]) + _TINY
            if "m" in self._params:
                means = self._means.assign(ops.div(sums, counts))
            if "c" not in self._params:
                return [alpha_op, means]
            covs = products / counts - ops.matmul(means, means, transpose_a=True) + self._ridge
            covs = covs if self._is_full else ops.matrix_diag_part(covs)
            return [alpha_op, means, assign(self._covs, covs, validate_shape=False)]

    # ---- What there is ------------------------------------------------------------------------------------------

    def init_ops(self):
        """The operation that sets means and covariances, once."""
        return group(*self._init_ops)

    def training_ops(self):
        """The operation of a step."""
        return group(*self._train_ops)

    def is_initialized(self):
        """A bool: whether means and covariances are set."""
        return self._is_initialized

    def alphas(self):
        """The weights of the distributions."""
        return self._alpha

    def clusters(self):
        """The means: [classes, 1, d]."""
        return self._means

    def covariances(self):
        """The covariances: [classes, d, d], or [classes, d]."""
        return self._covs

    def assignments(self):
        """For each matrix the likeliest distribution of each row."""
        return [ops.argmax(share, 1) for share in self._shares]

    def scores(self):
        """The logarithm of the density of each point."""
        return self._scores

    def log_likelihood_op(self):
        """The logarithm of the sum of all densities."""
        return self._log_likelihood_op


@public("contrib.factorization.gmm")
def gmm(inp, initial_clusters, num_clusters, random_seed, covariance_type=FULL_COVARIANCE, params="wmc"):
    """A mixture of normal distributions.

    Args:
      inp: a float32 matrix of points, or a list of some.
      initial_clusters: a matrix of means, or "random" for random points.
      num_clusters: how many distributions there are.
      random_seed, covariance_type, params: as GmmAlgorithm has them.

    Returns:
      (the logarithm of the likelihood, that of each point, [the list of assignments], the operation of a step, the
      operation of initialization, whether it is done).
    """
    means = None
    if isinstance(initial_clusters, Tensor):
        means = initial_clusters
    elif not isinstance(initial_clusters, str) or initial_clusters != "random":
        means = ops.constant(initial_clusters, dtype=dtypes.float32)
    data = inp if isinstance(inp, list) else [inp]
    mixture = GmmAlgorithm(data, num_clusters, means, params, covariance_type, random_seed)
    return (
        mixture.log_likelihood_op(), mixture.scores(), [mixture.assignments()], mixture.training_ops(),
        mixture.init_ops(), mixture.is_initialized(),
    )  # fmt: skip
