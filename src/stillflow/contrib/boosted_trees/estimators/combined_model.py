"""The model function of a network whose logits trees improve: first the one is trained, then the others."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.statistics import zero_fraction
from stillflow.composites.summaries import histogram, scalar
from stillflow.contrib.boosted_trees.estimators.distillation import create_dnn_to_tree_cross_entropy_loss_fn
from stillflow.contrib.boosted_trees.estimators.hooks import StopAfterNTrees, SwitchTrainOp
from stillflow.contrib.boosted_trees.estimators.model_functions import (
    ModelBuilderOutputType,
    counting_step,
    ensemble_at_step,
)
from stillflow.contrib.boosted_trees.model import GradientBoostedDecisionTreeModel
from stillflow.contrib.boosted_trees.prediction_keys import PredictionKeys
from stillflow.contrib.layers.column_inputs import input_from_feature_columns
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.dense_columns import real_valued_column
from stillflow.contrib.layers.optimizers import optimize_loss
from stillflow.contrib.layers.plain import dropout
from stillflow.contrib.learn.heads import _weight_tensor
from stillflow.contrib.learn.modes import ModeKeys
from stillflow.feature_columns.input_layer import input_layer
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.platform import logging
from stillflow.training.global_step import get_global_step
from stillflow.variables.partitioned_variables import min_max_variable_partitioner
from stillflow.variables.scope import variable_scope

_LEARNING_RATE = 0.001
_SCOPE = "dnn"


class CombinedParams(NamedTuple):
    """What the estimators of combined_estimators are made with."""

    head: Any
    dnn_hidden_units: Any
    dnn_feature_columns: Any
    tree_learner_config: Any
    num_trees: int
    tree_examples_per_layer: Any
    dnn_optimizer: Any
    dnn_activation_fn: Any
    dnn_dropout: Any
    dnn_input_layer_partitioner: Any
    dnn_input_layer_to_tree: bool
    dnn_steps_to_train: int
    predict_with_tree_only: bool
    tree_feature_columns: Any
    tree_center_bias: bool
    dnn_to_tree_distillation_param: Any
    use_core_versions: bool
    override_global_step_value: Any


class _Network:
    """The network's input and its logits."""

    def __init__(self, features, mode, params, config):
        self._mode = mode
        self._params = params
        partitioner = params.dnn_input_layer_partitioner or min_max_variable_partitioner(
            max_partitions=config.num_ps_replicas, min_slice_size=64 << 20
        )
        values = tuple(features.values())
        with variable_scope(_SCOPE, values=values, partitioner=partitioner):
            with variable_scope("input_from_feature_columns", values=values, partitioner=partitioner) as scope:
                self.input = self._input_of(features, scope)
            self.logits, self.is_trained = self._logits_of_mode()

    def _input_of(self, features, scope):
        columns = self._params.dnn_feature_columns
        if self._params.use_core_versions:
            return input_layer(features=features, feature_columns=columns, weight_collections=[_SCOPE])
        return input_from_feature_columns(
            columns_to_tensors=features, feature_columns=columns, weight_collections=[_SCOPE], scope=scope
        )

    def _layers(self):
        params, layer = self._params, self.input
        for i, units in enumerate(params.dnn_hidden_units):
            with variable_scope(f"hiddenlayer_{i}", values=(layer,)) as scope:
                layer = fully_connected(
                    layer, units, activation_fn=params.dnn_activation_fn, variables_collections=[_SCOPE], scope=scope
                )
                if params.dnn_dropout is not None and self._mode == ModeKeys.TRAIN:
                    layer = dropout(layer, keep_prob=1.0 - params.dnn_dropout)
            _summarize(layer, scope.name)
        with variable_scope("logits", values=(layer,)) as scope:
            logits = fully_connected(
                layer, params.head.logits_dimension, activation_fn=None, variables_collections=[_SCOPE], scope=scope
            )
        _summarize(logits, scope.name)
        return logits

    def _logits_of_mode(self):
        """(logits, whether the network can be trained): without trees none are needed later."""
        if not self._params.predict_with_tree_only or self._mode == ModeKeys.TRAIN:
            return self._layers(), True
        if self._mode == ModeKeys.INFER:
            return constant(0.0), False
        is_over = ops.greater(get_global_step(), self._params.dnn_steps_to_train)
        return cond(is_over, lambda: constant(0.0), self._layers), False

    def train_op(self, loss):
        """The operation of a step."""
        if not self.is_trained:
            return ops.no_op()
        optimizer = self._params.dnn_optimizer
        return optimize_loss(
            loss=loss,
            global_step=get_global_step(),
            learning_rate=_LEARNING_RATE,
            optimizer=optimizer() if callable(optimizer) else optimizer,
            name=_SCOPE,
            variables=get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=_SCOPE),
            summaries=[],
        )


def _summarize(value, tag):
    scalar(f"{tag}_fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}_activation", value)


def _checked(features, params, output_type):
    """The params that go together. Raises ValueError for what makes no sense."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    if not params.dnn_feature_columns:
        raise ValueError("dnn_feature_columns must be specified")
    if output_type == ModelBuilderOutputType.ESTIMATOR_SPEC and not params.use_core_versions:
        raise ValueError("You must use core versions with Estimator Spec")
    if params.dnn_to_tree_distillation_param and not params.predict_with_tree_only:
        logging.warning("update predict_with_tree_only to True since distillation is specified.")
        return params._replace(predict_with_tree_only=True)
    return params


def _distillation_loss(features, params, network, tree_logits):
    """The loss by which trees learn what the network says."""
    weight, loss_fn = params.dnn_to_tree_distillation_param
    head = params.head
    column = head._weight_column if params.use_core_versions else head.weight_column_name
    weights = _weight_tensor(features, column)
    if loss_fn is None:
        size = head.logits_dimension
        loss_fn = create_dnn_to_tree_cross_entropy_loss_fn(2 if size == 1 else size)
    loss = weight * loss_fn(ops.stop_gradient(network.logits), tree_logits, weights)
    scalar("dnn_to_tree_distillation_loss", loss)
    return loss


def _combined_logits(params, mode, network, tree_logits):
    if not params.predict_with_tree_only:
        return network.logits + tree_logits
    if mode != ModeKeys.EVAL:
        return tree_logits
    is_over = ops.greater(get_global_step(), params.dnn_steps_to_train)
    return cond(is_over, lambda: tree_logits, lambda: network.logits)


def dnn_tree_combined_model_fn(features, labels, mode, config, params, output_type):
    """What the head makes of a network's logits and those of trees.

    Args:
      features: {name: tensor}.
      labels: what the head takes.
      mode: of ModeKeys.
      config: a RunConfig.
      params: CombinedParams.
      output_type: of ModelBuilderOutputType.

    Raises ValueError for what makes no sense.
    """
    params = _checked(features, params, output_type)
    network = _Network(features, mode, params, config)
    ensemble = ensemble_at_step()
    tree_features, columns = dict(features), params.tree_feature_columns
    if params.dnn_input_layer_to_tree:
        tree_features["dnn_input_layer"] = network.input
        columns = [*(columns or ()), real_valued_column("dnn_input_layer")]
    model = GradientBoostedDecisionTreeModel(
        is_chief=config.is_chief,
        num_ps_replicas=config.num_ps_replicas,
        ensemble_handle=ensemble,
        center_bias=params.tree_center_bias,
        examples_per_layer=params.tree_examples_per_layer,
        learner_config=params.tree_learner_config,
        feature_columns=columns,
        logits_dimension=params.head.logits_dimension,
        features=tree_features,
        use_core_columns=params.use_core_versions,
    )
    with name_scope("gbdt"):
        predicted = model.predict(mode)
        tree_logits = predicted[PredictionKeys.PREDICTIONS]
        logits = _combined_logits(params, mode, network, tree_logits)

    def train_trees(loss):
        if params.dnn_to_tree_distillation_param:
            loss += _distillation_loss(features, params, network, tree_logits)
        return counting_step(model.train(loss, predicted, labels))

    def made(own_features, train_op_fn, own_logits):
        head = params.head
        is_spec = output_type == ModelBuilderOutputType.ESTIMATOR_SPEC
        make = head.create_estimator_spec if is_spec else head.create_model_fn_ops
        return make(features=own_features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=own_logits)

    found = made(features, lambda loss: ops.no_op(), logits)
    if mode != ModeKeys.TRAIN:
        return found
    first = made(features, network.train_op, network.logits).train_op
    second = made(tree_features, train_trees, logits).train_op
    finalized, attempted = model.get_number_of_trees_tensor()
    count = params.num_trees + 1 if params.tree_center_bias else params.num_trees
    hooks = [
        SwitchTrainOp(first, params.dnn_steps_to_train, second),
        StopAfterNTrees(count, attempted, finalized, params.override_global_step_value),
    ]
    return found._replace(training_hooks=[*hooks, *found.training_hooks])
