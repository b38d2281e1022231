"""sequence_loss: the weighted cross entropy of sequences."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import sparse_softmax_cross_entropy_with_logits
from stillflow.composites.statistics import count_nonzero
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.classes import Loss
from stillflow.names import public


@public("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits, targets, weights, average_across_timesteps=True, average_across_batch=True, sum_over_timesteps=False,
    sum_over_batch=False, softmax_loss_function=None, name=None,
):  # fmt: skip
    """The weighted cross entropy of sequences, averaged or summed over time, over the batch, or both.

    Averages are divided by sums of weights; sums by the number of weights that are not 0. Without either the loss is
    [batch, time].

    Args:
      logits: float [batch, time, symbols].
      targets: int [batch, time].
      weights: float [batch, time].
      average_across_timesteps, average_across_batch: what is averaged over.
      sum_over_timesteps, sum_over_batch: what is summed over.
      softmax_loss_function: a function of `labels` and `logits` instead of softmax cross entropy.
      name: the scope of the new nodes.

    Raises ValueError for other ranks, and if both average and sum are asked for.
    """
    if len(logits.shape) != 3:
        raise ValueError("Logits must be a [batch_size x sequence_length x logits] tensor")
    if len(targets.shape) != 2:
        raise ValueError("Targets must be a [batch_size x sequence_length] tensor")
    if len(weights.shape) != 2:
        raise ValueError("Weights must be a [batch_size x sequence_length] tensor")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        rows = ops.reshape(logits, [-1, ops.shape(logits)[2]])
        targets = ops.reshape(targets, [-1])
        function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = function(labels=targets, logits=rows)
        losses *= ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _mean(losses, weights, None, counts=False)
        if sum_over_timesteps and sum_over_batch:
            return _mean(losses, weights, None, counts=True)
        losses = ops.reshape(losses, ops.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return _mean(losses, weights, [0] if average_across_batch else [1], counts=False)
        if sum_over_timesteps or sum_over_batch:
            return _mean(losses, weights, [0] if sum_over_batch else [1], counts=True)
        return losses


def _mean(losses, weights, axis, counts):
    """The sum of losses, divided by that of weights, or by how many there are that are not 0."""
    total = ops.reduce_sum(losses, axis=axis)
    if counts:
        divisor = ops.cast(count_nonzero(weights, axis=axis), total.dtype)
    else:
        divisor = ops.reduce_sum(weights, axis=axis)
    return ops.div_no_nan(total, divisor)


@public("contrib.seq2seq.python.ops.loss.SequenceLoss")
class SequenceLoss(Loss):
    """`sequence_loss` as a loss of Keras models: targets come first, and by default losses are summed.

    Args:
      average_across_timesteps, average_across_batch: what is averaged over.
      sum_over_timesteps, sum_over_batch: what is summed over.
      softmax_loss_function: a function of `labels` and `logits` instead of softmax cross entropy.
      name: the scope of the loss's nodes.
    """

    def __init__(
        self, average_across_timesteps=False, average_across_batch=False, sum_over_timesteps=True,
        sum_over_batch=True, softmax_loss_function=None, name=None,
    ):  # fmt: skip
        super().__init__(name=name)
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function

    def __call__(self, y_true, y_pred, sample_weight=None):
        """The loss of logits [batch, time, symbols] for int targets and weights [batch, time]."""
        return sequence_loss(
            y_pred, y_true, sample_weight, self.average_across_timesteps, self.average_across_batch,
            self.sum_over_timesteps, self.sum_over_batch, self.softmax_loss_function, self.name,
        )  # fmt: skip

    def call(self, y_true, y_pred):
        """None: losses of single samples are not defined where whole batches are reduced."""
