"""How a model grows a layer of its trees, once enough examples are counted."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.contrib.boosted_trees.learner_defaults import learning_rate_of
from stillflow.contrib.boosted_trees.prediction_keys import PredictionKeys
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group


@public("contrib.boosted_trees.python.training.functions.gbdt_batch.GBDTTrainingState")
class TrainingState(NamedTuple):
    """What is counted while a model is trained."""

    num_layer_examples: Any
    num_layer_steps: Any
    num_layers: Any
    active_tree: Any
    active_layer: Any
    continue_centering: Any
    bias_stats_accumulator: Any
    steps_accumulator: Any
    handlers: list


class _Candidates:
    """The splits of all handlers, as one tensor of each kind: that makes fewer nodes of a branch's inputs."""

    def __init__(self, handlers, stamp, next_stamp, class_id):
        made = [handler.make_splits(stamp, next_stamp, class_id) for handler in handlers]
        ready, partitions, gains, splits = (list(each) for each in zip(*made, strict=True))
        self.sizes = ops.reshape(ops.shape_n(partitions), [len(partitions)])
        self.partitions = ops.concat(partitions, axis=0)
        self.gains = ops.concat(gains, axis=0)
        self.splits = ops.concat(splits, axis=0)
        self.are_ready = ops.reduce_all(ops.stack(ready, axis=0, name="stack_handler_readiness"))
        self._count = len(handlers)

    def by_handler(self, is_oblivious):
        """(partitions, gains, splits), lists with an entry for each handler."""
        sizes = ops.unstack(self.sizes)
        partitions = list(ops.split(self.partitions, sizes, axis=0))
        # An oblivious tree has one split of a layer, not one for each partition.
        of_splits = self._count if is_oblivious else sizes
        gains = list(ops.split(self.gains, of_splits, axis=0))
        return partitions, gains, list(ops.split(self.splits, of_splits, axis=0))


class GrowsTrees:
    """What a GradientBoostedDecisionTreeModel does once the statistics of a batch are counted."""

    _is_chief: bool
    _center_bias: bool
    _examples_per_layer: Any
    _learner_config: Any
    _learner_config_serialized: bytes
    _ensemble_handle: Any
    _max_tree_depth: Any
    _finalized_trees: Any
    _attempted_trees: Any

    def _class_id(self, predictions_dict):
        raise NotImplementedError

    def increment_step_counter_and_maybe_update_ensemble(self, predictions_dict, training_state):
        """An operation that counts the step, and grows a layer once enough examples are counted.

        Args:
          predictions_dict: what predict() has returned to train.
          training_state: what update_stats() has returned.

        Raises ValueError for a learning rate that would have to be searched.
        """
        logits = predictions_dict[PredictionKeys.PREDICTIONS]
        batch_size = ops.cast(ops.shape(logits)[0], dtypes.float32)
        stamp = predictions_dict[PredictionKeys.ENSEMBLE_STAMP]
        steps = training_state.steps_accumulator
        add_step = steps.add(stamp, [0], [[0, 0]], [batch_size], [1.0])
        updates = [add_step]
        class_id = self._class_id(predictions_dict)
        with control_dependencies([add_step]):
            if self._is_chief:
                *_, examples, count = steps.saveable.serialize()
                examples = ops.cast(examples[0], dtypes.int64)
                count = ops.cast(count[0], dtypes.int64)
                updates.append(training_state.num_layer_examples.assign(examples))
                updates.append(training_state.num_layer_steps.assign(count))
                wanted = self._examples_per_layer
                if callable(wanted):
                    wanted = wanted(training_state.active_layer)
                seed = predictions_dict[PredictionKeys.NUM_TREES_ATTEMPTED]
                grow = self.make_update_ensemble_fn(stamp, training_state, seed, class_id)
                updates.append(cond(ops.greater_equal(examples, wanted), grow, ops.no_op))
        return group(*updates)

    def make_update_ensemble_fn(self, ensemble_stamp, training_state, dropout_seed, class_id):
        """A function that makes the operation which grows a layer, or centers the bias.

        Raises ValueError for a learning rate that would have to be searched.
        """
        config = self._learner_config
        rate = learning_rate_of(config)

        def update():
            next_stamp = ensemble_stamp + 1
            *_, gradients, hessians = training_state.bias_stats_accumulator.flush(ensemble_stamp, next_stamp)
            candidates = _Candidates(training_state.handlers, ensemble_stamp, next_stamp, class_id)
            stamps = (self._ensemble_handle, ensemble_stamp, next_stamp)

            def center():
                is_curved = ops.greater(hessians, 0.0)
                moves = ops.where(is_curved, ops.negative(gradients) / hessians, ops.zeros_like(gradients))
                continues = ops.center_tree_ensemble_bias(
                    *stamps, delta_updates=moves, learner_config=self._learner_config_serialized
                )
                return training_state.continue_centering.assign(continues)

            def grow_with(rate, partitions, gains, splits):
                return ops.grow_tree_ensemble(
                    *stamps,
                    learning_rate=rate,
                    partition_ids=partitions,
                    gains=gains,
                    splits=splits,
                    learner_config=self._learner_config_serialized,
                    dropout_seed=dropout_seed,
                    center_bias=self._center_bias,
                    max_tree_depth=self._max_tree_depth,
                    weak_learner_type=config.weak_learner_type,
                )

            def grow_ready():
                is_oblivious = config.weak_learner_type == config.OBLIVIOUS_DECISION_TREE
                return grow_with(rate, *candidates.by_handler(is_oblivious))

            def grow():
                # Without boundaries nothing grows, but the stamp goes on.
                return cond(candidates.are_ready, grow_ready, lambda: grow_with(0, [], [], []))

            changed = cond(training_state.continue_centering, center, grow) if self._center_bias else grow()
            return self._updated(changed, candidates, training_state, ensemble_stamp, next_stamp)

        return update

    def _updated(self, changed, candidates, state, stamp, next_stamp):
        """The operation that grows, and says in variables how far the ensemble has got."""
        updates = [candidates.are_ready, changed]
        with control_dependencies([changed]):
            stats = ops.tree_ensemble_stats(self._ensemble_handle, stamp_token=next_stamp)
            updates.append(self._finalized_trees.assign(stats.num_trees))
            updates.append(self._attempted_trees.assign(stats.attempted_trees))
            updates.append(state.num_layers.assign(stats.num_layers))
            updates.append(state.active_tree.assign(stats.active_tree))
            updates.append(state.active_layer.assign(stats.active_layer))
        updates.extend(state.steps_accumulator.flush(stamp, next_stamp))
        return group(*updates, name="update_ensemble")
