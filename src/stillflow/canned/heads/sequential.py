"""A head of sequences: each step of them is an example of a head of examples."""

from __future__ import annotations

import abc
import collections.abc

from stillflow import ops
from stillflow.canned.heads.base import Head
from stillflow.canned.heads.several import MultiHead
from stillflow.composites.checks import assert_equal
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.array.where import boolean_mask
from stillflow.ops.sparse.order import sparse_reorder
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys


@public("python.estimator.head.sequential_head._SequentialHead")
class SequentialHead(Head):
    """A head of sequences."""

    @property
    @abc.abstractmethod
    def input_sequence_mask_key(self):
        """The key of the feature that says which steps of sequences there are."""


@public("python.estimator.head.sequential_head.SequentialHeadWrapper")
class SequentialHeadWrapper(SequentialHead):
    """Shows the steps of sequences to a head that knows examples only.

    Args:
      static_head: a tf.estimator.Head, but no MultiHead.
      sequence_length_mask: the key of the feature [batch, steps] that says which steps there are.
      feature_columns: the keys of features that the head needs, with the weights of steps.

    Raises:
      TypeError: for keys that are no strings.
      ValueError: for a MultiHead.
    """

    def __init__(self, static_head, sequence_length_mask="sequence_length_mask", feature_columns=None):
        if not isinstance(sequence_length_mask, str):
            raise TypeError(f"`sequence_mask` column must be a string. Given type: {type(sequence_length_mask)}.")
        feature_columns = feature_columns or []
        if not isinstance(feature_columns, collections.abc.Iterable):
            raise TypeError(
                "`feature_columns` must be either a string or an iterable of strings got "
                f"{type(feature_columns)} instead."
            )
        columns = [feature_columns] if isinstance(feature_columns, str) else feature_columns
        for column in columns:
            if not isinstance(column, str):
                raise TypeError(f"Column must a string. Given type: {type(column)}.")
        if isinstance(static_head, MultiHead):
            raise ValueError("`MultiHead` is not supported with `SequentialHeadWrapper`.")
        self._sequence_length_mask = sequence_length_mask
        self._feature_columns = columns
        self._static_head = static_head

    @property
    def input_sequence_mask_key(self):
        return self._sequence_length_mask

    @property
    def logits_dimension(self):
        return self._static_head.logits_dimension

    @property
    def loss_reduction(self):
        return self._static_head.loss_reduction

    @property
    def name(self):
        return f"{self._static_head.name}_sequential" if self._static_head.name else None

    @property
    def static_head(self):
        """The head of examples."""
        return self._static_head

    def _flatten(self, labels, logits, features):
        """(labels, logits, features) of all steps that there are, one after the other."""
        key = self.input_sequence_mask_key
        if key not in features:
            raise ValueError(
                f"The provided sequence_length_mask key `{key}` should be included in the features dictionary, but "
                f"was not found. Found keys: {list(features)}."
            )
        mask = features[key]
        if mask.shape.ndims != 2:
            raise ValueError(f"Mask is expected to have two dimensions, got {mask.shape.ndims} instead.")
        with name_scope("flatten"):
            count = ops.reduce_sum(ops.cast(mask, dtypes.int32))
            flat_logits = flatten_tensor(logits, mask, count)
            flat_labels = flatten_tensor(labels, mask, count)
            flat_features = {}
            for column in self._feature_columns:
                if column not in features:
                    raise ValueError(f"`{column}` column expected in features dictionary.")
                flat_features[column] = flatten_tensor(features[column], mask, count)
        return flat_labels, flat_logits, flat_features

    def loss(  # type: ignore[override]  # in this order, as in TensorFlow
        self, logits, labels, features=None, mode=None, regularization_losses=None
    ):
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.loss(
            logits=logits, labels=labels, features=features, mode=mode, regularization_losses=regularization_losses
        )

    def predictions(self, logits, keys=None):
        return self._static_head.predictions(logits, keys=keys)

    def metrics(self, regularization_losses=None):
        return self._static_head.metrics(regularization_losses)

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics=eval_metrics, features=features, logits=logits, labels=labels,
            regularization_losses=regularization_losses,
        )  # fmt: skip

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
        update_ops=None, regularization_losses=None,
    ):  # fmt: skip
        if mode == ModeKeys.PREDICT:
            spec = self._static_head.create_estimator_spec(features=features, mode=mode, logits=logits)
            spec.predictions[self.input_sequence_mask_key] = features[self.input_sequence_mask_key]
            return spec._replace(predictions=spec.predictions)
        labels, logits, features = self._flatten(labels, logits, features)
        return self._static_head.create_estimator_spec(
            features=features, mode=mode, logits=logits, labels=labels, optimizer=optimizer,
            trainable_variables=trainable_variables, train_op_fn=train_op_fn, update_ops=update_ops,
            regularization_losses=regularization_losses,
        )  # fmt: skip


@public("python.estimator.head.sequential_head._flatten_tensor")
def flatten_tensor(tensor, sequence_mask, expected_length):
    """The steps of sequences that there are, one after the other: [steps in all, ...].

    Args:
      tensor: a tensor [batch, steps, ...], or a SparseTensor whose values are those steps.
      sequence_mask: booleans [batch, steps].
      expected_length: how many steps there are; running the result raises InvalidArgumentError for other tensors.

    Raises ValueError for tensors of less than two dimensions, and for what is no tensor.
    """
    shape = tensor.shape
    if shape.ndims < 2:
        raise ValueError(f"Input tensor expected to have at least 2 dimensions, got {shape.ndims} instead.")
    if isinstance(tensor, SparseTensor):
        flat = sparse_reorder(tensor).values
        if shape.ndims > 2:
            flat = ops.reshape(tensor.values, ops.concat([[-1], shape[2:]], axis=0))
    elif isinstance(tensor, Tensor):
        flat = boolean_mask(tensor, sequence_mask)
    else:
        raise ValueError(f"`tensor` expected to be a `Tensor` or  `SparseTensor` got `{tensor}` instead.")
    if shape.ndims == 2:
        flat = ops.expand_dims(flat, -1)
        expected_shape = ops.concat([[expected_length], [1]], axis=0)
    else:
        expected_shape = ops.concat([[expected_length], shape[2:]], axis=0)
    message = "Tensor shape is incompatible with provided mask."
    with control_dependencies([assert_equal(ops.shape(flat), expected_shape, message=message)]):
        return ops.identity(flat)
