"""tf.contrib.learn.DynamicRnnEstimator: recurrent networks on sequences of any length."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_type
from stillflow.composites.rank_checks import assert_rank
from stillflow.contrib.layers.column_inputs import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
    transform_features,
)
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps, PredictionKey
from stillflow.contrib.learn.recurrent import shared
from stillflow.contrib.learn.recurrent.shared import PredictionType, RNNKeys, state_tuple_to_dict
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public, public_module
from stillflow.rnn.dynamic import dynamic_rnn
from stillflow.training.momentum import MomentumOptimizer

public_module("contrib.learn.python.learn.estimators.dynamic_rnn_estimator")

_get_state_name = shared.state_name


def dict_to_state_tuple(input_dict, cell):
    """The state of a cell, of features with the names of its parts; None if there are none of them.

    Raises ValueError if some of them are not there.
    """
    sizes = nest.flatten(cell.state_size)
    found = []
    with name_scope("dict_to_state_tuple"):
        for i, size in enumerate(sizes):
            part = input_dict.get(shared.state_name(i))
            if part is not None:
                rank_check = assert_rank(part, 2, name=f"check_state_{i}_rank")
                shape_check = assert_equal(ops.shape(part)[1], size, name=f"check_state_{i}_shape")
                with control_dependencies([rank_check, shape_check]):
                    found.append(ops.identity(part, name=shared.state_name(i)))
        if not found:
            return None
        if len(found) != len(sizes):
            raise ValueError(
                f"RNN state was partially specified.Expected zero or {len(sizes)} state Tensors; got {len(found)}"
            )
        return nest.pack_sequence_as(cell.zero_state(batch_size=1, dtype=dtypes.bool_), found)


def _beside_context(sequence_input, context_input):
    """[batch, time, d0 + d1] of [batch, time, d0] and [batch, d1], which is repeated for each step."""

    def checks(tensor, name, rank):
        yield assert_rank(tensor, rank, message=f"{name} must have rank {rank}", data=[ops.shape(tensor)])
        message = f"{name} must have dtype float32; got {tensor.dtype}."
        yield assert_type(tensor, dtypes.float32, message=message)

    wanted = [*checks(sequence_input, "sequence_input", 3), *checks(context_input, "context_input", 2)]
    with control_dependencies(wanted):
        length = ops.shape(sequence_input)[1]
        repeated = ops.tile(ops.expand_dims(context_input, 1), ops.concat([[1], [length], [1]], 0))
    return ops.concat([sequence_input, repeated], 2)


def build_sequence_input(
    features, sequence_feature_columns, context_feature_columns, weight_collections=None, scope=None
):
    """The input of the network, [batch, time, size], of features.

    Args:
      features: {name: tensor}.
      sequence_feature_columns: columns of what steps have.
      context_feature_columns: columns of what whole sequences have, or None.
      weight_collections: collections of their variables.
      scope: the variable scope.
    """
    features = dict(features)
    columns = [*sequence_feature_columns, *(context_feature_columns or [])]
    features.update(transform_features(features, columns))
    given = {"columns_to_tensors": features, "weight_collections": weight_collections, "scope": scope}
    inputs = sequence_input_from_feature_columns(feature_columns=sequence_feature_columns, **given)
    if context_feature_columns is None:
        return inputs
    return _beside_context(inputs, input_from_feature_columns(feature_columns=context_feature_columns, **given))


def construct_rnn(
    initial_state, sequence_input, cell, num_label_columns, dtype=dtypes.float32, parallel_iterations=32,
    swap_memory=True,
):  # fmt: skip
    """(logits [batch, time, num_label_columns], the last state) of a cell along sequences.

    Args:
      initial_state: the first state; None for the cell's.
      sequence_input: [batch, time, size].
      cell: the cell.
      num_label_columns: how many logits a step has.
      dtype: the type of states.
      parallel_iterations, swap_memory: see tf.nn.dynamic_rnn.
    """
    with name_scope("RNN"):
        outputs, state = dynamic_rnn(
            cell=cell,
            inputs=sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        logits = fully_connected(inputs=outputs, num_outputs=num_label_columns, activation_fn=None, trainable=True)
        return logits, state


def _single_value_predictions(activations, sequence_length, target_column, problem_type, predict_probabilities):
    """{name: predictions of sequences}, of their last steps."""
    with name_scope("SingleValuePrediction"):
        last = shared.select_last_activations(activations, sequence_length)
        name = shared.predictions_name(problem_type)
        if not predict_probabilities:
            return {name: target_column.logits_to_predictions(last, proba=False)}
        probabilities = target_column.logits_to_predictions(last, proba=True)
        return {PredictionKey.PROBABILITIES: probabilities, name: ops.argmax(probabilities, 1)}


def _single_value_loss(activations, labels, sequence_length, target_column, features):
    with name_scope("SingleValueLoss"):
        last = shared.select_last_activations(activations, sequence_length)
        return target_column.loss(last, labels, features)


def _get_output_alternatives(prediction_type, problem_type, prediction_dict):
    """What is exported: of single values all predictions but states, else nothing. Raises ValueError for no type."""
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    if prediction_type != PredictionType.SINGLE_VALUE:
        raise ValueError(f"Unrecognized prediction_type: {prediction_type}")
    exported = {key: value for key, value in prediction_dict.items() if RNNKeys.STATE_PREFIX not in key}
    return {"dynamic_rnn_output": (problem_type, exported)}


def _get_dynamic_rnn_model_fn(
    cell_type, num_units, target_column, problem_type, prediction_type, optimizer, sequence_feature_columns,
    context_feature_columns=None, predict_probabilities=False, learning_rate=None, gradient_clipping_norm=None,
    dropout_keep_probabilities=None, sequence_length_key=RNNKeys.SEQUENCE_LENGTH_KEY, dtype=dtypes.float32,
    parallel_iterations=None, swap_memory=True, name="DynamicRNNModel",
):  # fmt: skip
    """The model function of a DynamicRnnEstimator, whose arguments these are."""
    if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
        raise ValueError(
            "prediction_type must be PredictionType.MULTIPLE_VALUEs or PredictionType.SINGLE_VALUE; got "
            f"{prediction_type}"
        )
    shared.check_problem(problem_type, predict_probabilities)
    is_single = prediction_type == PredictionType.SINGLE_VALUE

    def model_fn(features, labels, mode):
        with name_scope(name):
            length = features.get(sequence_length_key)
            inputs = build_sequence_input(features, sequence_feature_columns, context_feature_columns)
            dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = shared.construct_rnn_cell(num_units, cell_type, dropout)
            logits, state = construct_rnn(
                dict_to_state_tuple(features, cell),
                inputs,
                cell,
                target_column.num_label_columns,
                dtype=dtype,
                parallel_iterations=parallel_iterations,
                swap_memory=swap_memory,
            )
            if is_single:
                predictions = _single_value_predictions(
                    logits, length, target_column, problem_type, predict_probabilities
                )
            else:
                predictions = shared.multi_value_predictions(
                    logits, target_column, problem_type, predict_probabilities
                )
            loss = metrics = None
            if mode != ModeKeys.INFER:
                loss_of = _single_value_loss if is_single else shared.multi_value_loss
                loss = loss_of(logits, labels, length, target_column, features)
            predictions.update(state_tuple_to_dict(state))
            if mode != ModeKeys.INFER:
                metrics = shared.get_eval_metric_ops(problem_type, prediction_type, length, predictions, labels)
            train_op = shared.training_op(mode, loss, learning_rate, optimizer, gradient_clipping_norm)
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=_get_output_alternatives(prediction_type, problem_type, predictions),
        )

    return model_fn


@public("contrib.learn.DynamicRnnEstimator")
class DynamicRnnEstimator(Estimator):
    """A recurrent network that predicts a value for each step of a sequence, or one for the sequence.

    Features may hold "sequence_length", [batch], how many steps each sequence has, and the first state by the names
    "rnn_cell_state_0", "rnn_cell_state_1" and so on; the last state is among the predictions under the same names.

    Args:
      problem_type: ProblemType.CLASSIFICATION or LINEAR_REGRESSION.
      prediction_type: PredictionType.SINGLE_VALUE or MULTIPLE_VALUE, of rnn_common.
      sequence_feature_columns: columns of what steps have.
      context_feature_columns: columns of what whole sequences have, or None.
      num_classes: how many classes there are.
      num_units: the size of the cell, or a list of sizes of cells that are stacked.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      optimizer: as optimize_loss has it, or "Momentum".
      learning_rate, momentum: of the optimizer.
      predict_probabilities: whether probabilities are predicted, too.
      gradient_clipping_norm: the norm that gradients are clipped to, or None.
      dropout_keep_probabilities: the shares that dropout keeps, one more than there are cells; None for no dropout.
      model_dir, config, feature_engineering_fn: as Estimator has them.

    Raises ValueError for other types, and classes without their number.
    """

    def __init__(
        self, problem_type, prediction_type, sequence_feature_columns, context_feature_columns=None, num_classes=None,
        num_units=None, cell_type="basic_rnn", optimizer="SGD", learning_rate=0.1, predict_probabilities=False,
        momentum=None, gradient_clipping_norm=5.0, dropout_keep_probabilities=None, model_dir=None,
        feature_engineering_fn=None, config=None,
    ):  # fmt: skip
        names = {PredictionType.MULTIPLE_VALUE: "MultiValue", PredictionType.SINGLE_VALUE: "SingleValue"}
        if prediction_type not in names:
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or PredictionType.SINGLE_VALUE; got "
                f"{prediction_type}"
            )
        target_column, kind = shared.target_and_kind(problem_type, num_classes)
        if optimizer == "Momentum":
            optimizer = MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_dynamic_rnn_model_fn(
            cell_type=cell_type,
            num_units=num_units,
            target_column=target_column,
            problem_type=problem_type,
            prediction_type=prediction_type,
            optimizer=optimizer,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"{names[prediction_type]}DynamicRNN{kind}",
        )
        super().__init__(
            model_fn=model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn
        )
