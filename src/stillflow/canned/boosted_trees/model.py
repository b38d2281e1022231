"""The model function of boosted trees."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.autodiff.reverse import gradients as gradients_of
from stillflow.canned.boosted_trees.caches import (
    NO_NODE,
    TableOfStates,
    VariablesOfStates,
    cached_features,
    state_variable,
)
from stillflow.canned.boosted_trees.columns import (
    boundaries_of_columns,
    count_features,
    features_by_bucket_count,
    float_columns_of,
    transformed_features,
)
from stillflow.canned.boosted_trees.growers import AccumulatingGrower, InMemoryGrower
from stillflow.canned.boosted_trees.resources import QuantileAccumulator, TreeEnsemble
from stillflow.composites import summaries
from stillflow.feature_columns.numeric import numeric_column
from stillflow.functions.control_flow_v2 import cond_v2
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook

_QUANTILES_NAME = "QuantileAccumulator"
DEBUG_KEY = "_serialized_debug_outputs_proto"


class _StopAtAttempts(SessionRunHook):
    """Stops when all trees are there, or after twice as many tries to grow a layer as that should take."""

    def __init__(self, num_finalized_trees, num_attempted_layers, max_trees, max_depth):
        self._states = [num_finalized_trees, num_attempted_layers]
        self._max_trees = max_trees
        self._max_layers = 2 * max_trees * max_depth

    def before_run(self, run_context):
        return SessionRunArgs(self._states)

    def after_run(self, run_context, run_values):
        trees, layers = run_values.results
        if trees >= self._max_trees - 1 or layers > self._max_layers - 1:
            # What the step has seen may be from before the tree grew.
            trees, layers = run_context.session.run(self._states)
        if trees >= self._max_trees or layers > self._max_layers:
            run_context.request_stop()


class _InitializeGrower(SessionRunHook):
    """Runs an operation in each new session."""

    def __init__(self, init_op):
        self._init_op = init_op

    def after_create_session(self, session, coord):
        session.run(self._init_op)


class _Quantiles:
    """The boundaries of buckets of columns of numbers, if there are such columns."""

    def __init__(self, sorted_feature_columns, epsilon):
        self.columns = float_columns_of(sorted_feature_columns)
        self.count = int(1.0 / epsilon)
        self.accumulator = None
        self.boundaries = {}
        if self.columns:
            self.accumulator = QuantileAccumulator(
                epsilon=epsilon,
                num_streams=count_features(self.columns),
                num_quantiles=self.count,
                name=_QUANTILES_NAME,
            )
            self.boundaries = boundaries_of_columns(self.columns, self.accumulator.get_bucket_boundaries())


@public("python.estimator.canned.boosted_trees._bt_model_fn")
def model_fn(
    features, labels, mode, head, feature_columns, tree_hparams, n_batches_per_layer, config,
    closed_form_grad_and_hess_fn=None, example_id_column_name=None, weight_column=None, train_in_memory=False,
    name="boosted_trees",
):  # fmt: skip
    """The EstimatorSpec of boosted trees.

    Args:
      features: {name: tensor}.
      labels: a tensor [batch, 1] or [batch].
      mode: of tf.estimator.ModeKeys.
      head: a head with one logit.
      feature_columns: indicator, bucketized and numeric columns.
      tree_hparams: what says how trees grow.
      n_batches_per_layer: how many batches there are for a layer.
      config: a tf.estimator.RunConfig.
      closed_form_grad_and_hess_fn: a function of logits and labels that returns gradients and hessians; by default
        they are those of the loss.
      example_id_column_name: the feature that names examples, by which their logits are kept.
      weight_column: a numeric column with the weights of examples, or its key, for quantiles.
      train_in_memory: whether a batch is all there is, and always the same.
      name: of the ensemble.

    Raises ValueError for other columns, or training in memory by several processes.
    """
    columns = sorted(feature_columns, key=lambda column: column.name)
    with name_scope(name) as scope:
        global_step = get_or_create_global_step()
        ensemble = TreeEnsemble(name=scope)
        quantiles = _Quantiles(columns, tree_hparams.quantile_sketch_epsilon)
        if mode != ModeKeys.TRAIN:
            logits = _predicted(features, columns, ensemble, quantiles, head)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, train_op_fn=ops.no_op, logits=logits
            )
        if train_in_memory:
            _check_in_memory(n_batches_per_layer, config)
        training = _Training(
            features, labels, head, columns, tree_hparams, ensemble, quantiles, closed_form_grad_and_hess_fn,
            global_step, train_in_memory,
        )  # fmt: skip
        training.find_examples(example_id_column_name)
        training.predict(scope, config)
        training.prepare_to_grow(n_batches_per_layer, config, weight_column)
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=training.train_op, logits=training.logits
    )
    return spec._replace(
        training_hooks=(*spec.training_hooks, training.stop_hook()),
        training_chief_hooks=[_InitializeGrower(training.grower.chief_init_op()), *spec.training_chief_hooks],
    )


def _check_in_memory(n_batches_per_layer, config):
    if n_batches_per_layer != 1:
        raise AssertionError(
            "When train_in_memory is enabled, input_fn should return the entire dataset as a single batch, and "
            "n_batches_per_layer should be set as 1."
        )
    if not config.is_chief or config.num_worker_replicas > 1 or config.num_ps_replicas > 0:
        raise ValueError("train_in_memory is supported only for non-distributed training.")


def _predicted(features, columns, ensemble, quantiles, head):
    """The logits of an ensemble that does not grow."""
    inputs = transformed_features(features, columns, quantiles.boundaries)
    return ops.boosted_trees_predict(
        tree_ensemble_handle=ensemble.resource_handle,
        bucketized_features=inputs,
        logits_dimension=head.logits_dimension,
    )


def explanations_fn(features, head, sorted_feature_columns, quantile_sketch_epsilon, name="boosted_trees"):
    """The EstimatorSpec of predictions with DEBUG_KEY: a serialized boosted_trees.DebugOutput of each example."""
    with name_scope(name) as scope:
        ensemble = TreeEnsemble(name=scope)
        quantiles = _Quantiles(sorted_feature_columns, quantile_sketch_epsilon)
        inputs = transformed_features(features, sorted_feature_columns, quantiles.boundaries)
        asked = {"bucketized_features": inputs, "logits_dimension": head.logits_dimension}
        logits = ops.boosted_trees_predict(tree_ensemble_handle=ensemble.resource_handle, **asked)
        spec = head.create_estimator_spec(
            features=features, mode=ModeKeys.PREDICT, labels=None, train_op_fn=ops.no_op, logits=logits
        )
        spec.predictions[DEBUG_KEY] = ops.boosted_trees_example_debug_outputs(ensemble.resource_handle, **asked)
        return spec


class _Training:
    """The graph that trains, part by part."""

    def __init__(
        self, features, labels, head, columns, params, ensemble, quantiles, closed_form, global_step, in_memory
    ):
        self._features = features
        self._labels = labels
        self._head = head
        self._columns = columns
        self._params = params
        self._ensemble = ensemble
        self._quantiles = quantiles
        self._closed_form = closed_form
        self._global_step = global_step
        self._in_memory = in_memory
        self._cache = None
        self._keep_inputs = None
        self._bucket_counts, self._feature_groups = features_by_bucket_count(columns, quantiles.count)

    def find_examples(self, example_id_column_name):
        """Their buckets, and where they were in the trees before."""
        logits_dimension = self._head.logits_dimension
        self._worker_device = ops.no_op().device
        self._boundaries_ready = state_variable(not self._quantiles.columns, name="are_boundaries_ready")
        if self._in_memory:
            batch_size = ops.shape(self._labels)[0]
            self._inputs, self._keep_inputs = cached_features(
                self._features, self._columns, batch_size, self._quantiles.boundaries, self._boundaries_ready
            )
            self._cache = VariablesOfStates(batch_size, logits_dimension)
        else:
            self._inputs = transformed_features(self._features, self._columns, self._quantiles.boundaries)
            if example_id_column_name:
                self._cache = TableOfStates(self._features[example_id_column_name], logits_dimension)
        if self._cache:
            self._cached_states = self._cache.lookup()
            return
        batch_size = ops.shape(self._labels)[0]
        self._cached_states = (
            ops.zeros([batch_size], dtype=dtypes.int32),
            NO_NODE * ops.ones([batch_size], dtype=dtypes.int32),
            ops.zeros([batch_size, logits_dimension], dtype=dtypes.float32),
        )

    def predict(self, scope, config):
        """The logits, by a copy of the ensemble where there are several workers."""
        local = self._ensemble
        if config.num_worker_replicas <= 1:
            reload = ops.no_op()
        else:
            with device(self._worker_device):
                local = TreeEnsemble(name=scope + "_local", is_local=True)
            reload = local.deserialize(*self._ensemble.serialize())
        tree_ids, node_ids, cached_logits = self._cached_states
        with control_dependencies([reload]):
            self._states = local.get_states()
            partial, self._tree_ids, self._node_ids = ops.boosted_trees_training_predict(
                tree_ensemble_handle=local.resource_handle,
                cached_tree_ids=tree_ids,
                cached_node_ids=node_ids,
                bucketized_features=self._inputs,
                logits_dimension=self._head.logits_dimension,
            )
        self.logits = cached_logits + partial

    def prepare_to_grow(self, n_batches_per_layer, config, weight_column):
        """The accumulators, the summaries and the weights of quantiles."""
        stamp_token, *counts, self._last_layer = self._states
        self.grower: InMemoryGrower | AccumulatingGrower
        groups, accumulator = self._feature_groups, self._quantiles.accumulator
        if self._in_memory:
            self.grower = InMemoryGrower(self._ensemble, accumulator, self._params, groups)
        else:
            self.grower = AccumulatingGrower(
                self._ensemble, accumulator, self._params, stamp_token, n_batches_per_layer, self._bucket_counts,
                config.is_chief, self._params.center_bias, groups,
            )  # fmt: skip
        for name, count in zip(("num_trees", "num_finalized_trees", "num_attempted_layers"), counts, strict=True):
            summaries.scalar(f"ensemble/{name}", count)
        self._center_bias = state_variable(self._params.center_bias, name="center_bias_needed")
        if weight_column is None:
            self._weights = ops.constant(1.0, shape=[1])
        else:
            if isinstance(weight_column, str):
                weight_column = numeric_column(key=weight_column, shape=(1,))
            self._weights = transformed_features(self._features, [weight_column])[0]

    def stop_hook(self):
        _, _, finalized, attempted, _ = self._states
        return _StopAtAttempts(finalized, attempted, self._params.n_trees, self._params.max_depth)

    def train_op(self, loss):
        """An operation of one step: it counts quantiles first, and grows trees then."""
        if not self._quantiles.columns:
            return self._grow(loss)
        return cond_v2(self._boundaries_ready, lambda: self._grow(loss), self._count_quantiles)

    def _count_quantiles(self):
        with name_scope("UpdateQuantile"):
            values = transformed_features(self._features, self._quantiles.columns)
            return self.grower.accumulate_quantiles(values, self._weights, self._boundaries_ready)

    def _grow(self, loss):
        done = [self._keep_inputs] if self._in_memory else []
        if self._cache:
            # While the bias moves, logits are not worth keeping.
            cache = self._cache
            done.append(
                cond_v2(
                    self._center_bias,
                    ops.no_op,
                    lambda: cache.insert(self._tree_ids, self._node_ids, self.logits),
                )
            )
        gradients, hessians = self._derivatives(loss)
        sums = self._sums(gradients, hessians)
        grow = functools.partial(self.grower.grow_tree, sums, self._last_layer)
        if self._params.center_bias:
            center = functools.partial(self.grower.center_bias, self._center_bias, gradients, hessians)
            update = cond_v2(self._center_bias, center, grow)
        else:
            update = grow()
        done.append(update)
        with control_dependencies([update]):
            done.append(self._global_step.assign_add(1).op)
        return group(done, name="grow_op")

    def _derivatives(self, loss):
        """(gradients, hessians), each [batch, 1]."""
        if self._closed_form:
            return self._closed_form(self.logits, self._labels)
        gradients = gradients_of(loss, self.logits, name="Gradients")[0]
        return gradients, gradients_of(gradients, self.logits, name="Hessians")[0]

    def _sums(self, gradients, hessians):
        """For each number of buckets the sums of each feature."""
        return [
            [
                ops.squeeze(
                    ops.boosted_trees_make_stats_summary(
                        node_ids=self._node_ids,
                        gradients=gradients,
                        hessians=hessians,
                        bucketized_features_list=[self._inputs[feature]],
                        max_splits=self._params.max_splits,
                        num_buckets=buckets,
                    ),
                    axis=0,
                )
                for feature in ids
            ]
            for ids, buckets in zip(self._feature_groups, self._bucket_counts, strict=True)
        ]
