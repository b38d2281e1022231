"""Splits by categories: one goes to the left."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.boosted_trees.split_handlers.base import (
    NORMAL_DECISION_TREE,
    BaseSplitHandler,
    rows_of,
    with_all_examples,
)
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor

_BIAS_FEATURE_ID = int(dtypes.int64.min)


@public("contrib.boosted_trees.lib.learner.batch.categorical_split_handler.EqualitySplitHandler")
class EqualitySplitHandler(BaseSplitHandler):
    """Splits by a feature of categories.

    Args:
      sparse_int_column: a SparseTensor of int64 categories.
      init_stamp_token: the first stamp.
      weak_learner_type: LearnerConfig.WeakLearnerType, whether trees are oblivious.
      The others are as BaseSplitHandler has them.
    """

    def __init__(
        self, sparse_int_column, l1_regularization, l2_regularization, tree_complexity_regularization,
        min_node_weight, feature_column_group_id, gradient_shape, hessian_shape, multiclass_strategy,
        init_stamp_token=0, loss_uses_sum_reduction=False, weak_learner_type=NORMAL_DECISION_TREE, name=None,
    ):  # fmt: skip
        super().__init__(
            l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
            feature_column_group_id, gradient_shape, hessian_shape, multiclass_strategy, loss_uses_sum_reduction,
            name,
        )  # fmt: skip
        self._stats_accumulator = self._new_accumulator(init_stamp_token)
        self._sparse_int_column = sparse_int_column
        self._weak_learner_type = weak_learner_type

    def update_stats(
        self, stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
        is_active, scheduled_reads,
    ):  # fmt: skip
        column = self._sparse_int_column

        def active():
            bias_ids, partitions, own_gradients, own_hessians = with_all_examples(
                _BIAS_FEATURE_ID, example_partition_ids, gradients, hessians, rows_of(column.indices)
            )
            ids = ops.concat([bias_ids, column.values], 0)
            dimensions = ops.zeros_like(ids, dtype=dtypes.int64)
            return partitions, ops.stack([ids, dimensions], axis=1), own_gradients, own_hessians

        def inactive():
            no_ids = constant([], dtype=dtypes.int64, shape=[1, 2])
            return constant([], dtype=dtypes.int32), no_ids, empty_gradients, empty_hessians

        sums = cond(is_active[0], active, inactive)
        return ops.no_op(), [self._stats_accumulator.schedule_add(*sums)]

    def make_splits(self, stamp_token, next_stamp_token, class_id):
        batches, partitions, ids, gradients, hessians = self._stats_accumulator.flush(stamp_token, next_stamp_token)
        batches = cond(
            convert_to_tensor(self._loss_uses_sum_reduction), lambda: ops.cast(1, dtypes.int64), lambda: batches
        )
        splits = ops.build_categorical_equality_splits(
            num_minibatches=batches,
            partition_ids=partitions,
            feature_ids=ids,
            gradients=gradients,
            hessians=hessians,
            class_id=class_id,
            feature_column_group_id=self._feature_column_group_id,
            l1_regularization=self._l1_regularization,
            l2_regularization=self._l2_regularization,
            tree_complexity_regularization=self._tree_complexity_regularization,
            min_node_weight=self._min_node_weight,
            bias_feature_id=_BIAS_FEATURE_ID,
            multiclass_strategy=self._multiclass_strategy,
            weak_learner_type=self._weak_learner_type,
        )
        # Categories need no boundaries, so that splits are always ready.
        return (constant(True), *splits)

    def reset(self, stamp_token, next_stamp_token):
        return self._stats_accumulator.flush(stamp_token, next_stamp_token)
