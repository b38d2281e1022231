"""tf.contrib.tensor_forest.client.random_forest: estimators of random forests."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.summaries import scalar
from stillflow.contrib.estimator import heads as core_heads
from stillflow.contrib.layers.column_inputs import transform_features
from stillflow.contrib.learn import estimators, heads
from stillflow.contrib.learn.modes import ModeKeys, ProblemType
from stillflow.contrib.tensor_forest.graphs import RandomForestGraphs
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.transformation import transform_features as core_transform_features
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.messages import log
from stillflow.variables.assignments import assign_add

_LOSS_NAME = "rf_training_loss"
_TREE_PATHS, _VARIANCE, _ALL_SERVING = "tree_paths", "prediction_variance", "tensorforest_all"
_EPSILON = 1e-6


@public("contrib.tensor_forest.client.random_forest.ModelBuilderOutputType")
class ModelBuilderOutputType:
    """For which kind of Estimator a model function is."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


@public("contrib.tensor_forest.client.random_forest.TensorForestRunOpAtEndHook")
class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs operations after training, by their names in order, and logs what they give."""

    def __init__(self, op_dict):
        self._ops = op_dict

    def end(self, session):
        for name in sorted(self._ops):
            log().info("%s: %s", name, session.run(self._ops[name]))


@public("contrib.tensor_forest.client.random_forest.TensorForestLossHook")
class TensorForestLossHook(SessionRunHook):
    """Ends training when the loss does not get better.

    Args:
      early_stopping_rounds: for how many steps.
      early_stopping_loss_threshold: by which part of the least loss it has to be less.
      loss_op: the loss; by default the operation rf_training_loss.
    """

    def __init__(self, early_stopping_rounds, early_stopping_loss_threshold=None, loss_op=None):
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold
        self.loss_op = loss_op
        self.min_loss: Any = None
        self.last_step = -1
        self.steps = 0

    def before_run(self, run_context):
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(_LOSS_NAME).outputs[0]
        return SessionRunArgs({"global_step": get_global_step(), "current_loss": loss})

    def after_run(self, run_context, run_values):
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        if self.last_step == -1 or self.last_step > step:
            log().info("TensorForestLossHook resetting last_step.")
            self.last_step, self.steps, self.min_loss = step, 0, None
            return
        self.last_step = step
        if self.min_loss is None or loss < self.min_loss - self.min_loss * self.early_stopping_loss_threshold:
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            log().info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


def _default_head(params, weights_name, is_core, name=None):
    if not is_core:
        if params.regression:
            return heads.regression_head(
                weight_column_name=weights_name, label_dimension=params.num_outputs, head_name=name
            )
        return heads.multi_class_head(params.num_classes, weight_column_name=weights_name, head_name=name)
    if params.regression:
        return core_heads.regression_head(weight_column=weights_name, label_dimension=params.num_outputs, name=name)
    if params.num_classes == 2:
        return core_heads.binary_classification_head(weight_column=weights_name, name=name)
    return core_heads.multi_class_head(params.num_classes, weight_column=weights_name, name=name)


@public("contrib.tensor_forest.client.random_forest.get_model_fn")
def get_model_fn(
    params, graph_builder_class, device_assigner, feature_columns=None, weights_name=None, model_head=None,
    keys_name=None, early_stopping_rounds=100, early_stopping_loss_threshold=0.001, num_trainers=1, trainer_id=0,
    report_feature_importances=False, local_eval=False, head_scope=None, include_all_in_serving=False,
    output_type=ModelBuilderOutputType.MODEL_FN_OPS,
):  # fmt: skip
    """A model function of (features, labels, mode) for a random forest.

    Args:
      params: a ForestHParams, filled.
      graph_builder_class: RandomForestGraphs, or another class like it.
      device_assigner: what says where each tree lies.
      feature_columns: columns that make the features.
      weights_name, keys_name: features that are the examples' weights, and that predictions name them by.
      model_head: a head; by default one of params' classes or numbers.
      early_stopping_rounds, early_stopping_loss_threshold: see TensorForestLossHook.
      num_trainers, trainer_id: how many workers grow trees, and which this is.
      report_feature_importances: whether they are logged after training.
      local_eval: whether evaluation does not use the device assigner.
      head_scope: the head's variable scope.
      include_all_in_serving: whether all predictions are exported.
      output_type: of ModelBuilderOutputType.
    """
    is_core = output_type == ModelBuilderOutputType.ESTIMATOR_SPEC
    head = _default_head(params, weights_name, is_core) if model_head is None else model_head

    def model_fn(features, labels, mode):
        features = {"features": features} if isinstance(features, (Tensor, SparseTensor)) else features
        if feature_columns:
            features = _with_columns(features, feature_columns, is_core)
        weights = features.pop(weights_name) if weights_name and weights_name in features else None
        keys = features.pop(keys_name) if keys_name and keys_name in features else None
        is_local = mode == ModeKeys.INFER or (local_eval and mode == ModeKeys.EVAL)
        builder = graph_builder_class(params, device_assigner=None if is_local else device_assigner)
        logits, paths, variance = builder.inference_graph(features)
        scalar("average_tree_size", builder.average_size())
        if not params.regression and params.num_classes == 2:
            logits = _log_odds(logits)
        train = None
        if labels is not None and mode == ModeKeys.TRAIN:
            with control_dependencies([logits.op]):
                growth = builder.training_graph(
                    features, labels, input_weights=weights, num_trainers=num_trainers, trainer_id=trainer_id
                )
                train = group(growth, assign_add(get_global_step(), 1))
        if weights is not None:
            features[weights_name] = weights
        arguments = {"features": features, "labels": labels, "mode": mode, "logits": logits}
        arguments["train_op_fn"] = lambda loss: train
        if is_core:
            found = head.create_estimator_spec(**arguments)
        else:
            found = head.create_model_fn_ops(**arguments, scope=head_scope)
        hooks: list[SessionRunHook] = [TensorForestRunOpAtEndHook(_ops_at_end(builder, report_feature_importances))]
        if early_stopping_rounds:
            hooks.append(TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, found.loss))
        if keys is not None:
            found.predictions[keys_name] = keys
        if params.inference_tree_paths:
            found.predictions[_TREE_PATHS] = paths
        found.predictions[_VARIANCE] = variance
        completed = _completed_spec if is_core else _completed_model_fn_ops
        return completed(found, hooks, include_all_in_serving)

    return model_fn


def _completed_spec(spec, hooks, include_all_in_serving):
    """An EstimatorSpec with hooks of training, and with all predictions as exported outputs if they are wanted."""
    spec = spec._replace(training_hooks=[*hooks, *spec.training_hooks])
    if include_all_in_serving:
        spec = spec._replace(export_outputs={_ALL_SERVING: PredictOutput(spec.predictions)})
    return spec


def _completed_model_fn_ops(found, hooks, include_all_in_serving):
    """The same for ModelFnOps, which keep the other outputs beside all predictions."""
    found = found._replace(training_hooks=[*found.training_hooks, *hooks])
    if include_all_in_serving:
        alternatives = dict(found.output_alternatives or {})
        alternatives[_ALL_SERVING] = (ProblemType.UNSPECIFIED, found.predictions)
        found = found._replace(output_alternatives=alternatives)
    return found


def _with_columns(features, columns, is_core):
    features = dict(features)
    if not is_core:
        features.update(transform_features(features, columns))
        return features
    for column in columns:
        features[column.name] = core_transform_features(features, [column])[column]
    return features


def _log_odds(probabilities):
    """The logit of the second of two classes, as heads of two classes have one logit."""
    second = ops.slice(probabilities, [0, 1], [-1, 1])
    return ops.log(ops.maximum(second / ops.maximum(1.0 - second, _EPSILON), _EPSILON))


def _ops_at_end(builder, report_feature_importances):
    handles = builder.get_all_resource_handles()
    found = {"9: clean up resources": group(*[ops.destroy_resource_op(handle) for handle in handles])}
    if report_feature_importances:
        found["1: feature_importances"] = builder.feature_importances()
    return found


class _ForestEstimator:
    """What the Estimators of either kind have in common, which is all that they take.

    `_is_core` says which kind it is: tf.estimator's, or tf.contrib.learn's, which transform features besides.
    """

    _is_core: bool

    def __init__(
        self, params, device_assigner=None, model_dir=None, feature_columns=None,
        graph_builder_class=RandomForestGraphs, config=None, weight_column=None, keys_column=None,
        feature_engineering_fn=None, early_stopping_rounds=100, early_stopping_loss_threshold=0.001, num_trainers=1,
        trainer_id=0, report_feature_importances=False, local_eval=False, version=None, head=None,
        include_all_in_serving=False,
    ):  # fmt: skip
        if self._is_core and trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster
        if num_trainers == 1 and config is not None:
            num_trainers = max(1, config.num_worker_replicas)
        kinds = ModelBuilderOutputType
        model_fn = get_model_fn(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, head, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
            report_feature_importances, local_eval, include_all_in_serving=include_all_in_serving,
            output_type=kinds.ESTIMATOR_SPEC if self._is_core else kinds.MODEL_FN_OPS,
        )  # fmt: skip
        others = {} if self._is_core else {"feature_engineering_fn": feature_engineering_fn}
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config, **others)  # type: ignore[call-arg]


@public("contrib.tensor_forest.client.random_forest.TensorForestEstimator")
class TensorForestEstimator(_ForestEstimator, estimators.Estimator):
    """A tf.contrib.learn.Estimator of a random forest.

    Args:
      params: a ForestHParams.
      model_dir, config, feature_engineering_fn: see tf.contrib.learn.Estimator.
      weight_column, keys_column, head: see get_model_fn's weights_name, keys_name and model_head.
      version: not used.
      others: see get_model_fn.
    """

    _is_core = False


@public("contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator")
class CoreTensorForestEstimator(_ForestEstimator, Estimator):
    """A tf.estimator.Estimator of a random forest; the arguments are those of TensorForestEstimator."""

    _is_core = True
