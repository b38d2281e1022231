"""Splits by numbers: those up to a boundary go to the left.

Boundaries are quantiles of the feature, weighted by hessians (Chen and Guestrin, "XGBoost", 2016). While a layer is
summed by the boundaries that the last flush has made, the quantiles of the next are collected.
"""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.contrib.boosted_trees.resources import QuantileAccumulator
from stillflow.contrib.boosted_trees.split_handlers.base import (
    NORMAL_DECISION_TREE,
    BaseSplitHandler,
    rows_of,
    with_all_examples,
)
from stillflow.functions.defun import Defun
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.sparse_tensor import SparseTensor

_BIAS_FEATURE_ID = -1
_NO_LETTERS = re.compile(r"[\W_]+")


@public("contrib.boosted_trees.lib.learner.batch.ordinal_split_handler.InequalitySplitHandler")
class InequalitySplitHandler(BaseSplitHandler):
    """What handlers of dense and of sparse numbers have in common.

    Args:
      epsilon: how far the rank of a boundary may be from the one that is meant, as a share of all weight.
      num_quantiles: how many buckets there are.
      init_stamp_token: the first stamp.
      The others are as BaseSplitHandler has them.
    """

    def __init__(
        self, l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
        feature_column_group_id, epsilon, num_quantiles, gradient_shape, hessian_shape, multiclass_strategy,
        init_stamp_token=0, loss_uses_sum_reduction=False, name=None,
    ):  # fmt: skip
        super().__init__(
            l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
            feature_column_group_id, gradient_shape, hessian_shape, multiclass_strategy, loss_uses_sum_reduction,
            name,
        )  # fmt: skip
        self._stats_accumulator = self._new_accumulator(init_stamp_token)
        with colocate_with(self._stats_accumulator.resource_handle):
            self._quantile_accumulator = QuantileAccumulator(
                init_stamp_token,
                epsilon=epsilon,
                num_quantiles=num_quantiles,
                name=f"QuantileAccumulator/{self._name}",
            )

    def scheduled_reads(self):
        return [self._quantile_accumulator.schedule_get_buckets()]

    def reset(self, stamp_token, next_stamp_token):
        sums = self._stats_accumulator.flush(stamp_token, next_stamp_token)
        quantiles = self._quantile_accumulator.flush(stamp_token, next_stamp_token)
        return group([sums, quantiles])

    def _split_arguments(self, stamp_token, next_stamp_token, class_id):
        """The arguments of a function that makes splits."""
        return (
            self._quantile_accumulator.resource_handle, self._stats_accumulator.resource_handle, stamp_token,
            next_stamp_token, self._multiclass_strategy, class_id, self._feature_column_group_id,
            self._l1_regularization, self._l2_regularization, self._tree_complexity_regularization,
            self._min_node_weight, self._loss_uses_sum_reduction,
        )  # fmt: skip

    def _updates(self, stamp_token, column, weights, sums):
        quantiles = self._quantile_accumulator.schedule_add_summary(stamp_token, column, weights)
        return ops.no_op(), [quantiles, self._stats_accumulator.schedule_add(*sums)]


@public("contrib.boosted_trees.lib.learner.batch.ordinal_split_handler.DenseSplitHandler")
class DenseSplitHandler(InequalitySplitHandler):
    """Splits by a feature that each example has.

    Args:
      dense_float_column: float32 [n, 1].
      weak_learner_type: LearnerConfig.WeakLearnerType, whether trees are oblivious.
      The others are as InequalitySplitHandler has them.
    """

    def __init__(
        self, dense_float_column, l1_regularization, l2_regularization, tree_complexity_regularization,
        min_node_weight, feature_column_group_id, epsilon, num_quantiles, gradient_shape, hessian_shape,
        multiclass_strategy, init_stamp_token=0, loss_uses_sum_reduction=False,
        weak_learner_type=NORMAL_DECISION_TREE, name=None,
    ):  # fmt: skip
        super().__init__(
            l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
            feature_column_group_id, epsilon, num_quantiles, gradient_shape, hessian_shape, multiclass_strategy,
            init_stamp_token, loss_uses_sum_reduction, name,
        )  # fmt: skip
        self._dense_float_column = dense_float_column
        self._weak_learner_type = weak_learner_type

    def update_stats(
        self, stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
        is_active, scheduled_reads,
    ):  # fmt: skip
        are_buckets_ready, buckets = scheduled_reads[0]
        with name_scope(_NO_LETTERS.sub("", self._name), "DenseSplitHandler"):
            values, value_weights, *sums = dense_make_stats_update(
                is_active, are_buckets_ready, self._dense_float_column, buckets, example_partition_ids, gradients,
                hessians, weights, empty_gradients, empty_hessians,
            )  # fmt: skip
            return self._updates(stamp_token, values, value_weights, sums)

    def make_splits(self, stamp_token, next_stamp_token, class_id):
        make = _make_dense_splits_of_numbers if self._is_scalar else _make_dense_splits_of_tensors
        arguments = self._split_arguments(stamp_token, next_stamp_token, class_id)
        return tuple(make(*arguments, self._weak_learner_type))


@public("contrib.boosted_trees.lib.learner.batch.ordinal_split_handler.SparseSplitHandler")
class SparseSplitHandler(InequalitySplitHandler):
    """Splits by a feature that not all examples have. Those without it go where most is gained by it.

    Args:
      sparse_float_column: a SparseTensor of float32.
      The others are as InequalitySplitHandler has them.
    """

    def __init__(
        self, sparse_float_column, l1_regularization, l2_regularization, tree_complexity_regularization,
        min_node_weight, feature_column_group_id, epsilon, num_quantiles, gradient_shape, hessian_shape,
        multiclass_strategy, init_stamp_token=0, loss_uses_sum_reduction=False, name=None,
    ):  # fmt: skip
        super().__init__(
            l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight,
            feature_column_group_id, epsilon, num_quantiles, gradient_shape, hessian_shape, multiclass_strategy,
            init_stamp_token, loss_uses_sum_reduction, name,
        )  # fmt: skip
        self._sparse_float_column = sparse_float_column

    def update_stats(
        self, stamp_token, example_partition_ids, gradients, hessians, empty_gradients, empty_hessians, weights,
        is_active, scheduled_reads,
    ):  # fmt: skip
        are_buckets_ready, buckets = scheduled_reads[0]
        column = self._sparse_float_column
        with name_scope(self._name, "SparseSplitHandler"):
            indices, values, shape, value_weights, *sums = sparse_make_stats_update(
                is_active, are_buckets_ready, column.indices, column.values, column.dense_shape, buckets,
                example_partition_ids, gradients, hessians, weights, empty_gradients, empty_hessians,
            )  # fmt: skip
            return self._updates(stamp_token, SparseTensor(indices, values, shape), value_weights, sums)

    def make_splits(self, stamp_token, next_stamp_token, class_id):
        make = _make_sparse_splits_of_numbers if self._is_scalar else _make_sparse_splits_of_tensors
        return tuple(make(*self._split_arguments(stamp_token, next_stamp_token, class_id)))


# ---- Functions of the graph, which handlers share -----------------------------------------------------------------


def _flushed(quantile_accumulator, stats_accumulator, stamp_token, next_stamp_token, is_sum, is_scalar):
    """What both accumulators have got, after which they are empty.

    Returns:
      (whether there are boundaries, boundaries, batches, partitions, buckets, gradients, hessians).
    """
    ready, buckets = ops.quantile_accumulator_get_buckets([quantile_accumulator], stamp_token)
    ready, buckets = ready[0], buckets[0]
    with control_dependencies([buckets]):
        flush_quantiles = ops.quantile_accumulator_flush(quantile_accumulator, stamp_token, next_stamp_token)
    flush = ops.stats_accumulator_scalar_flush if is_scalar else ops.stats_accumulator_tensor_flush
    batches, partitions, bucket_ids, gradients, hessians = flush(stats_accumulator, stamp_token, next_stamp_token)
    batches = cond(is_sum, lambda: ops.cast(1, dtypes.int64), lambda: batches)
    with control_dependencies([flush_quantiles, partitions]):
        ready = ops.identity(ready)
    return ready, buckets, batches, partitions, bucket_ids, gradients, hessians


def _splits_by(build, is_scalar, arguments, **settings):
    """Splits by an op of the accumulators' sums; `arguments` are those of InequalitySplitHandler._split_arguments."""
    quantiles, sums, stamp, next_stamp, strategy, class_id, column, l1, l2, complexity, least_weight, is_sum = (
        arguments
    )
    ready, buckets, batches, partitions, bucket_ids, gradients, hessians = _flushed(
        quantiles, sums, stamp, next_stamp, is_sum, is_scalar
    )
    splits = build(
        num_minibatches=batches,
        bucket_boundaries=buckets,
        partition_ids=partitions,
        bucket_ids=bucket_ids,
        gradients=gradients,
        hessians=hessians,
        class_id=class_id,
        feature_column_group_id=column,
        l1_regularization=l1,
        l2_regularization=l2,
        tree_complexity_regularization=complexity,
        min_node_weight=least_weight,
        multiclass_strategy=strategy,
        **settings,
    )
    return (ready, *splits)


_SPLIT_TYPES = (
    *[dtypes.resource] * 2, *[dtypes.int64] * 2, *[dtypes.int32] * 3, *[dtypes.float32] * 4, dtypes.bool_,
)  # fmt: skip


def _dense_maker(is_scalar):
    @Defun(*_SPLIT_TYPES, dtypes.int32, noinline=True)
    def f(
        quantile_accumulator_handle, stats_accumulator_handle, stamp_token, next_stamp_token, multiclass_strategy,
        class_id, feature_column_id, l1_regularization, l2_regularization, tree_complexity_regularization,
        min_node_weight, loss_uses_sum_reduction, weak_learner_type,
    ):  # fmt: skip
        arguments = (
            quantile_accumulator_handle, stats_accumulator_handle, stamp_token, next_stamp_token, multiclass_strategy,
            class_id, feature_column_id, l1_regularization, l2_regularization, tree_complexity_regularization,
            min_node_weight, loss_uses_sum_reduction,
        )  # fmt: skip
        build = ops.build_dense_inequality_splits
        return _splits_by(build, is_scalar, arguments, weak_learner_type=weak_learner_type)

    return f


def _sparse_maker(is_scalar):
    @Defun(*_SPLIT_TYPES, noinline=True)
    def f(
        quantile_accumulator_handle, stats_accumulator_handle, stamp_token, next_stamp_token, multiclass_strategy,
        class_id, feature_column_id, l1_regularization, l2_regularization, tree_complexity_regularization,
        min_node_weight, loss_uses_sum_reduction,
    ):  # fmt: skip
        arguments = (
            quantile_accumulator_handle, stats_accumulator_handle, stamp_token, next_stamp_token, multiclass_strategy,
            class_id, feature_column_id, l1_regularization, l2_regularization, tree_complexity_regularization,
            min_node_weight, loss_uses_sum_reduction,
        )  # fmt: skip
        build = ops.build_sparse_inequality_splits
        return _splits_by(build, is_scalar, arguments, bias_feature_id=_BIAS_FEATURE_ID)

    return f


_make_dense_splits_of_numbers = _dense_maker(is_scalar=True)
_make_dense_splits_of_tensors = _dense_maker(is_scalar=False)
_make_sparse_splits_of_numbers = _sparse_maker(is_scalar=True)
_make_sparse_splits_of_tensors = _sparse_maker(is_scalar=False)


def _buckets_of(quantiles):
    """int64 [n, 2] of the one list that ops.quantiles returns."""
    return ops.squeeze(ops.cast(quantiles, dtypes.int64), axis=0)


def _no_rows(empty_gradients, empty_hessians):
    no_ids = constant([], dtype=dtypes.int64, shape=[1, 2])
    return constant([], dtype=dtypes.int32), no_ids, empty_gradients, empty_hessians


@Defun(
    dtypes.bool_, dtypes.bool_, dtypes.float32, dtypes.float32, dtypes.int32, *[dtypes.float32] * 5, noinline=True
)  # fmt: skip
def dense_make_stats_update(
    is_active, are_buckets_ready, float_column, quantile_buckets, example_partition_ids, gradients, hessians, weights,
    empty_gradients, empty_hessians,
):  # fmt: skip
    """(values and weights for quantiles, partitions, buckets, gradients, hessians) of a batch of a dense feature."""
    nothing = constant([], dtype=dtypes.float32)
    values, value_weights = cond(is_active[1], lambda: (float_column, weights), lambda: (nothing, nothing))

    def ready():
        buckets = _buckets_of(ops.quantiles([float_column], [], [quantile_buckets], [], [])[0])
        return example_partition_ids, buckets, gradients, hessians

    has_buckets = ops.logical_and(are_buckets_ready, ops.greater(ops.size(quantile_buckets), 0))
    sums = cond(ops.logical_and(has_buckets, is_active[0]), ready, lambda: _no_rows(empty_gradients, empty_hessians))
    return (values, value_weights, *sums)


@Defun(
    dtypes.bool_, dtypes.bool_, dtypes.int64, dtypes.float32, dtypes.int64, dtypes.float32, dtypes.int32,
    *[dtypes.float32] * 5, noinline=True,
)  # fmt: skip
def sparse_make_stats_update(
    is_active, are_buckets_ready, sparse_column_indices, sparse_column_values, sparse_column_shape, quantile_buckets,
    example_partition_ids, gradients, hessians, weights, empty_gradients, empty_hessians,
):  # fmt: skip
    """(indices, values, shape and weights for quantiles, partitions, buckets, gradients, hessians) of a batch."""

    def ready():
        buckets = _buckets_of(
            ops.quantiles([], [sparse_column_values], [], [quantile_buckets], [sparse_column_indices])[1]
        )
        bias_ids, partitions, own_gradients, own_hessians = with_all_examples(
            _BIAS_FEATURE_ID, example_partition_ids, gradients, hessians, rows_of(sparse_column_indices)
        )
        bias_ids = ops.stack([bias_ids, ops.zeros_like(bias_ids)], axis=1)
        return partitions, ops.concat([bias_ids, buckets], 0), own_gradients, own_hessians

    nothing = constant([], dtype=dtypes.float32)
    inactive = (
        constant([], dtype=dtypes.int64, shape=[0, 2]), nothing, constant([0, 1], dtype=dtypes.int64), nothing,
    )  # fmt: skip
    active = sparse_column_indices, sparse_column_values, sparse_column_shape, weights
    of_quantiles = cond(is_active[1], lambda: active, lambda: inactive)
    has_buckets = ops.logical_and(are_buckets_ready, ops.greater(ops.size(quantile_buckets), 0))
    sums = cond(has_buckets, ready, lambda: _no_rows(empty_gradients, empty_hessians))
    return (*of_quantiles, *sums)
