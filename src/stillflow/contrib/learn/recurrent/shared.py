"""What the recurrent estimators share: cells, and predictions, losses and metrics of sequences."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.layers.optimizers import OPTIMIZER_SUMMARIES, optimize_loss
from stillflow.contrib.layers.target_columns import multi_class_target, regression_target
from stillflow.contrib.learn.modes import ModeKeys, PredictionKey, ProblemType
from stillflow.contrib.metrics.switched import streaming_accuracy
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.names import public_module
from stillflow.ops.array.one_hot import sequence_mask
from stillflow.ops.array.where import boolean_mask
from stillflow.rnn.basic_cells import BasicRNNCell, GRUCell
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.dropout_wrapper import DropoutWrapper
from stillflow.rnn.lstm_cells import LSTMCell
from stillflow.rnn.multi_cell import MultiRNNCell

public_module("contrib.learn.python.learn.estimators.rnn_common")

_CELL_TYPES = {"basic_rnn": BasicRNNCell, "lstm": LSTMCell, "gru": GRUCell}


class RNNKeys:
    """The names of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether a model predicts one value for a sequence, or one for each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


# ---- Cells and states ---------------------------------------------------------------------------------------


def construct_rnn_cell(num_units, cell_type="basic_rnn", dropout_keep_probabilities=None):
    """A cell, or several that are stacked.

    Args:
      num_units: the size of the cell, or a list of sizes.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      dropout_keep_probabilities: see `apply_dropout`; None for no dropout.

    Raises ValueError for another type.
    """
    cells = [_cell(cell_type, units) for units in _as_list(num_units)]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def _as_list(num_units):
    return num_units if isinstance(num_units, (list, tuple)) else [num_units]


def _cell(cell_type, num_units):
    cell_type = _CELL_TYPES.get(cell_type, cell_type)
    if not cell_type or not issubclass(cell_type, RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELL_TYPES)}; got {cell_type}")
    return cell_type(num_units=num_units)


def apply_dropout(cells, dropout_keep_probabilities, random_seed=None):
    """Cells with dropout before each of them and behind the last one.

    Args:
      cells: a list of cells.
      dropout_keep_probabilities: for each place the share that is kept, one more than there are cells.
      random_seed: the seed of all cells but the last one.

    Raises ValueError for another number of shares.
    """
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. Got "
            f"{len(cells)} cells and {len(dropout_keep_probabilities)} dropout probabilities."
        )
    *before, last, behind = dropout_keep_probabilities
    found = [DropoutWrapper(cell, share, 1.0, seed=random_seed) for cell, share in zip(cells, before, strict=False)]
    return [*found, DropoutWrapper(cells[-1], last, behind)]


def state_name(i):
    """The name of a part of a state."""
    return f"{RNNKeys.STATE_PREFIX}_{i}"


def state_tuple_to_dict(state):
    """{name: tensor} of the parts of a state, in the order of nest.flatten."""
    with name_scope("state_tuple_to_dict"):
        return {
            state_name(i): None if part is None else ops.identity(part, name=state_name(i))
            for i, part in enumerate(nest.flatten(state))
        }


# ---- Targets ------------------------------------------------------------------------------------------------


def target_and_kind(problem_type, num_classes):
    """(the target column, "Regressor" or "Classifier"). Raises ValueError for other problems, and without classes."""
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return regression_target(), "Regressor"
    if problem_type == ProblemType.CLASSIFICATION:
        if not num_classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        return multi_class_target(n_classes=num_classes), "Classifier"
    raise ValueError(
        f"problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got {problem_type}"
    )


def check_problem(problem_type, predict_probabilities):
    """Raises ValueError for problems that are neither, and for probabilities of numbers."""
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
        raise ValueError(
            f"problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got {problem_type}"
        )
    if problem_type != ProblemType.CLASSIFICATION and predict_probabilities:
        raise ValueError(
            "predict_probabilities can only be set to True for problem_type ProblemType.CLASSIFICATION; got "
            f"{problem_type}."
        )


def predictions_name(problem_type):
    """The key of what is predicted."""
    return PredictionKey.CLASSES if problem_type == ProblemType.CLASSIFICATION else PredictionKey.SCORES


# ---- Predictions and losses ---------------------------------------------------------------------------------


def select_last_activations(activations, sequence_lengths):
    """The last step of each sequence, [batch, k], of activations [batch, time, k].

    Args:
      sequence_lengths: [batch], how many steps each has; None for all.
    """
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        shape = ops.shape(activations)
        batch, padded, width = shape[0], shape[1], shape[2]
        lengths = padded if sequence_lengths is None else sequence_lengths
        rows = ops.reshape(activations, [-1, width])
        indices = ops.range(batch) * padded + lengths - 1
        last = ops.gather(rows, indices)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


def mask_activations_and_labels(activations, labels, sequence_lengths):
    """(activations, labels) of the steps that sequences have, one behind the other.

    Args:
      activations: [batch, time, k].
      labels: [batch, time].
      sequence_lengths: [batch], how many steps each has; None for all.
    """
    with name_scope("mask_activations_and_labels", values=[activations, labels, sequence_lengths]):
        shape = ops.shape(labels)
        batch, padded = shape[0], shape[1]
        if sequence_lengths is None:
            count = padded * batch
            return ops.reshape(activations, [count, -1]), ops.reshape(labels, [count])
        mask = sequence_mask(sequence_lengths, padded)
        return boolean_mask(activations, mask), boolean_mask(labels, mask)


def multi_value_predictions(activations, target_column, problem_type, predict_probabilities):
    """{name: predictions of all steps, [batch, time]}; those behind a sequence's end mean nothing.

    Args:
      activations: [batch, time, k].
      target_column: what makes predictions of them.
      problem_type: a ProblemType.
      predict_probabilities: whether there are probabilities, too, [batch, time, classes].
    """
    with name_scope("MultiValuePrediction"):
        shape = ops.shape(activations)
        flat = ops.reshape(activations, [-1, shape[2]])
        found = {}
        if predict_probabilities:
            probabilities = target_column.logits_to_predictions(flat, proba=True)
            predictions = ops.argmax(probabilities, 1)
            wanted = ops.concat([shape[:2], [2]], 0) if target_column.num_label_columns == 1 else shape
            name = PredictionKey.PROBABILITIES
            found[name] = ops.reshape(probabilities, wanted, name=name)
        else:
            predictions = target_column.logits_to_predictions(flat, proba=False)
        name = predictions_name(problem_type)
        found[name] = ops.reshape(predictions, [shape[0], shape[1]], name=name)
        return found


def multi_value_loss(activations, labels, sequence_length, target_column, features):
    """The loss of all steps, a scalar."""
    with name_scope("MultiValueLoss"):
        activations, labels = mask_activations_and_labels(activations, labels, sequence_length)
        return target_column.loss(activations, labels, features)


def get_eval_metric_ops(problem_type, prediction_type, sequence_length, prediction_dict, labels):
    """{"accuracy": (value, update)} of classes, {} of numbers; of the steps that sequences have."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    predictions = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        predictions, labels = mask_activations_and_labels(predictions, labels, sequence_length)
    return {"accuracy": streaming_accuracy(predictions=predictions, labels=labels)}


def training_op(mode, loss, learning_rate, optimizer, gradient_clipping_norm):
    """The operation of a training step, None in other modes."""
    if mode != ModeKeys.TRAIN:
        return None
    return optimize_loss(
        loss=loss,
        global_step=None,
        learning_rate=learning_rate,
        optimizer=optimizer,
        clip_gradients=gradient_clipping_norm,
        summaries=OPTIMIZER_SUMMARIES,
    )
