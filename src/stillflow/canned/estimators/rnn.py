"""Recurrent models over columns of sequences."""

from __future__ import annotations

import logging
from typing import Any

from stillflow.canned.estimators.optimizers import keras_optimizer_of
from stillflow.canned.heads.multi_class import binary_or_multi_class_head
from stillflow.canned.heads.sequential import SequentialHead, SequentialHeadWrapper
from stillflow.composites import summaries
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns import configs
from stillflow.feature_columns.layers import DenseFeatures, SequenceFeatures
from stillflow.feature_columns.sequences import concatenate_context_input
from stillflow.graph.name_scope import name_scope
from stillflow.keras.engine.model import Model
from stillflow.keras.layers import recurrent_v2
from stillflow.keras.layers.gru import GRUCell
from stillflow.keras.layers.lstm import LSTMCell
from stillflow.keras.layers.recurrent import RNN
from stillflow.keras.layers.simple_rnn import SimpleRNN, SimpleRNNCell
from stillflow.keras.losses.reductions import Reduction
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core import activations
from stillflow.layers.core.dense import Dense
from stillflow.names import public
from stillflow.ops.array.one_hot import sequence_mask as mask_of
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_LAYERS: dict = {"lstm": recurrent_v2.LSTM, "gru": recurrent_v2.GRU, "simple_rnn": SimpleRNN}
_CELLS: dict = {"lstm": LSTMCell, "gru": GRUCell, "simple_rnn": SimpleRNNCell}

USE_DEFAULT = public("python.estimator.canned.rnn.USE_DEFAULT")(object())


def _cell(units, cell_type):
    cell_type = _CELLS.get(cell_type, cell_type)
    if not callable(cell_type):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string specifying the cell type. Supported "
            f"strings are: {['simple_rnn', 'lstm', 'gru']}."
        )
    cell = cell_type(units=units)
    if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
        raise ValueError("RNN cell should have a `call` and `state_size` method.")
    return cell


def _check_cells(rnn_cell_fn, units, cell_type):
    if rnn_cell_fn and (units or cell_type != USE_DEFAULT):
        raise ValueError("units and cell_type must not be specified when using rnn_cell_fn")


@public("python.estimator.canned.rnn._make_rnn_layer")
def rnn_layer_of(rnn_cell_fn, units, cell_type, return_sequences):
    """The recurrent layer that arguments of RNNEstimator mean. Raises ValueError for those that contradict."""
    _check_cells(rnn_cell_fn, units, cell_type)
    if cell_type in _LAYERS and isinstance(units, int):
        return _LAYERS[cell_type](units=units, return_sequences=return_sequences)
    if rnn_cell_fn:
        cell = rnn_cell_fn()
    else:
        cells = [_cell(width, "simple_rnn" if cell_type == USE_DEFAULT else cell_type) for width in units]
        cell = cells[0] if len(cells) == 1 else cells
    return RNN(cell=cell, return_sequences=return_sequences)


@public("python.estimator.canned.rnn.RNNModel")
class RNNModel(Model):
    """A recurrent layer over columns of sequences, and a dense one over its last output, or over all.

    Args:
      rnn_layer: the recurrent layer.
      units: how many logits there are.
      sequence_feature_columns: columns of sequences.
      context_feature_columns: dense columns, which each step gets too.
      activation: of the logits.
      return_sequences: whether there are logits of each step.

    Raises ValueError for units that are no int.
    """

    def __init__(
        self, rnn_layer, units, sequence_feature_columns, context_feature_columns=None, activation=None,
        return_sequences=False, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if not isinstance(units, int):
            raise ValueError(f"units must be an int.  Given type: {type(units)}")
        self._return_sequences = return_sequences
        self._sequence_feature_columns = sequence_feature_columns
        self._context_feature_columns = context_feature_columns
        self._sequence_features_layer = SequenceFeatures(sequence_feature_columns)
        self._dense_features_layer: Any = None
        if context_feature_columns:
            self._dense_features_layer = DenseFeatures(context_feature_columns)
        self._rnn_layer = rnn_layer
        self._logits_layer = Dense(units=units, activation=activation, name="logits")

    def call(self, inputs, training=None):  # type: ignore[override]
        """The logits of {name: feature}."""
        if not isinstance(inputs, dict):
            raise ValueError(f"inputs should be a dictionary of `Tensor`s. Given type: {type(inputs)}")
        with name_scope("sequence_input_layer"):
            sequences, lengths = self._sequence_features_layer(inputs)
            summaries.histogram("sequence_length", lengths)
            if self._context_feature_columns:
                context = self._dense_features_layer(inputs)
                sequences = concatenate_context_input(context, sequence_input=sequences)
        mask = mask_of(lengths)
        logits = self._logits_layer(self._rnn_layer(sequences, mask=mask, training=training))
        if self._return_sequences:
            logits._keras_mask = mask
        return logits

    def get_config(self):
        """What `from_config` needs."""
        layer, context = self._rnn_layer, self._context_feature_columns
        return {
            "name": self.name,
            "rnn_layer": {"class_name": type(layer).__name__, "config": layer.get_config()},
            "units": self._logits_layer.units,
            "return_sequences": self._return_sequences,
            "activation": activations.serialize(self._logits_layer.activation),
            "sequence_feature_columns": configs.serialize_feature_columns(self._sequence_feature_columns),
            "context_feature_columns": configs.serialize_feature_columns(context) if context else None,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The model of a configuration."""
        config = dict(config)
        layer = deserialize_layer(config.pop("rnn_layer"), custom_objects)
        columns = configs.deserialize_feature_columns(config.pop("sequence_feature_columns"), custom_objects)
        context = config.pop("context_feature_columns", None)
        if context:
            context = configs.deserialize_feature_columns(context, custom_objects)
        activation = activations.deserialize(config.pop("activation", None), custom_objects)
        return cls(
            rnn_layer=layer, sequence_feature_columns=columns, context_feature_columns=context,
            activation=activation, **config,
        )  # fmt: skip


def _spec(features, labels, mode, head, model, optimizer, return_sequences):
    is_training = mode == ModeKeys.TRAIN
    opt: Any = None
    if is_training:
        opt = keras_optimizer_of(optimizer, _LEARNING_RATE)
        if isinstance(optimizer, str):
            opt.clipnorm = _CLIP_NORM
        opt.iterations = get_or_create_global_step()
    logits = model(features, is_training)
    if return_sequences and head.input_sequence_mask_key not in features:
        features[head.input_sequence_mask_key] = logits._keras_mask
    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, optimizer=opt, logits=logits, update_ops=model.updates,
        trainable_variables=model.trainable_variables,
    )  # fmt: skip


@public("compat.v2.estimator.experimental.RNNEstimator", "python.estimator.canned.rnn.RNNEstimator")
class RNNEstimator(Estimator):
    """A recurrent model with any head.

    Args:
      head: a tf.estimator.Head; for `return_sequences` one of sequences.
      sequence_feature_columns: columns of sequences.
      context_feature_columns: dense columns, which each step gets too.
      units: how many units the layer has, or for several layers a list.
      cell_type: "simple_rnn", "lstm", "gru", or a class of cells.
      rnn_cell_fn: instead of both, a function that returns a cell, or a list of them.
      return_sequences: whether there are logits of each step.
      model_dir: the folder of its checkpoints.
      optimizer: a name, a function, or a tf.keras.optimizers.Optimizer.
      config: a tf.estimator.RunConfig.

    Raises ValueError for another head, and for cells that are said twice.
    """

    def __init__(
        self, head, sequence_feature_columns, context_feature_columns=None, units=None, cell_type=USE_DEFAULT,
        rnn_cell_fn=None, return_sequences=False, model_dir=None, optimizer="Adagrad", config=None,
    ):  # fmt: skip
        if return_sequences and not isinstance(head, SequentialHead):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set to True."
            )
        _check_cells(rnn_cell_fn, units, cell_type)

        def model_fn(features, labels, mode, config):
            model = RNNModel(
                rnn_layer=rnn_layer_of(rnn_cell_fn, units, cell_type, return_sequences),
                units=head.logits_dimension, sequence_feature_columns=sequence_feature_columns,
                context_feature_columns=context_feature_columns, return_sequences=return_sequences,
                name="rnn_model",
            )  # fmt: skip
            return _spec(features, labels, mode, head, model, optimizer, return_sequences)

        super().__init__(model_fn, model_dir, config)


@public("compat.v2.estimator.experimental.RNNClassifier", "python.estimator.canned.rnn.RNNClassifier")
class RNNClassifier(RNNEstimator):
    """A recurrent classifier.

    Args:
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a tf.losses.Reduction.
      sequence_mask: the key of the feature that says which steps there are, where each has its class.
      others: as for RNNEstimator.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, sequence_feature_columns, context_feature_columns=None, units=None, cell_type=USE_DEFAULT,
        rnn_cell_fn=None, return_sequences=False, model_dir=None, n_classes=2, weight_column=None,
        label_vocabulary=None, optimizer="Adagrad", loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        sequence_mask="sequence_mask", config=None,
    ):  # fmt: skip
        head: Any = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        if return_sequences:
            logging.getLogger("tensorflow").info(
                "Converting head to sequential head with `SequentialHeadWrapper` to allow sequential predictions."
            )
            head = SequentialHeadWrapper(head, sequence_length_mask=sequence_mask, feature_columns=weight_column)
        super().__init__(
            head, sequence_feature_columns, context_feature_columns, units, cell_type, rnn_cell_fn, return_sequences,
            model_dir, optimizer, config,
        )  # fmt: skip
