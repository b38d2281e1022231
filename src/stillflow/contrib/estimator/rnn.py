"""tf.contrib.estimator.RNNEstimator and RNNClassifier: cells of tf.nn.rnn_cell over columns of sequences."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.estimators.dnn import dnn_partitioner
from stillflow.canned.estimators.linear import check_features, linear_partitioner
from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.heads.sequential import SequentialHead
from stillflow.composites import summaries
from stillflow.composites.checks import assert_type
from stillflow.composites.rank_checks import assert_rank
from stillflow.contrib.estimator.extenders import clip_gradients_by_norm
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.input_layer import input_layer
from stillflow.feature_columns.sequences import sequence_input_layer
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.layers.plain import dense
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.ops.array.one_hot import sequence_mask
from stillflow.rnn.basic_cells import BasicRNNCell, GRUCell
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.dynamic import dynamic_rnn
from stillflow.rnn.lstm_cells import BasicLSTMCell
from stillflow.rnn.multi_cell import MultiRNNCell
from stillflow.training.global_step import get_global_step
from stillflow.training.optimizer import Optimizer
from stillflow.variables.initializers import GlorotUniform
from stillflow.variables.scope import variable_scope

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_CELLS: dict = {"basic_rnn": BasicRNNCell, "lstm": BasicLSTMCell, "gru": GRUCell}

USE_DEFAULT = public("contrib.estimator.python.estimator.rnn.USE_DEFAULT")(object())


def _cell(num_units, cell_type):
    cell_type = _CELLS.get(cell_type, cell_type)
    if not cell_type or not issubclass(cell_type, RNNCell):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {cell_type}")
    return cell_type(num_units=num_units)


@public("contrib.estimator.python.estimator.rnn._make_rnn_cell_fn")
def make_rnn_cell_fn(num_units, cell_type="basic_rnn"):
    """A function of the mode that returns a cell: one with several layers for several numbers of units."""

    def rnn_cell_fn(mode):
        cells = [_cell(width, cell_type) for width in num_units]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return rnn_cell_fn


def _cell_fn(rnn_cell_fn, num_units, cell_type):
    if rnn_cell_fn and (num_units or cell_type != USE_DEFAULT):
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    return rnn_cell_fn or make_rnn_cell_fn(num_units, "basic_rnn" if cell_type == USE_DEFAULT else cell_type)


@public("contrib.estimator.python.estimator.rnn._concatenate_context_input")
def concatenate_context_input(sequence_input, context_input):
    """Puts a context [batch, c] beside each step of sequences [batch, steps, s]: [batch, steps, s + c], float32."""
    checks = []
    for name, tensor, rank in (("sequence_input", sequence_input, 3), ("context_input", context_input, 2)):
        message = f"{name} must have rank {rank}"
        checks.append(assert_rank(tensor, rank, message=message, data=[ops.shape(tensor)]))
        message = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(assert_type(tensor, dtypes.float32, message=message))
    with control_dependencies(checks):
        steps = ops.shape(sequence_input)[1]
        tiled = ops.tile(ops.expand_dims(context_input, 1), ops.concat([[1], [steps], [1]], 0))
    return ops.concat([sequence_input, tiled], 2)


@public("contrib.estimator.python.estimator.rnn._select_last_activations")
def select_last_activations(activations, sequence_lengths):
    """The outputs [batch, units] of the last step of each sequence, of [batch, steps, units]."""
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        shape = ops.shape(activations)
        batch_size, steps, units = shape[0], shape[1], shape[2]
        if sequence_lengths is None:
            sequence_lengths = steps
        places = ops.to_int64(ops.range(batch_size) * steps) + sequence_lengths - 1
        last = ops.gather(ops.reshape(activations, [batch_size * steps, units]), places)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


@public("contrib.estimator.python.estimator.rnn._rnn_logit_fn_builder")
def rnn_logit_fn_builder(
    output_units, rnn_cell_fn, sequence_feature_columns, context_feature_columns, input_layer_partitioner,
    return_sequences=False,
):  # fmt: skip
    """A function of {name: feature} and a mode that returns (logits, the mask of the steps).

    Raises ValueError for units that are no int; other arguments are those of RNNEstimator.
    """
    if not isinstance(output_units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(output_units)}")

    def rnn_logit_fn(features, mode):
        values = tuple(features.values())
        with variable_scope("sequence_input_layer", values=values, partitioner=input_layer_partitioner):
            inputs, lengths = sequence_input_layer(features=features, feature_columns=sequence_feature_columns)
            summaries.histogram("sequence_length", lengths)
            if context_feature_columns:
                context = input_layer(features=features, feature_columns=context_feature_columns)
                inputs = concatenate_context_input(inputs, context)
        outputs, _ = dynamic_rnn(
            cell=rnn_cell_fn(mode), inputs=inputs, sequence_length=lengths, dtype=dtypes.float32, time_major=False
        )
        if not return_sequences:
            outputs = select_last_activations(outputs, lengths)
        with variable_scope("logits", values=(outputs,)):
            logits = dense(outputs, units=output_units, activation=None, kernel_initializer=GlorotUniform())
        return logits, sequence_mask(lengths)

    return rnn_logit_fn


@public("contrib.estimator.python.estimator.rnn._rnn_model_fn")
def rnn_model_fn(
    features, labels, mode, head, rnn_cell_fn, sequence_feature_columns, context_feature_columns,
    return_sequences=False, optimizer="Adagrad", input_layer_partitioner=None, config=None,
):  # fmt: skip
    """The tf.estimator.EstimatorSpec of a recurrent model: arguments as of RNNEstimator, and of a model function."""
    check_features(features)
    if not isinstance(optimizer, Optimizer):
        optimizer = clip_gradients_by_norm(optimizer_of(optimizer, learning_rate=_LEARNING_RATE), _CLIP_NORM)
    with variable_scope("rnn", values=tuple(features.values()), partitioner=dnn_partitioner(config)):
        logit_fn = rnn_logit_fn_builder(
            head.logits_dimension, rnn_cell_fn, sequence_feature_columns, context_feature_columns,
            input_layer_partitioner or linear_partitioner(config), return_sequences,
        )  # fmt: skip
        logits, mask = logit_fn(features=features, mode=mode)
        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = mask
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=logits,
            train_op_fn=lambda loss: optimizer.minimize(loss, global_step=get_global_step()),
        )  # fmt: skip


def _model_fn(head, *settings):
    cell_fn, sequence_columns, context_columns, return_sequences, optimizer, partitioner = settings

    def model_fn(features, labels, mode, config):
        return rnn_model_fn(
            features, labels, mode, head, cell_fn, tuple(sequence_columns or []), tuple(context_columns or []),
            return_sequences, optimizer, partitioner, config,
        )  # fmt: skip

    return model_fn


@public("contrib.estimator.RNNClassifier")
class RNNClassifier(Estimator):
    """A recurrent classifier.

    Args:
      sequence_feature_columns: columns of sequences.
      context_feature_columns: dense columns, which each step gets too.
      num_units: a list of how many units each layer has.
      cell_type: "basic_rnn", "lstm", "gru", or a class of cells.
      rnn_cell_fn: instead of both, a function of the mode that returns a cell.
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.train.Optimizer.
      loss_reduction: a tf.losses.Reduction.
      input_layer_partitioner: splits the variables of columns.
      config: a tf.estimator.RunConfig.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, sequence_feature_columns, context_feature_columns=None, num_units=None, cell_type=USE_DEFAULT,
        rnn_cell_fn=None, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Adagrad", loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, input_layer_partitioner=None, config=None,
    ):  # fmt: skip
        cell_fn = _cell_fn(rnn_cell_fn, num_units, cell_type)
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _model_fn(
            head, cell_fn, sequence_feature_columns, context_feature_columns, False, optimizer,
            input_layer_partitioner,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)


@public("contrib.estimator.RNNEstimator")
class RNNEstimator(Estimator):
    """A recurrent model with any head.

    Args:
      head: a head; for `return_sequences` one of sequences.
      return_sequences: whether there are logits of each step.
      others: as for RNNClassifier.

    Raises ValueError for another head, and for cells that are said twice.
    """

    def __init__(
        self, head, sequence_feature_columns, context_feature_columns=None, num_units=None, cell_type=USE_DEFAULT,
        rnn_cell_fn=None, return_sequences=False, model_dir=None, optimizer="Adagrad", input_layer_partitioner=None,
        config=None,
    ):  # fmt: skip
        cell_fn = _cell_fn(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True."
            )
        model_fn = _model_fn(
            head, cell_fn, sequence_feature_columns, context_feature_columns, return_sequences, optimizer,
            input_layer_partitioner,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)
