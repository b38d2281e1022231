"""StateSavingRnnEstimator: recurrent networks on long sequences, of which a step sees a part."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.layers.column_inputs import check_sequence_columns, sequence_input_from_feature_columns
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps
from stillflow.contrib.learn.recurrent import shared
from stillflow.contrib.learn.recurrent.shared import PredictionType, RNNKeys, state_tuple_to_dict
from stillflow.contrib.training.state_batches import batch_sequences_with_states
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public_module
from stillflow.ops.sparse_tensor import is_sparse
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.rnn.static import static_state_saving_rnn
from stillflow.training.momentum import MomentumOptimizer

public_module("contrib.learn.python.learn.estimators.state_saving_rnn_estimator")

_get_state_name = shared.state_name


def construct_state_saving_rnn(cell, inputs, num_label_columns, state_saver, state_name, scope="rnn"):
    """(logits [batch, time, num_label_columns], the last state) of a cell whose state is saved between steps.

    Args:
      cell: the cell.
      inputs: a list of the inputs of steps, [batch, size].
      num_label_columns: how many logits a step has.
      state_saver: has the methods `state` and `save_state`.
      state_name: the name of the state there, or a list of names where the state has parts.
      scope: the name of the scope.
    """
    with name_scope(scope):
        outputs, state = static_state_saving_rnn(
            cell=cell, inputs=inputs, state_saver=state_saver, state_name=state_name, scope=scope
        )
        logits = fully_connected(
            inputs=ops.stack(outputs, axis=1), num_outputs=num_label_columns, activation_fn=None, trainable=True
        )
        return logits, ops.identity(state, name=RNNKeys.FINAL_STATE_KEY)


def _of_names(features, names, kind):
    found = {}
    for name in names:
        if features.get(name) is None:
            raise ValueError(f"No key in features for {kind} feature: {name}")
        found[name] = features[name]
    return found


def _prepare_features_for_sqss(features, labels, mode, sequence_feature_columns, context_feature_columns):
    """({name: what steps have}, with the labels but for predictions; {name: what sequences have}).

    Raises ValueError for features that are not there.
    """
    check_sequence_columns(sequence_feature_columns)
    names = [each.name for column in sequence_feature_columns for each in column.parents or (column,)]
    sequences = _of_names(features, names, "sequence")
    context = _of_names(features, [column.name for column in context_feature_columns or ()], "context")
    if mode != ModeKeys.INFER:
        sequences[RNNKeys.LABELS_KEY] = labels
    return sequences, context


def _get_state_names(cell):
    """The name of a cell's state, or a list of those of its parts. Raises TypeError for a TensorShape."""

    def of_lstm(i):
        return [f"{shared.state_name(i)}_c", f"{shared.state_name(i)}_h"]

    size = cell.state_size
    if isinstance(size, TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")
    if isinstance(size, int):
        return shared.state_name(0)
    if isinstance(size, LSTMStateTuple):
        return of_lstm(0)
    is_of_lstms = isinstance(size[0], LSTMStateTuple)
    return [of_lstm(i) if is_of_lstms else shared.state_name(i) for i in range(len(size))]


def _initial_states(cell):
    names = nest.flatten(_get_state_names(cell))
    values = nest.flatten(cell.zero_state(1, dtype=dtypes.float32))
    return {name: ops.squeeze(value, axis=0) for name, value in zip(names, values, strict=True)}


def _read_batch(
    cell, features, labels, mode, num_unroll, batch_size, sequence_feature_columns, context_feature_columns,
    num_threads, queue_capacity, seed,
):  # fmt: skip
    """A batch of parts of sequences, with their states; see batch_sequences_with_states."""
    states = _initial_states(cell)
    sequences, context = _prepare_features_for_sqss(
        features, labels, mode, sequence_feature_columns, context_feature_columns
    )
    return batch_sequences_with_states(
        input_key="key",
        input_sequences=sequences,
        input_context=context,
        input_length=None,
        initial_states=states,
        num_unroll=num_unroll,
        batch_size=batch_size,
        pad=True,
        make_keys_unique=True,
        make_keys_unique_seed=seed,
        num_threads=num_threads,
        capacity=queue_capacity,
    )


def _prepare_inputs_for_rnn(sequence_features, context_features, sequence_feature_columns, num_unroll):
    """A list of the inputs of steps, [batch, size], of features of a batch: of sequences, and of steps."""
    for feature in sequence_features.values():
        if is_sparse(feature):
            feature.dense_shape.set_shape([3])
    inputs = sequence_input_from_feature_columns(
        columns_to_tensors=sequence_features,
        feature_columns=sequence_feature_columns,
        weight_collections=None,
        scope=None,
    )
    inputs.set_shape([None, num_unroll, None])
    if not context_features:
        return ops.unstack(inputs, axis=1)
    repeated = [
        ops.squeeze(ops.tile(ops.expand_dims(context_features[name], 1), [1, num_unroll, 1]), axis=2)
        for name in sorted(context_features)
    ]
    return ops.unstack(ops.concat([inputs, ops.stack(repeated, 2)], axis=2), axis=1)


def _get_rnn_model_fn(
    cell_type, target_column, problem_type, optimizer, num_unroll, num_units, num_threads, queue_capacity, batch_size,
    sequence_feature_columns, context_feature_columns=None, predict_probabilities=False, learning_rate=None,
    gradient_clipping_norm=None, dropout_keep_probabilities=None, name="StateSavingRNNModel", seed=None,
):  # fmt: skip
    """The model function of a StateSavingRnnEstimator, whose arguments these are."""
    shared.check_problem(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def model_fn(features, labels, mode):
        with name_scope(name):
            dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            cell = shared.construct_rnn_cell(num_units, cell_type, dropout)
            batch = _read_batch(
                cell, features, labels, mode, num_unroll, batch_size, sequence_feature_columns,
                context_feature_columns, num_threads, queue_capacity, seed,
            )  # fmt: skip
            sequences, context = batch.sequences, batch.context
            if mode != ModeKeys.INFER:
                labels = sequences.pop(RNNKeys.LABELS_KEY)
            inputs = _prepare_inputs_for_rnn(sequences, context, sequence_feature_columns, num_unroll)
            logits, state = construct_state_saving_rnn(
                cell=cell,
                inputs=inputs,
                num_label_columns=target_column.num_label_columns,
                state_saver=batch,
                state_name=_get_state_names(cell),
            )
            predictions = shared.multi_value_predictions(logits, target_column, problem_type, predict_probabilities)
            loss = metrics = None
            if mode != ModeKeys.INFER:
                loss = shared.multi_value_loss(logits, labels, batch.length, target_column, features)
                metrics = shared.get_eval_metric_ops(
                    problem_type, PredictionType.MULTIPLE_VALUE, batch.length, predictions, labels
                )
            predictions.update(state_tuple_to_dict(state))
            train_op = shared.training_op(mode, loss, learning_rate, optimizer, gradient_clipping_norm)
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    return model_fn


class StateSavingRnnEstimator(Estimator):
    """A recurrent network on long sequences: a step trains on `num_unroll` of their steps, and keeps the states.

    It predicts a value for each step of a sequence.

    Args:
      problem_type: ProblemType.CLASSIFICATION or LINEAR_REGRESSION.
      num_unroll: how many steps of a sequence a batch has.
      batch_size: how many sequences a batch has.
      num_threads, queue_capacity: of the queue that sequences wait in.
      optimizer_type: as optimize_loss has it, or "Momentum".
      seed: of the keys that sequences get.
      The others are as DynamicRnnEstimator has them.

    Raises ValueError for other types, and classes without their number.
    """

    def __init__(
        self, problem_type, num_unroll, batch_size, sequence_feature_columns, context_feature_columns=None,
        num_classes=None, num_units=None, cell_type="basic_rnn", optimizer_type="SGD", learning_rate=0.1,
        predict_probabilities=False, momentum=None, gradient_clipping_norm=5.0, dropout_keep_probabilities=None,
        model_dir=None, config=None, feature_engineering_fn=None, num_threads=3, queue_capacity=1000, seed=None,
    ):  # fmt: skip
        target_column, kind = shared.target_and_kind(problem_type, num_classes)
        if optimizer_type == "Momentum":
            optimizer_type = MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_rnn_model_fn(
            cell_type=cell_type,
            target_column=target_column,
            problem_type=problem_type,
            optimizer=optimizer_type,
            num_unroll=num_unroll,
            num_units=num_units,
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            batch_size=batch_size,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"MultiValueStateSavingRNN{kind}",
            seed=seed,
        )
        super().__init__(
            model_fn=model_fn, model_dir=model_dir, config=config, feature_engineering_fn=feature_engineering_fn
        )
