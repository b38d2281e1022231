"""The model functions of tf.contrib.learn's linear models and deep networks."""

from __future__ import annotations

import contextlib
import math

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.composites.clip import clip_by_global_norm
from stillflow.composites.statistics import zero_fraction
from stillflow.composites.summaries import histogram, scalar
from stillflow.contrib.layers.column_base import FeatureColumn
from stillflow.contrib.layers.column_inputs import input_from_feature_columns, weighted_sum_from_feature_columns
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES, optimize_loss
from stillflow.contrib.layers.plain import dropout
from stillflow.contrib.learn.dual_ascent import dual_ascent_model_fn
from stillflow.contrib.learn.modes import ModeKeys
from stillflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from stillflow.feature_columns.input_layer import input_layer
from stillflow.feature_columns.linear_model import linear_model
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.ftrl import FtrlOptimizer
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.sync_replicas import SyncReplicasOptimizer
from stillflow.variables.assignments import assign_add
from stillflow.variables.partitioned_variables import min_max_variable_partitioner
from stillflow.variables.scope import variable_scope

_LINEAR_RATE = 0.2
_DEEP_RATE = 0.05
_SLICE = 64 << 20
_ACTIVATIONS = {"relu": ops.relu, "tanh": ops.tanh, "sigmoid": ops.sigmoid}


def _partitioner(config, min_slice_size=256 << 10):
    replicas = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(max_partitions=replicas, min_slice_size=min_slice_size)


def _as_dict(features):
    return features if isinstance(features, dict) else {"": features}


def _optimizer(given, rate=None):
    """The optimizer that a user gave: one, a function that makes it, or (with a rate) a name."""
    if isinstance(given, str) and rate is not None:
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    return given() if callable(given) else given


def _are_of_contrib(columns):
    return all(isinstance(column, FeatureColumn) for column in columns)


def _linear_rate(columns):
    return min(_LINEAR_RATE, 1.0 / math.sqrt(len(columns)))


def _summarize(value, tag, separator):
    scalar(f"{tag}{separator}fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}{separator}activation", value)


def _multipliers(by_column, collection, input_scope):
    """{embedding variable: by how much its gradient is multiplied}, or None. Raises ValueError for other columns."""
    found = {}
    for column, multiplier in (by_column or {}).items():
        if type(column).__name__ != "_EmbeddingColumn":
            raise ValueError(
                f"learning rate multiplier can only be defined for embedding columns. It is defined for {column}"
            )
        prefix = f"{input_scope}/{column.name}"
        variables = [v for v in get_default_graph().get_collection(collection) if v.name.startswith(prefix)]
        if not variables:
            raise ValueError(f"Couldn't find a variable for column {column}")
        found.update(dict.fromkeys(variables, multiplier))
    return found or None


@contextlib.contextmanager
def _deep_network(features, params, mode, size, config, separator):
    """(logits, the name of the input's scope) of a deep network, inside of its variable scope."""
    values, columns = tuple(features.values()), params["feature_columns"]
    inputs = params.get("input_layer_partitioner") or _partitioner(
        config, params.get("input_layer_min_slice_size") or _SLICE
    )
    activation, rate = _activation(params.get("activation_fn")), params.get("dropout")
    with variable_scope("dnn", values=values, partitioner=_partitioner(config)):
        with variable_scope("input_from_feature_columns", values=values, partitioner=inputs) as scope:
            if _are_of_contrib(columns):
                net = input_from_feature_columns(features, columns, weight_collections=["dnn"], scope=scope)
            else:
                net = input_layer(features=features, feature_columns=columns, weight_collections=["dnn"])
        for i, count in enumerate(params["hidden_units"]):
            with variable_scope(f"hiddenlayer_{i}", values=(net,)) as layer:
                net = fully_connected(
                    net, count, activation_fn=activation, variables_collections=["dnn"], scope=layer
                )
                if rate is not None and mode == ModeKeys.TRAIN:
                    net = dropout(net, keep_prob=1.0 - rate)
            _summarize(net, layer.name, separator)
        with variable_scope("logits", values=(net,)) as layer:
            logits = fully_connected(net, size, activation_fn=None, variables_collections=["dnn"], scope=layer)
        _summarize(logits, layer.name, separator)
        yield logits, scope.name


def _activation(given):
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        names = ", ".join(_ACTIVATIONS)
        raise ValueError(f"Activation name should be one of [{names}], you provided {given}.")
    return _ACTIVATIONS[given]


def _linear_logits(features, columns, size, scope):
    if _are_of_contrib(columns):
        return weighted_sum_from_feature_columns(
            features, columns, num_outputs=size, weight_collections=["linear"], scope=scope
        )[0]
    return linear_model(features=features, feature_columns=columns, units=size, weight_collections=["linear"])


def deep_model_fn(features, labels, mode, params, config=None):
    """The model function of a deep network; of `params` see DNNEstimator."""
    head, features = params["head"], _as_dict(features)
    with _deep_network(features, params, mode, head.logits_dimension, config, "_") as (logits, input_scope):

        def train(loss):
            return optimize_loss(
                loss=loss,
                global_step=get_global_step(),
                learning_rate=_DEEP_RATE,
                optimizer=_optimizer(params.get("optimizer") or "Adagrad"),
                gradient_multipliers=_multipliers(params.get("embedding_lr_multipliers"), "dnn", input_scope),
                clip_gradients=params.get("gradient_clip_norm"),
                name="dnn",
                summaries=[],
            )

        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train, logits=logits)


def linear_model_fn(features, labels, mode, params, config=None):
    """The model function of a linear model; of `params` see LinearEstimator."""
    head, features, columns = params["head"], _as_dict(features), params["feature_columns"]
    optimizer = params.get("optimizer")
    if isinstance(optimizer, SDCAOptimizer):
        return dual_ascent_model_fn(features, labels, mode, params)
    values = tuple(features.values())
    with variable_scope("linear", values=values, partitioner=_partitioner(config, _SLICE)) as scope:
        logits = _linear_logits(features, columns, head.logits_dimension, scope)

        def train(loss):
            variables = get_default_graph().get_collection("linear")
            found = gradients(loss, variables)
            if params.get("gradient_clip_norm"):
                found, _ = clip_by_global_norm(found, params["gradient_clip_norm"])
            chosen = optimizer or FtrlOptimizer(learning_rate=_linear_rate(columns))
            pairs = zip(found, variables, strict=True)
            return _optimizer(chosen, _LINEAR_RATE).apply_gradients(pairs, global_step=get_global_step())

        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train, logits=logits)


def combined_model_fn(features, labels, mode, params, config=None):
    """The model function of a linear model and a deep network together; of `params` see DNNLinearCombinedEstimator.

    Raises ValueError for an optimizer that waits for other workers, and without hidden units for a deep network.
    """
    head, features = params["head"], _as_dict(features)
    optimizers = {
        name: _optimizer(params.get(f"{name}_optimizer") or default)
        for name, default in (("linear", "Ftrl"), ("dnn", "Adagrad"))
    }
    if any(isinstance(optimizer, SyncReplicasOptimizer) for optimizer in optimizers.values()):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use this optimizer, "
            "please use either DNN or Linear model."
        )
    linear_columns, deep_columns = params["linear_feature_columns"], params["dnn_feature_columns"]
    rates, logits, input_scope = {}, [], None
    if deep_columns:
        if not params.get("dnn_hidden_units"):
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        own = {name.removeprefix("dnn_"): value for name, value in params.items()}
        own["activation_fn"] = own.get("activation_fn") or ops.relu
        with _deep_network(features, own, mode, head.logits_dimension, config, "/") as (found, input_scope):
            logits.append(found)
        rates["dnn"] = _DEEP_RATE
    if linear_columns:
        values = tuple(features.values())
        with variable_scope("linear", values=values, partitioner=_partitioner(config, _SLICE)) as scope:
            logits.append(_linear_logits(features, linear_columns, head.logits_dimension, scope))
            _summarize(logits[-1], scope.name, "/")
        rates["linear"] = _linear_rate(linear_columns)
    total = logits[0] if len(logits) == 1 else logits[0] + logits[1]
    train = _combined_training(params, optimizers, rates, input_scope)
    return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train, logits=total)


def _combined_training(params, optimizers, rates, input_scope):
    """The function from a loss to the operation that trains the parts for which there are learning rates."""
    counts_once = params.get("fix_global_step_increment_bug", True)

    def train(loss):
        step = get_global_step()
        multipliers = _multipliers(params.get("embedding_lr_multipliers"), "dnn", input_scope)
        trained = [
            optimize_loss(
                loss=loss,
                global_step=step,
                learning_rate=rate,
                optimizer=optimizers[name],
                gradient_multipliers=multipliers if name == "dnn" else None,
                clip_gradients=params.get("gradient_clip_norm"),
                variables=get_default_graph().get_collection(name),
                name=name,
                summaries=[],
                increment_global_step=not counts_once,
            )
            for name, rate in rates.items()
        ]
        train_op = group(*trained)
        if not counts_once:
            return train_op
        with control_dependencies([train_op]), colocate_with(step):
            return assign_add(step, 1).op

    return train
