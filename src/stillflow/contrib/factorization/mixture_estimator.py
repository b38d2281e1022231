"""Mixtures of normal distributions as an Estimator."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.canned.estimators.k_means import InitializeCenters
from stillflow.contrib.factorization.mixtures import FULL_COVARIANCE, GmmAlgorithm, gmm
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModelFnOps
from stillflow.graph.collections import GraphKeys
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign_add
from stillflow.variables.variable import Variable


def _sum_of(scalar):
    """(the sum of a scalar over all steps, the operation that adds one)."""
    total = Variable(0.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])
    return total, total.assign_add(scalar)


def _points_of(features):
    if isinstance(features, dict):
        return ops.concat([features[key] for key in sorted(features)], 1)
    return features


@public("contrib.factorization.GMM")
class GMM(Estimator):
    """A mixture of normal distributions.

    Args:
      num_clusters: how many there are.
      model_dir, config: as tf.contrib.learn.Estimator has them.
      random_seed: of the points that means begin with.
      params: what training updates: "w" for weights, "m" for means, "c" for covariances.
      initial_clusters: a matrix of means, or "random".
      covariance_type: "full" or "diag".
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self, num_clusters, model_dir=None, random_seed=0, params="wmc", initial_clusters="random",
        covariance_type=FULL_COVARIANCE, config=None,
    ):  # fmt: skip
        def model_fn(features, labels, mode, config):
            assert labels is None, labels
            loss, scores, assignments, train_op, init_op, is_initialized = gmm(
                _points_of(features), initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            next_step = assign_add(get_global_step(), 1)
            return ModelFnOps(
                mode=mode,
                predictions={GMM.ASSIGNMENTS: assignments[0][0]},
                eval_metric_ops={GMM.SCORES: (scores, ops.no_op()), GMM.LOG_LIKELIHOOD: _sum_of(loss)},
                loss=loss,
                train_op=with_dependencies([train_op, next_step], loss),
                training_hooks=[InitializeCenters(init_op, is_initialized, config.is_chief)],
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def predict_assignments(self, input_fn=None, batch_size=None, outputs=None):
        """Yields the likeliest distribution of each point. Args: see predict."""
        for result in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield result[GMM.ASSIGNMENTS]

    def score(self, input_fn=None, batch_size=None, steps=None):
        """The logarithm of the sum of the densities of all points. Args: see evaluate."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[GMM.SCORES])))

    def weights(self):
        """The weights in the newest checkpoint: [clusters]."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self):
        """The means in the newest checkpoint: [clusters, d]."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self):
        """The covariances in the newest checkpoint: [clusters, d, d], or [clusters, d]."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
