"""The model of boosted trees: what it predicts, what it counts of a batch, and how it grows."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.summaries import scalar
from stillflow.contrib.boosted_trees.derivatives import (
    column_at,
    diagonal_hessian,
    full_hessian,
    gradients_by,
)
from stillflow.contrib.boosted_trees.features import extract_features
from stillflow.contrib.boosted_trees.growing import GrowsTrees, TrainingState
from stillflow.contrib.boosted_trees.handlers import active_handlers, make_handlers
from stillflow.contrib.boosted_trees.learner_defaults import fill_defaults
from stillflow.contrib.boosted_trees.prediction_keys import PredictionKeys
from stillflow.contrib.boosted_trees.resources import StatsAccumulator
from stillflow.contrib.boosted_trees.scheduling import run_handler_scheduled_ops
from stillflow.contrib.learn.modes import ModeKeys
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies, device
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.platform import logging
from stillflow.training.replica_devices import STANDARD_PS_OPS, replica_device_setter
from stillflow.variables.variable import Variable


class _RoundRobinByType:
    """The tasks in turn, of each type of node for itself: resources of one type cost much the same."""

    def __init__(self, types, num_tasks):
        self._num_tasks = num_tasks
        self._next = {kind: i % num_tasks if num_tasks else 0 for i, kind in enumerate(types)}

    def __call__(self, op):
        if op.type not in self._next:
            raise ValueError(f"Unknown op type '{op.type}' for placement:")
        task = self._next[op.type]
        self._next[op.type] = (task + 1) % self._num_tasks if self._num_tasks else 0
        return task


def _counter(name, value=None):
    """A variable that is not trained, int64 and 0 by default."""
    value = ops.zeros([], dtypes.int64) if value is None else value
    return Variable(initial_value=value, name=name, trainable=False)


@public("contrib.boosted_trees.python.training.functions.gbdt_batch.GradientBoostedDecisionTreeModel")
class GradientBoostedDecisionTreeModel(GrowsTrees):
    """Boosted trees over a batch of features.

    Args:
      is_chief: whether this worker grows the trees.
      num_ps_replicas: how many parameter servers there are, maybe 0.
      ensemble_handle: of tree_ensemble_variable.
      center_bias: whether the bias is learned before the trees.
      examples_per_layer: how many examples a layer is grown by, or a function of the number of the layer.
      learner_config: a LearnerConfig; what it leaves open is filled in.
      features: {name: tensor or SparseTensor}.
      logits_dimension: how many logits there are.
      loss_reduction: whether the loss of a batch is a mean, SUM_OVER_NONZERO_WEIGHTS, or a SUM.
      feature_columns: what the features go through, or None.
      use_core_columns: whether these are of tf.feature_column, not of tf.contrib.layers.
      output_leaf_index: whether predictions have the leaves of each tree.
      output_leaf_index_modes: in which modes they have; to predict by default.
      num_quantiles: how many buckets numbers are put into.

    Raises ValueError for arguments that make no sense, or not together.
    """

    def __init__(
        self, is_chief, num_ps_replicas, ensemble_handle, center_bias, examples_per_layer, learner_config, features,
        logits_dimension, loss_reduction=Reduction.SUM_OVER_NONZERO_WEIGHTS, feature_columns=None,
        use_core_columns=False, output_leaf_index=False, output_leaf_index_modes=None, num_quantiles=100,
    ):  # fmt: skip
        if ensemble_handle is None:
            raise ValueError("ensemble_handle must be specified.")
        if learner_config is None:
            raise ValueError("learner_config must be specified.")
        if learner_config.num_classes < 2:
            raise ValueError("Number of classes must be >=2")
        if loss_reduction not in (Reduction.SUM, Reduction.SUM_OVER_NONZERO_WEIGHTS):
            raise ValueError(f"Invalid loss reduction is provided: {loss_reduction}.")
        self._logits_dimension = logits_dimension
        self._is_chief = is_chief
        self._num_ps_replicas = num_ps_replicas
        self._ensemble_handle = ensemble_handle
        self._center_bias = center_bias
        self._examples_per_layer = examples_per_layer
        self._loss_reduction = loss_reduction
        fill_defaults(learner_config, logits_dimension)
        self._learner_config = learner_config
        self._set_shapes(learner_config)
        self._learner_config_serialized = learner_config.SerializeToString()
        self._num_quantiles = num_quantiles
        self._max_tree_depth = Variable(initial_value=learner_config.constraints.max_tree_depth)
        self._attempted_trees = _counter("attempted_trees")
        self._finalized_trees = _counter("finalized_trees")
        if not features:
            raise ValueError("Features dictionary must be specified.")
        self._features = extract_features(features, feature_columns, use_core_columns)
        is_oblivious = learner_config.weak_learner_type == learner_config.OBLIVIOUS_DECISION_TREE
        if is_oblivious and self._features.sparse_float_indices:
            raise ValueError("Oblivious trees don't handle sparse float features yet.")
        logging.info("Active Feature Columns: " + str(self._features.names))
        logging.info("Learner config: " + str(learner_config))
        self._reduce_dim = self._is_tree_per_class and learner_config.num_classes == 2
        modes = [ModeKeys.INFER] if output_leaf_index_modes is None else output_leaf_index_modes
        if not all(mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER) for mode in modes):
            raise ValueError("output_leaf_index_modes should only contain ModeKeys.")
        self._leaf_index_modes = modes if output_leaf_index else []

    @property
    def _is_tree_per_class(self):
        return self._learner_config.multi_class_strategy == self._learner_config.TREE_PER_CLASS

    def _set_shapes(self, config):
        size = self._logits_dimension
        if size == 1 or self._is_tree_per_class:
            self._gradient_shape = self._hessian_shape = TensorShape([])
            return
        if self._center_bias:
            raise ValueError("Center bias should be False for multiclass.")
        self._gradient_shape = TensorShape([size])
        is_full = config.multi_class_strategy == config.FULL_HESSIAN
        self._hessian_shape = TensorShape([size, size] if is_full else [size])

    # ---- Predictions ---------------------------------------------------------------------------------------------

    def _predict_with(self, handle, stamp, mode):
        """The predictions of an ensemble; see predict."""
        keys = PredictionKeys
        stats = ops.tree_ensemble_stats(handle, stamp)
        used = ops.tree_ensemble_used_handlers(handle, stamp, num_all_handlers=self._features.count)
        is_training = mode == ModeKeys.TRAIN
        predicted = {}
        # The stats check the stamp.
        with control_dependencies(stats):
            arguments = (handle, stats.attempted_trees if is_training else -1, *self._features.tensors)
            settings = {
                "learner_config": self._learner_config_serialized,
                "apply_dropout": is_training,
                "apply_averaging": not is_training,
                "use_locking": True,
                "center_bias": self._center_bias,
                "reduce_dim": self._reduce_dim,
            }
            if mode in self._leaf_index_modes:
                logits, _, leaves = ops.gradient_trees_prediction_verbose(*arguments, **settings)
                predicted[keys.LEAF_INDEX] = leaves
            else:
                logits, _ = ops.gradient_trees_prediction(*arguments, **settings)
            partitions = ops.gradient_trees_partition_examples(handle, *self._features.tensors, use_locking=True)
        return {
            keys.ENSEMBLE_STAMP: stamp,
            keys.PREDICTIONS: logits,
            keys.PARTITION_IDS: partitions,
            keys.NUM_LAYERS_ATTEMPTED: stats.attempted_layers,
            keys.NUM_TREES_ATTEMPTED: stats.attempted_trees,
            keys.NUM_USED_HANDLERS: used.num_used_handlers,
            keys.USED_HANDLERS_MASK: used.used_handlers_mask,
            **predicted,
        }

    def predict(self, mode):
        """{key: tensor} of predictions: logits, and what training needs besides.

        Args:
          mode: of tf.contrib.learn.ModeKeys. Trees are dropped to train, and averaged otherwise.

        Raises ValueError without features.
        """
        if not self._features.inputs:
            raise ValueError("No input tensors for prediction.")
        first = self._features.inputs[0]
        stamp = ops.tree_ensemble_stamp_token(self._ensemble_handle)
        if self._ensemble_handle.device == first.device:
            with device(self._ensemble_handle.device):
                return self._predict_with(self._ensemble_handle, stamp, mode)
        # A worker predicts with a copy of its own, which it keeps up to date.
        with name_scope("local_ensemble", "TreeEnsembleVariable"):
            local = ops.decision_tree_ensemble_resource_handle_op(f"{self._ensemble_handle.op.name}/local_ensemble")
            create = ops.create_tree_ensemble_variable(local, stamp_token=-1, tree_ensemble_config="")
            with control_dependencies([create]):
                local_stamp = ops.tree_ensemble_stamp_token(local)

        def refresh():
            with control_dependencies([first]):
                new_stamp, config = ops.tree_ensemble_serialize(self._ensemble_handle)
            with control_dependencies([create]):
                return ops.tree_ensemble_deserialize(local, new_stamp, config), new_stamp

        with device(local.device):
            near_stamp = ops.identity(stamp)
            is_stale = ops.not_equal(near_stamp, local_stamp)
            refreshed, stamp = cond(is_stale, refresh, lambda: (ops.no_op(), near_stamp))
        with control_dependencies([refreshed]):
            return self._predict_with(local, stamp, mode)

    def _class_id(self, predictions_dict):
        """The class that the tree which grows is for, int32, or -1."""
        if not self._is_tree_per_class or self._logits_dimension == 1:
            return constant(-1, dtype=dtypes.int32)
        trees = predictions_dict[PredictionKeys.NUM_TREES_ATTEMPTED]
        return ops.cast(trees % self._logits_dimension, dtypes.int32)

    # ---- Statistics ----------------------------------------------------------------------------------------------

    def _derivatives(self, gradients, hessians, predictions, class_id):
        """(hessians, and gradients and hessians as handlers sum them).

        Raises ValueError for hessians of several logits.
        """
        size = self._logits_dimension
        if self._is_tree_per_class and size == 1:
            if hessians is None:
                hessians = gradients_by(gradients, predictions, "Hessian")
            return hessians, ops.squeeze(gradients, axis=[1]), ops.squeeze(hessians, axis=[1])
        if hessians is not None:
            raise ValueError("Providing hessians is not yet supported here.")
        if self._is_tree_per_class:
            hessians = diagonal_hessian(gradients, predictions, size)
            return hessians, column_at(gradients, class_id), column_at(hessians, class_id)
        is_full = self._learner_config.multi_class_strategy == self._learner_config.FULL_HESSIAN
        hessians = (full_hessian if is_full else diagonal_hessian)(gradients, predictions, size)
        return hessians, gradients, hessians

    def _quantile_weights(self, hessians):
        """How much each example counts for quantiles."""
        if self._hessian_shape.rank == 0:
            return hessians
        if self._hessian_shape.rank == 1:
            return ops.reduce_sum(hessians, axis=1)
        return ops.trace(hessians)

    def _device_setter(self, worker_device):
        types = [
            *STANDARD_PS_OPS, "DecisionTreeEnsembleResourceHandleOp", "StatsAccumulatorScalarResourceHandleOp",
            "StatsAccumulatorTensorResourceHandleOp",
        ]  # fmt: skip
        return replica_device_setter(
            worker_device=worker_device,
            ps_tasks=self._num_ps_replicas,
            merge_devices=True,
            ps_ops=types,
            ps_strategy=_RoundRobinByType(types, self._num_ps_replicas),
        )

    def _training_state(self, handlers):
        return TrainingState(
            num_layer_examples=_counter("num_layer_examples"),
            num_layer_steps=_counter("num_layer_steps"),
            num_layers=_counter("num_layers"),
            active_tree=_counter("active_tree"),
            active_layer=_counter("active_layer"),
            continue_centering=_counter("continue_centering", self._center_bias),
            bias_stats_accumulator=StatsAccumulator(
                0, self._gradient_shape, self._hessian_shape, name="BiasAccumulator"
            ),
            steps_accumulator=StatsAccumulator(0, TensorShape([]), TensorShape([]), name="StepsAccumulator"),
            handlers=handlers,
        )

    def _update_bias(self, state, stamp, predictions, gradients, hessians):
        """A function that adds the sums of a batch, by which the bias is centered."""

        def update():
            sums = [ops.reduce_sum(tensor, 0) for tensor in (gradients, hessians)]
            partitions = ops.range(self._logits_dimension)
            features = ops.zeros([self._logits_dimension, 2], dtype=dtypes.int64)
            add = state.bias_stats_accumulator.add(stamp, partitions, features, *sums)
            return group(add, name="update_bias_stats")

        return update

    def update_stats(self, loss, predictions_dict, gradients=None, hessians=None):
        """Counts a batch.

        Args:
          loss: a scalar.
          predictions_dict: what predict() has returned to train.
          gradients, hessians: derivatives of the loss with respect to the logits, if they need not be computed.

        Returns:
          (operations that add what the batch says, an operation that takes all trees away, the TrainingState).

        Raises ValueError for hessians of several logits.
        """
        worker_device = self._features.inputs[0].device
        predictions = predictions_dict[PredictionKeys.PREDICTIONS]
        partitions = predictions_dict[PredictionKeys.PARTITION_IDS]
        stamp = predictions_dict[PredictionKeys.ENSEMBLE_STAMP]
        if gradients is None:
            gradients = gradients_by(loss, predictions, "Gradients")
        class_id = self._class_id(predictions_dict)
        hessians, own_gradients, own_hessians = self._derivatives(gradients, hessians, predictions, class_id)
        weights = self._quantile_weights(own_hessians)
        with device(self._device_setter(worker_device)):
            is_sum = self._loss_reduction == Reduction.SUM
            handlers = make_handlers(
                self._features, self._learner_config, self._num_quantiles, self._gradient_shape, self._hessian_shape,
                is_sum,
            )  # fmt: skip
            state = self._training_state(handlers)
        scalar("layer_stats/num_examples", state.num_layer_examples)
        scalar("layer_stats/num_steps", state.num_layer_steps)
        scalar("ensemble_stats/active_tree", state.active_tree)
        scalar("ensemble_stats/active_layer", state.active_layer)
        update_bias = self._update_bias(state, stamp, predictions, gradients, hessians)
        updates = [cond(state.continue_centering, update_bias, ops.no_op)]
        reads = {handler: handler.scheduled_reads() for handler in handlers}
        read = run_handler_scheduled_ops(reads, stamp, worker_device)
        are_active = active_handlers(self._learner_config, predictions_dict, len(handlers))
        no_gradients = constant([], dtypes.float32, [1, *self._gradient_shape.as_list()])
        no_hessians = constant([], dtypes.float32, [1, *self._hessian_shape.as_list()])
        scheduled = {}
        for handler, is_active in zip(handlers, ops.unstack(are_active, axis=0), strict=True):
            update, scheduled[handler] = handler.update_stats(
                stamp, partitions, own_gradients, own_hessians, no_gradients, no_hessians, weights, is_active,
                read[handler],
            )  # fmt: skip
            updates.append(update)
        for added in run_handler_scheduled_ops(scheduled, stamp, worker_device).values():
            updates += added
        return updates, self._reset_op(state), state

    def _reset_op(self, state):
        """Takes all trees away, and what has been counted. Only the chief does that."""
        if not self._is_chief:
            return ops.no_op()
        stamp, _ = ops.tree_ensemble_serialize(self._ensemble_handle)
        next_stamp = stamp + 1
        resets = [handler.reset(stamp, next_stamp) for handler in state.handlers]
        if self._center_bias:
            resets.append(state.bias_stats_accumulator.flush(stamp, next_stamp))
        resets.append(state.steps_accumulator.flush(stamp, next_stamp))
        resets.append(self._finalized_trees.assign(0).op)
        resets.append(self._attempted_trees.assign(0).op)
        resets.append(
            ops.tree_ensemble_deserialize(
                self._ensemble_handle, next_stamp, tree_ensemble_config="", name="reset_gbdt"
            )
        )
        return group([resets])

    def get_number_of_trees_tensor(self):
        """(how many trees are finished, how many were tried), int64 variables."""
        return self._finalized_trees, self._attempted_trees

    def get_max_tree_depth(self):
        """The greatest depth, an int32 variable."""
        return self._max_tree_depth

    def train(self, loss, predictions_dict, labels, gradients=None, hessians=None):
        """An operation that counts a batch, and grows a layer once enough examples are counted.

        Args:
          loss, predictions_dict, gradients, hessians: as update_stats has them.
          labels: not used.

        Raises ValueError for hessians of several logits, and a learning rate that would have to be searched.
        """
        updates, _, state = self.update_stats(loss, predictions_dict, gradients, hessians)
        with control_dependencies(updates):
            return self.increment_step_counter_and_maybe_update_ensemble(predictions_dict, state)
