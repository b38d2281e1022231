"""What handlers of all kinds of features have in common."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.contrib.boosted_trees.resources import StatsAccumulator
from stillflow.contrib.boosted_trees.scheduling import run_handler_scheduled_ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group

# LearnerConfig.NORMAL_DECISION_TREE
NORMAL_DECISION_TREE = 0


@public("contrib.boosted_trees.lib.learner.batch.base_split_handler.BaseSplitHandler")
class BaseSplitHandler(abc.ABC):
    """Sums gradients and hessians by what a feature says, and finds splits by it.

    Args:
      l1_regularization, l2_regularization: of weights of leaves.
      tree_complexity_regularization: what each split costs.
      min_node_weight: the least hessian of a leaf.
      feature_column_group_id: the number of the feature among those of its kind.
      gradient_shape, hessian_shape: TensorShapes of those of one example.
      multiclass_strategy: LearnerConfig.MultiClassStrategy, how classes are told apart.
      loss_uses_sum_reduction: whether the loss of a batch is a sum, not a mean.
      name: of the handler.
    """

    def __init__(
        self, l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
        feature_column_group_id, gradient_shape, hessian_shape, multiclass_strategy, loss_uses_sum_reduction=False,
        name=None,
    ):  # fmt: skip
        self._l1_regularization = l1_regularization
        self._l2_regularization = l2_regularization
        self._tree_complexity_regularization = tree_complexity_regularization
        self._min_node_weight = min_node_weight
        self._feature_column_group_id = feature_column_group_id
        self._name = name or ""
        self._multiclass_strategy = multiclass_strategy
        self._hessian_shape = hessian_shape
        self._gradient_shape = gradient_shape
        self._loss_uses_sum_reduction = loss_uses_sum_reduction

    def _new_accumulator(self, stamp_token):
        """A StatsAccumulator of the handler's own."""
        return StatsAccumulator(
            stamp_token, self._gradient_shape, self._hessian_shape, name=f"StatsAccumulator/{self._name}"
        )

    @property
    def _is_scalar(self):
        """Whether gradients and hessians are numbers."""
        return self._gradient_shape.rank == 0 and self._hessian_shape.rank == 0

    def scheduled_reads(self):
        """The ScheduledOps whose results update_stats needs."""
        return []

    @abc.abstractmethod
    def update_stats(
        self, stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
        is_active, scheduled_reads,
    ):  # fmt: skip
        """Adds a batch.

        Args:
          stamp_token: int64.
          example_partition_ids: int32 [n], the leaf where each example is.
          gradients, hessians: float32 [n, ...].
          empty_gradients, empty_hessians: such of no example.
          weights: float32 [n, 1], the weights of examples for quantiles.
          is_active: bool [2], whether the handler is asked in this layer, and in the next.
          scheduled_reads: the results of scheduled_reads().

        Returns:
          (an operation, the ScheduledOps that add the batch).
        """

    def update_stats_sync(
        self, stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
        is_active,
    ):  # fmt: skip
        """An operation that adds a batch. Args: see update_stats."""
        reads = run_handler_scheduled_ops({self: self.scheduled_reads()}, stamp_token, None)
        update, scheduled = self.update_stats(
            stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
            is_active, reads[self],
        )  # fmt: skip
        return group(update, *run_handler_scheduled_ops({self: scheduled}, stamp_token, None)[self])

    @abc.abstractmethod
    def reset(self, stamp_token, next_stamp_token):
        """An operation after which nothing is left of what was added."""

    @abc.abstractmethod
    def make_splits(self, stamp_token, next_stamp_token, class_id):
        """Finds the best splits by what was added, after which nothing of it is left. Only the chief does this.

        Args:
          stamp_token, next_stamp_token: int64, the stamp now, and after this.
          class_id: int32, the class that the tree is for, or -1.

        Returns:
          (bool scalar: whether splits are ready, int32 [p] partitions, float32 [p] gains, string [p] SplitInfos).
        """


def with_all_examples(bias_id, partition_ids, gradients, hessians, example_indices):
    """The partitions and sums of a sparse feature's values, after those of all examples of each partition.

    A feature may have no value or several for an example, so that the sums of a node cannot be told from its values.
    They are made in double, as sums of segments may lose much.

    Args:
      bias_id: the category or bucket that stands for all examples.
      partition_ids: int32 [n], the leaf where each example is.
      gradients, hessians: float32 [n, ...].
      example_indices: int64 [k], the example of each value.

    Returns:
      (int64 [p]: bias_id for each partition, int32 [p + k] partitions, float32 [p + k, ...] gradients and hessians).
    """
    own_gradients, own_hessians, own_partitions = (
        ops.gather(tensor, example_indices) for tensor in (gradients, hessians, partition_ids)
    )
    partitions, places = ops.unique(partition_ids)
    wide = [ops.cast(tensor, dtypes.float64) for tensor in (gradients, hessians)]
    totals = [ops.unsorted_segment_sum(tensor, places, ops.size(partitions)) for tensor in wide]
    totals = [ops.cast(tensor, dtypes.float32) for tensor in totals]
    bias_ids = ops.cast(ops.fill(ops.shape(partitions), bias_id), dtypes.int64)
    return (
        bias_ids,
        ops.concat([partitions, own_partitions], 0),
        ops.concat([totals[0], own_gradients], 0),
        ops.concat([totals[1], own_hessians], 0),
    )


def rows_of(indices):
    """The first column of int64 [k, 2]."""
    rows, _ = ops.split(indices, num_or_size_splits=2, axis=1)
    return ops.squeeze(rows, [1])
