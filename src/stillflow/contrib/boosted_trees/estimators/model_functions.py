"""Model functions of boosted trees, for estimators of tf.contrib.learn and of tf.estimator."""

from __future__ import annotations

from stillflow.contrib.boosted_trees.estimators.hooks import StopAfterNTrees
from stillflow.contrib.boosted_trees.model import GradientBoostedDecisionTreeModel
from stillflow.contrib.boosted_trees.prediction_keys import PredictionKeys
from stillflow.contrib.boosted_trees.resources import tree_ensemble_variable
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from stillflow.formats import protobuf
from stillflow.graph.contexts import colocate_with, control_dependencies, device
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.saver.saved_model.export_outputs import ClassificationOutput
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign_add


@public("contrib.boosted_trees.estimator_batch.model.ModelBuilderOutputType")
class ModelBuilderOutputType:
    """What a model function returns: ModelFnOps of tf.contrib.learn, or an EstimatorSpec."""

    MODEL_FN_OPS = 0
    ESTIMATOR_SPEC = 1


_MODES = {
    EstimatorModeKeys.TRAIN: ModeKeys.TRAIN,
    EstimatorModeKeys.EVAL: ModeKeys.EVAL,
    EstimatorModeKeys.PREDICT: ModeKeys.INFER,
}


@public("contrib.boosted_trees.estimator_batch.estimator_utils.estimator_spec_to_model_fn_ops")
def estimator_spec_to_model_fn_ops(estimator_spec, export_alternatives=False):
    """The ModelFnOps that say what an EstimatorSpec does.

    Args:
      estimator_spec: the EstimatorSpec.
      export_alternatives: whether they have what is exported, as far as it is of classes.
    """
    alternatives = None
    if export_alternatives and estimator_spec.export_outputs is not None:
        alternatives = {}
        for key, output in estimator_spec.export_outputs.items():
            if isinstance(output, ClassificationOutput):
                predictions = {PredictionKey.SCORES: output.scores, PredictionKey.CLASSES: output.classes}
                alternatives[key] = ProblemType.CLASSIFICATION, predictions
    return ModelFnOps(
        mode=_MODES[estimator_spec.mode],
        predictions=estimator_spec.predictions,
        loss=estimator_spec.loss,
        train_op=estimator_spec.train_op,
        eval_metric_ops=estimator_spec.eval_metric_ops,
        output_alternatives=alternatives if export_alternatives else [],
    )


def _initial_ensemble(learner_config):
    """The bytes of an ensemble with the splits that each tree has to have.

    Raises ValueError for splits without a number of layers.
    """
    if not learner_config.each_tree_start.nodes:
        return b""
    if learner_config.each_tree_start_num_layers <= 0:
        raise ValueError("You must provide each_tree_start_num_layers.")
    ensemble = protobuf.message("trees.DecisionTreeEnsembleConfig")(tree_weights=[0.1])
    ensemble.trees.add().CopyFrom(learner_config.each_tree_start)
    ensemble.tree_metadata.add(
        num_tree_weight_updates=1, num_layers_grown=learner_config.each_tree_start_num_layers, is_finalized=False
    )
    return ensemble.SerializeToString()


def _checked_features(features, config):
    """The features as a dict. Raises ValueError without them, or without a RunConfig."""
    if features is None:
        raise ValueError("At least one feature must be specified.")
    if config is None:
        raise ValueError("Missing estimator RunConfig.")
    return {features.name: features} if isinstance(features, Tensor) else features


def ensemble_at_step(config_bytes=b""):
    """A new ensemble where the global step lies."""
    with device(get_global_step().device):
        return tree_ensemble_variable(stamp_token=0, tree_ensemble_config=config_bytes, name="ensemble_model")


def _model_of(features, ensemble, params, config):
    return GradientBoostedDecisionTreeModel(
        is_chief=config.is_chief,
        num_ps_replicas=config.num_ps_replicas,
        ensemble_handle=ensemble,
        center_bias=params["center_bias"],
        examples_per_layer=params["examples_per_layer"],
        learner_config=params["learner_config"],
        feature_columns=params["feature_columns"],
        logits_dimension=params["head"].logits_dimension,
        features=features,
        use_core_columns=params["use_core_libs"],
        output_leaf_index=params["output_leaf_index"],
        num_quantiles=params["num_quantiles"],
    )


def counting_step(update):
    """An operation that adds 1 to the global step after another."""
    step = get_global_step()
    with control_dependencies([update]), colocate_with(step):
        return assign_add(step, 1).op


def _modified(logits, params, features, mode):
    modifier = params["logits_modifier_function"]
    return modifier(logits, features, mode) if modifier else logits


def _result(model, predicted, logits, train_op_fn, inputs, params, output_type):
    """What the head makes of logits, with the hook that stops training."""
    features, labels, mode = inputs
    head, num_trees = params["head"], params["num_trees"]
    hooks = []
    if num_trees:
        finalized, attempted = model.get_number_of_trees_tensor()
        count = num_trees + 1 if params["center_bias"] else num_trees
        hooks.append(StopAfterNTrees(count, attempted, finalized, params.get("override_global_step_value")))
    arguments = {
        "features": features, "mode": mode, "labels": labels, "train_op_fn": train_op_fn, "logits": logits,
    }  # fmt: skip
    is_of_core = callable(getattr(head, "create_estimator_spec", None))
    if output_type == ModelBuilderOutputType.ESTIMATOR_SPEC:
        found = head.create_estimator_spec(**arguments)
    elif params["use_core_libs"] and is_of_core:
        found = estimator_spec_to_model_fn_ops(head.create_estimator_spec(**arguments))
    else:
        found = head.create_model_fn_ops(**arguments)
    if PredictionKeys.LEAF_INDEX in predicted:
        found.predictions[PredictionKeys.LEAF_INDEX] = predicted[PredictionKeys.LEAF_INDEX]
    return found._replace(training_hooks=[*hooks, *found.training_hooks])


@public("contrib.boosted_trees.estimator_batch.model.model_builder")
def model_builder(
    features, labels, mode, params, config, output_type=ModelBuilderOutputType.MODEL_FN_OPS
):  # fmt: skip
    """The model function of boosted trees.

    Args:
      features: a tensor or {name: tensor}.
      labels: what the head takes.
      mode: of ModeKeys.
      params: a dict with `head`, `learner_config`, `feature_columns`, `examples_per_layer`, `weight_column_name`,
        `num_trees`, `use_core_libs`, `logits_modifier_function`, `output_leaf_index`, `num_quantiles`, `center_bias`
        and perhaps `override_global_step_value`, as GradientBoostedDecisionTreeEstimator has them.
      config: a RunConfig.
      output_type: of ModelBuilderOutputType.

    Raises ValueError for what makes no sense.
    """
    features = _checked_features(features, config)
    own = {name: tensor for name, tensor in features.items() if name != params["weight_column_name"]}
    ensemble = ensemble_at_step(_initial_ensemble(params["learner_config"]))
    model = _model_of(own, ensemble, params, config)
    with name_scope("gbdt", "gbdt_optimizer"):
        predicted = model.predict(mode)
        logits = _modified(predicted[PredictionKeys.PREDICTIONS], params, features, mode)

        def train_op_fn(loss):
            return counting_step(model.train(loss, predicted, labels))

    return _result(model, predicted, logits, train_op_fn, (features, labels, mode), params, output_type)


def _pair(features, keys):
    """The features of either side of pairs, by their names without the key. Raises ValueError for other keys."""
    if len(keys) != 2:
        raise ValueError("You must provide keys for ranking.")
    left, right = keys
    if left is None or right is None:
        raise ValueError("Both pair keys should be provided for ranking.")
    first: dict = {}
    second: dict = {}
    for name, feature in features.items():
        is_left = name.startswith(f"{left}.")
        if not is_left and not name.startswith(f"{right}."):
            raise ValueError(f"The feature {name} begins with none of the pair keys {left} and {right}.")
        (first if is_left else second)[name[2:]] = feature
    return first, second


@public("contrib.boosted_trees.estimator_batch.model.ranking_model_builder")
def ranking_model_builder(
    features, labels, mode, params, config, output_type=ModelBuilderOutputType.MODEL_FN_OPS
):  # fmt: skip
    """The model function of trees that learn which of two examples is better, and predict how good one is.

    Args:
      params: as model_builder has it, and `ranking_model_pair_keys`, what names of features of either example begin
        with: ("a", "b") for a.f1 and b.f1.
      The others are as model_builder has them.

    Raises ValueError for what makes no sense.
    """
    features = _checked_features(features, config)
    own = {name: tensor for name, tensor in features.items() if name != params["weight_column_name"]}
    ensemble = ensemble_at_step()
    other = None
    if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
        own, other = _pair(own, params["ranking_model_pair_keys"])
    model = _model_of(own, ensemble, params, config)
    with name_scope("gbdt", "gbdt_optimizer"):
        if other is None:
            predicted = model.predict(mode)
            logits = predicted[PredictionKeys.PREDICTIONS]
        else:
            if not other:
                raise ValueError("Features for ranking must be specified.")
            second = _model_of(other, ensemble, params, config)
            predicted = model.predict(mode)
            logits = predicted[PredictionKeys.PREDICTIONS] - second.predict(mode)[PredictionKeys.PREDICTIONS]
        logits = _modified(logits, params, features, mode)
        if other is not None:
            predicted[PredictionKeys.PREDICTIONS] = logits

        def train_op_fn(loss):
            return counting_step(model.train(loss, predicted, labels))

    return _result(model, predicted, logits, train_op_fn, (features, labels, mode), params, output_type)
