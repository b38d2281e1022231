"""Checks of what heads get: labels, logits and weights that fit each other, functions of losses."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.composites.checks import (
    assert_equal,
    assert_greater,
    assert_less_equal,
    assert_non_negative,
    assert_that,
)
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.feature_columns.numeric import NumericColumn, numeric_column
from stillflow.feature_columns.transformation import LazyBuilder
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names.arguments import fn_args
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor


class Wording(NamedTuple):
    """Where TensorFlow's two generations of heads differ in checking labels."""

    shapes_first: bool  # whether the nodes of the shapes come before the check of the rank
    no_labels: str
    sparse_labels: str
    other_size: str
    other_shape: str
    range_scope: str
    wrong_range: str


_ADVICE = "check your n_classes argument to the {} and/or the shape of your label."
_SPARSE = (
    "SparseTensor labels are not supported. {}abels must be a Tensor of shape [D0, D1, ..., DN, {{0}}], e.g. "
    "[batch_size, {{0}}].{}Suggested Fix (1): Check the label feature in your data. Each example must contain {{0}} "
    "value(s). If not, your choice of label was probably incorrect. Suggested Fix (2): In your input_fn, use "
    "tf.sparse_tensor_to_dense() to turn labels into a Tensor."
)
_NO_LABELS = (
    "You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain{} "
    "your label feature. Check that your input_fn properly parses and returns labels."
)
OF_GRAPH_HEADS = Wording(
    shapes_first=True,
    no_labels=_NO_LABELS.format(""),
    sparse_labels=_SPARSE.format("l", " "),
    other_size="Mismatched label shape. Expected labels dimension={}.  Received {}. Suggested Fix:If your classifier "
    "expects one-hot encoding label,check your n_classes argument to the estimator and/or the shape of your label. "
    "Otherwise, check the shape of your label.",
    other_shape="labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: " + _ADVICE.format("estimator"),
    range_scope="assert_range",
    wrong_range="Labels must ",
)
OF_HEADS = Wording(
    shapes_first=False,
    no_labels=_NO_LABELS.format("s"),
    sparse_labels=_SPARSE.format("L", ""),
    other_size="Mismatched label shape. Expected labels dimension={}.  Received {}. Suggested Fix: If your "
    "classifier expects one-hot encoding label, check your n_classes argument to the estimator and/or the shape of "
    "your label. "
    "Otherwise, check the shape of your label.",
    other_shape="labels shape must be [D0, D1, ... DN, {}]. Suggested Fix: " + _ADVICE.format("head"),
    range_scope="check_label_range",
    wrong_range="Labels must be ",
)


def checked_labels(labels, logits, size, wording=OF_GRAPH_HEADS):
    """The labels as a tensor [..., size], of the shape of the logits but for that.

    Args:
      labels: a tensor [..., size] or [...].
      logits: a tensor [..., any].
      size: how many labels there are for each example.
      wording: a Wording.

    Raises ValueError for None, a SparseTensor, and another size.
    """
    if labels is None:
        raise ValueError(wording.no_labels)
    with name_scope(None, "labels", (labels, logits)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError(wording.sparse_labels.format(size))
        ranks = labels.shape.ndims, logits.shape.ndims
        if None not in ranks and ranks[0] == ranks[1] - 1:
            labels = ops.expand_dims(labels, -1)
        shapes = (ops.shape(labels), ops.shape(logits)) if wording.shapes_first else None
        message = wording.other_shape.format(size)
        with control_dependencies([assert_rank_at_least(labels, 2, message=message)]):
            if labels.shape.ndims is not None and dimension_value(labels.shape[-1]) not in (None, size):
                raise ValueError(wording.other_size.format(size, labels.shape[-1]))
            if shapes is None:
                logits_shape = ops.shape(logits)
                expected = ops.concat([logits_shape[:-1], [size]], axis=0)
                shape = ops.shape(labels)
            else:
                shape, logits_shape = shapes
                expected = ops.concat([logits_shape[:-1], [size]], axis=0)
            check = assert_equal(
                expected, shape, message=message, data=["expected_labels_shape: ", expected, "labels_shape: ", shape]
            )
            with control_dependencies([check]):
                return ops.identity(labels, name=scope)


def checked_weights(features, weight_column, logits, per_logit=False):
    """The weights of examples, a tensor [..., 1]; 1.0 without a column.

    Args:
      features: {name: tensor}.
      weight_column: a numeric column, its key, or None.
      logits: a tensor [..., any].
      per_logit: whether there may be a weight for each logit: [..., any].

    Raises:
      TypeError: for another column.
      ValueError: for values that are no numbers.
    """
    message = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        message = "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "weights", values=(*features.values(), logits)) as scope:
        if weight_column is None:
            return 1.0
        weights = _column_of_weights(weight_column)._get_dense_tensor(LazyBuilder(features))
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = ops.to_float(weights, name="weights")
        shape = ops.shape(weights, name="weights_shape")
        logits_shape = ops.shape(logits, name="logits_shape")
        data = ["logits_shape: ", logits_shape, "weights_shape: ", shape]
        ranks = weights.shape.ndims, logits.shape.ndims
        if None not in ranks and ranks[0] == ranks[1] - 1:
            with control_dependencies([assert_equal(logits_shape[:-1], shape, message=message, data=data)]):
                return ops.expand_dims(weights, -1, name=scope)
        one_each = ops.concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            same = ops.reduce_all(ops.equal(logits_shape, shape))
            fits = ops.reduce_any([same, ops.reduce_all(ops.equal(one_each, shape))])
            check = assert_that(fits, data=[message, *data])
        else:
            check = assert_equal(one_each, shape, message=message, data=data)
        with control_dependencies([check]):
            return ops.identity(weights, name=scope)


def _column_of_weights(weight_column):
    if isinstance(weight_column, str):
        return numeric_column(key=weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}."
        )
    return weight_column


def checked_logits(logits, size, cast=ops.to_float):
    """The logits as floats [..., size]. Raises ValueError for another size."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "logits", (logits,)) as scope:
        logits = cast(logits)
        shape = ops.shape(logits)
        with control_dependencies([assert_rank_at_least(logits, 2, data=[shape], message=message)]):
            if logits.shape.ndims is not None and dimension_value(logits.shape[-1]) is not None:
                if isinstance(size, int) and dimension_value(logits.shape[-1]) != size:
                    raise ValueError(f"{message}, got {logits.shape}.")
                return logits
            check = assert_equal(size, shape[-1], data=[shape], message=message)
            with control_dependencies([check]):
                return ops.identity(logits, name=scope)


def checked_range(labels, n_classes, message=None, wording=OF_GRAPH_HEADS):
    """The labels, whose values are checked to be in [0, n_classes) when they are computed."""
    with name_scope(None, wording.range_scope, (labels,)):
        highest = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        not_above = assert_less_equal(labels, highest, message=message or wording.wrong_range + "<= n_classes - 1")
        not_below = assert_non_negative(labels, message=message or wording.wrong_range + ">= 0")
        with control_dependencies((not_above, not_below)):
            return ops.identity(labels)


def checked_n_classes(n_classes):
    """The number of classes. Raises ValueError, for a tensor InvalidArgumentError where it runs, unless it is > 2."""
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    number = convert_to_tensor(n_classes)
    with control_dependencies([assert_greater(number, 2, message="n_classes must be greater than 2")]):
        ops.no_op()
    return n_classes


def checked_thresholds(thresholds, words):
    """A tuple of thresholds. Raises ValueError, with these words, for one that is not in (0, 1)."""
    thresholds = tuple(thresholds) if thresholds else ()
    for threshold in thresholds:
        if threshold <= 0.0 or threshold >= 1.0:
            raise ValueError(words(thresholds, threshold))
    return thresholds


def checked_class_metrics(n_classes, label_vocabulary, classes):
    """The numbers of the classes that have metrics of their own.

    Args:
      n_classes: how many classes there are.
      label_vocabulary: their names, or None.
      classes: numbers or names of classes, or None.

    Raises ValueError for a vocabulary of another size, and for classes that there are not.
    """
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(label_vocabulary)}")
        if len(label_vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(label_vocabulary)}"
            )
    classes = tuple(classes or ())
    if classes and isinstance(classes[0], str):
        if not label_vocabulary:
            raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
        return tuple(label_vocabulary.index(name) for name in classes)
    for class_id in classes:
        if class_id < 0 or class_id >= n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. Given: {class_id}"
            )
    return classes


# ---- Functions of losses ------------------------------------------------------------------------------------------


def check_loss_fn(loss_fn, may=("labels", "logits", "features")):
    """Raises ValueError unless a function of labels and logits takes those, and only what is offered."""
    given = fn_args(loss_fn)
    for required in ("labels", "logits"):
        if required not in given:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {given}")
    others = [name for name in given if name not in may]
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def call_loss_fn(loss_fn, labels, logits, features, size=1):
    """The losses that a function makes of labels, logits and perhaps features: [..., size], which is checked."""
    offered = {"features": features} if "features" in fn_args(loss_fn) else {}
    with name_scope(None, "call_loss_fn", values=[labels, logits, *features.values()]):
        losses = loss_fn(labels=labels, logits=logits, **offered)
        logits_shape = ops.shape(logits, name="logits_shape")
        expected = ops.concat([logits_shape[:-1], [size]], axis=0, name="expected_loss_shape")
        shape = ops.shape(losses, name="loss_shape")
        check = assert_that(
            ops.reduce_all(ops.equal(shape, expected)),
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {size}]. ",
                *("logits_shape: ", logits_shape, "loss_shape: ", shape),
            ],
            name="check_loss_shape",
        )
        with control_dependencies([check]):
            return ops.identity(losses)
