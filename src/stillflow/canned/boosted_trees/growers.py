"""How ensembles grow: at once of all examples in memory, or when enough batches have been counted."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.canned.boosted_trees.resources import PruningMode
from stillflow.functions.control_flow_v2 import cond_v2
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.accumulators import ConditionalAccumulator


@public("python.estimator.canned.boosted_trees._TreeHParams")
class TreeParams(NamedTuple):
    """What says how trees grow."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str
    quantile_sketch_epsilon: float

    @property
    def max_splits(self):
        """How many nodes of a tree can be split."""
        return (1 << self.max_depth) - 1


def checked_pruning(params):
    """A PruningMode. Raises ValueError unless there is pruning just if trees cost something."""
    mode = PruningMode.from_str(params.pruning_mode)
    if params.tree_complexity > 0 and mode == PruningMode.NO_PRUNING:
        raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
    if params.tree_complexity <= 0 and mode != PruningMode.NO_PRUNING:
        raise ValueError("For pruning, tree_complexity must be positive.")
    return mode


class Grower:
    """What both ways to grow have in common.

    Args:
      tree_ensemble: a TreeEnsemble.
      quantile_accumulator: a QuantileAccumulator, or None.
      params: TreeParams.
      feature_ids_list: the features that have each number of buckets.

    Raises ValueError for an unknown kind of pruning, or one that has nothing to prune.
    """

    def __init__(self, tree_ensemble, quantile_accumulator, params, feature_ids_list):
        self._tree_ensemble = tree_ensemble
        self._quantile_accumulator = quantile_accumulator
        self._params = params
        self._feature_ids_list = feature_ids_list
        self._pruning_mode = checked_pruning(params)

    def chief_init_op(self):
        """What the chief runs in each new session."""
        return ops.no_op()

    def _center(self, center_bias_var, mean_gradients, mean_hessians):
        continues = ops.boosted_trees_center_bias(
            self._tree_ensemble.resource_handle,
            mean_gradients=mean_gradients,
            mean_hessians=mean_hessians,
            l1=self._params.l1,
            l2=self._params.l2,
        )
        return center_bias_var.assign(continues)

    def _grow(self, stats_summaries_list, last_layer_nodes_range):
        """Grows a layer with the best splits by sums of gradients and hessians."""
        params = self._params
        features: list[int] = []
        candidates: list[list] = [[], [], [], [], []]
        for ids, summaries in zip(self._feature_ids_list, stats_summaries_list, strict=True):
            best = ops.boosted_trees_calculate_best_gains_per_feature(
                node_id_range=last_layer_nodes_range,
                stats_summary_list=summaries,
                l1=params.l1,
                l2=params.l2,
                tree_complexity=params.tree_complexity,
                min_node_weight=params.min_node_weight,
                max_splits=params.max_splits,
            )
            features += ids
            for known, new in zip(candidates, best, strict=True):
                known += new
        node_ids, gains, thresholds, left, right = candidates
        return ops.boosted_trees_update_ensemble(
            self._tree_ensemble.resource_handle,
            feature_ids=features,
            node_ids=node_ids,
            gains=gains,
            thresholds=thresholds,
            left_node_contribs=left,
            right_node_contribs=right,
            learning_rate=params.learning_rate,
            max_depth=params.max_depth,
            pruning_mode=self._pruning_mode,
        )


class InMemoryGrower(Grower):
    """Grows a layer in each step, which sees all examples."""

    def accumulate_quantiles(self, float_features, weights, are_boundaries_ready):
        """An operation that makes the boundaries of buckets."""
        summaries = self._quantile_accumulator.add_summaries(float_features, weights)
        with control_dependencies([summaries]):
            flush = self._quantile_accumulator.flush()
            with control_dependencies([flush]):
                return are_boundaries_ready.assign(True).op

    def center_bias(self, center_bias_var, gradients, hessians):
        """An operation that moves the bias, and says in the variable whether it still moves."""
        means = [ops.expand_dims(ops.reduce_mean(each, 0), 0) for each in (gradients, hessians)]
        return self._center(center_bias_var, *means)

    def grow_tree(self, stats_summaries_list, last_layer_nodes_range):
        """An operation that grows a layer."""
        return self._grow(stats_summaries_list, last_layer_nodes_range)


class AccumulatingGrower(Grower):
    """Grows a layer when so many batches have been counted; the sums are means over batches.

    Args:
      stamp_token: the version of the ensemble that batches are counted for.
      n_batches_per_layer: how many batches there are for a layer.
      bucket_size_list: the numbers of buckets.
      is_chief: whether this process grows the trees.
      center_bias: whether the bias is centered first.
    """

    def __init__(
        self, tree_ensemble, quantile_accumulator, params, stamp_token, n_batches_per_layer, bucket_size_list,
        is_chief, center_bias, feature_ids_list,
    ):  # fmt: skip
        super().__init__(tree_ensemble, quantile_accumulator, params, feature_ids_list)
        self._stamp_token = stamp_token
        self._n_batches = n_batches_per_layer
        self._is_chief = is_chief
        self._init_ops = []
        self._sums = [
            self._accumulator([len(ids), params.max_splits, buckets, 2], f"numeric_stats_summary_accumulator_{i}")
            for i, (ids, buckets) in enumerate(zip(feature_ids_list, bucket_size_list, strict=True))
        ]
        self._bias_sums = self._accumulator([2, 1], "bias_accumulator") if center_bias else None

    def _accumulator(self, shape, name):
        accumulator = ConditionalAccumulator(dtype=dtypes.float32, shape=shape, shared_name=name)
        self._init_ops.append(accumulator.set_global_step(self._stamp_token))
        return accumulator

    def accumulate_quantiles(self, float_features, weights, are_boundaries_ready):
        """An operation that counts a batch, and makes the boundaries of buckets after the last."""
        summaries = self._quantile_accumulator.add_summaries(float_features, weights)
        counter = ConditionalAccumulator(dtype=dtypes.float32, shape={}, shared_name="quantile_summary_accum")
        step = counter.set_global_step(self._stamp_token)
        counted = group(summaries, step, counter.apply_grad(ops.constant(0.0), self._stamp_token))
        if not self._is_chief:
            return counted

        def flush():
            taken = counter.take_grad(1)
            flush_op = self._quantile_accumulator.flush()
            return group(flush_op, taken, are_boundaries_ready.assign(True).op)

        with control_dependencies([counted]):
            return cond_v2(
                ops.greater_equal(counter.num_accumulated(), self._n_batches),
                flush,
                ops.no_op,
                name="wait_until_quaniles_accumulated",
            )

    def center_bias(self, center_bias_var, gradients, hessians):
        """An operation that counts a batch, and moves the bias after the last."""
        if self._bias_sums is None:
            raise RuntimeError("center_bias called but bias centering is disabled.")
        sums = ops.reduce_mean(ops.stack([gradients, hessians], axis=0), axis=1)
        counted = self._bias_sums.apply_grad(sums, self._stamp_token)
        with control_dependencies([counted]):
            if not self._is_chief:
                return ops.no_op()
            return cond_v2(
                ops.greater_equal(self._bias_sums.num_accumulated(), self._n_batches),
                lambda: self._center_by_sums(self._bias_sums, center_bias_var),
                ops.no_op,
                name="wait_until_n_batches_for_bias_accumulated",
            )

    def _center_by_sums(self, bias_sums, center_bias_var):
        gradients, hessians = ops.unstack(bias_sums.take_grad(1), axis=0)
        centered = self._center(center_bias_var, ops.expand_dims(gradients, 0), ops.expand_dims(hessians, 0))

        def next_stamp():
            return group([sums.set_global_step(self._stamp_token + 1) for sums in self._sums])

        with control_dependencies([centered]):
            return cond_v2(center_bias_var, ops.no_op, next_stamp)

    def grow_tree(self, stats_summaries_list, last_layer_nodes_range):
        """An operation that counts a batch, and grows a layer after the last."""
        counted = [
            sums.apply_grad(ops.stack(summaries, axis=0), self._stamp_token)
            for sums, summaries in zip(self._sums, stats_summaries_list, strict=True)
        ]

        def grow():
            taken = [ops.unstack(sums.take_grad(1), axis=0) for sums in self._sums]
            return self._grow(taken, last_layer_nodes_range)

        with control_dependencies(counted):
            if not self._is_chief:
                return ops.no_op()
            least = ops.reduce_min(ops.stack([sums.num_accumulated() for sums in self._sums]))
            return cond_v2(
                ops.greater_equal(least, self._n_batches), grow, ops.no_op, name="wait_until_n_batches_accumulated"
            )

    def chief_init_op(self):
        """What the chief runs in each new session."""
        return group(self._init_ops)
