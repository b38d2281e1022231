"""estimator_head_distribution_regression: a head whose loss is a distribution's negative log likelihood."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.learn.head_metrics import weighted_loss
from stillflow.contrib.learn.heads import RegressionHead
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public


class _DistributionHead(RegressionHead):
    def __init__(self, make_distribution_fn, *arguments):
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._make_distribution_fn = make_distribution_fn
        self._distributions: dict = {}
        super().__init__(lambda logits: self.distribution(logits).mean(), *arguments, self._negative_log_likelihood)

    @property
    def distributions(self):
        """{logits: distribution} of all that were made."""
        return self._distributions

    def distribution(self, logits, name=None):
        """The distribution of some logits, which is made once."""
        with name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]

    def _negative_log_likelihood(self, labels, logits, weights=None):
        distribution = self.distribution(logits)
        batch = labels.shape.with_rank_at_least(1)[:-1]
        batch = batch.as_list() if batch.is_fully_defined() else ops.shape(labels)[:-1]
        event = distribution.event_shape_tensor()
        known_event = constant_value(event)
        is_known = isinstance(batch, list) and known_event is not None
        shape = [*batch, *known_event] if is_known else ops.concat([batch, event], axis=0)
        return weighted_loss(-distribution.log_prob(ops.reshape(labels, shape)), weights)


@public(
    "contrib.distributions.estimator_head_distribution_regression",
    "contrib.distributions.python.ops.estimator.estimator_head_distribution_regression",
)
def estimator_head_distribution_regression(
    make_distribution_fn,
    label_dimension=1,
    logits_dimension=None,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
):
    """A head of tf.contrib.learn: logits make a distribution, whose mean is the prediction.

    The loss is the negative logarithm of the labels' probability.

    Args:
      make_distribution_fn: a function from logits [batch, logits_dimension] to a distribution of a batch.
      label_dimension: how many numbers a label is.
      logits_dimension: how many logits there are, by default as many.
      label_name, weight_column_name, enable_centered_bias, head_name: see tf.contrib.learn.regression_head.

    Raises TypeError for what is no function.
    """
    return _DistributionHead(
        make_distribution_fn,
        logits_dimension or label_dimension,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
    )
