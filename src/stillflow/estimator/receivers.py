"""tf.estimator.export.ServingInputReceiver and its kin: what callers of an exported model feed."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import parse_example
from stillflow.estimator import input_functions
from stillflow.graph import dtypes
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.saver.saved_model.exporting import (
    SINGLE_FEATURE_DEFAULT_NAME,
    SINGLE_LABEL_DEFAULT_NAME,
    SINGLE_RECEIVER_DEFAULT_NAME,
)

_SINGLE_NAMES = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}


def checked_inputs(tensors, what, allows_int_keys=False):
    """{name: tensor}, of such a dict or of a single tensor."""
    if tensors is None:
        raise ValueError(f"{what}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {_SINGLE_NAMES[what]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            if not allows_int_keys:
                raise ValueError(f"{what} keys must be strings: {name}.")
            if not isinstance(name, int):
                raise ValueError(f"{what} keys must be strings or ints: {name}.")
        _check_tensor(tensor, name, what)
    return tensors


def _check_tensor(tensor, name, what="feature"):
    if isinstance(tensor, (Tensor, SparseTensor)):
        return
    error = ValueError(f"{what}{f' {name}' if name else ''} must be a Tensor or SparseTensor.")
    if not hasattr(tensor, "tensor"):
        raise error
    try:
        convert_to_tensor(tensor)
    except TypeError:
        raise error from None


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


@public("estimator.export.ServingInputReceiver")
class ServingInputReceiver(_Receiver):
    """What callers feed, and the features that a model is given of it.

    Args:
      features: {name: tensor or SparseTensor}, or a single one, which becomes "feature".
      receiver_tensors: {name: tensor that callers feed}, or a single one, which is called "input".
      receiver_tensors_alternatives: {name of a signature: other tensors to feed}.

    Raises ValueError for None, names that are no strings, and what are no tensors.
    """

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        features = checked_inputs(features, "feature", allows_int_keys=True)
        return super().__new__(cls, features, *_checked_receivers(receiver_tensors, receiver_tensors_alternatives))


def _checked_receivers(receiver_tensors, alternatives):
    receiver_tensors = checked_inputs(receiver_tensors, "receiver_tensor")
    if alternatives is not None:
        if not isinstance(alternatives, dict):
            raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
        for name, tensors in alternatives.items():
            alternatives[name] = checked_inputs(tensors, "receiver_tensors_alternative")
    return receiver_tensors, alternatives


class _TensorReceiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


@public("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(_TensorReceiver):
    """A ServingInputReceiver for a model whose features are one tensor, and not a dict.

    Raises ValueError for None, and what are no tensors.
    """

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None)
        return super().__new__(cls, features, *_checked_receivers(receiver_tensors, receiver_tensors_alternatives))


@public(
    "python.estimator.export.UnsupervisedInputReceiver", "python.estimator.export.export.UnsupervisedInputReceiver"
)
class UnsupervisedInputReceiver(ServingInputReceiver):
    """What a model without labels is trained or evaluated on where it is served."""

    def __new__(cls, features, receiver_tensors):
        return super().__new__(cls, features, receiver_tensors)


class _SupervisedReceiver(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: Any


@public("python.estimator.export.SupervisedInputReceiver", "python.estimator.export.export.SupervisedInputReceiver")
class SupervisedInputReceiver(_SupervisedReceiver):
    """What a model is trained or evaluated on where it is served: features and labels.

    Raises ValueError for None, names that are no strings, and what are no tensors.
    """

    def __new__(cls, features, labels, receiver_tensors):
        checked_inputs(features, "feature", allows_int_keys=True)
        checked_inputs(labels, "label", allows_int_keys=True)
        return super().__new__(cls, features, labels, checked_inputs(receiver_tensors, "receiver_tensor"))


# ---- Functions that make them -------------------------------------------------------------------------------------


@public("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that makes a receiver of serialized tf.train.Examples.

    Args:
      feature_spec: {name: tf.FixedLenFeature, tf.VarLenFeature or another}, as for tf.parse_example.
      default_batch_size: how many examples there are; None for any number.
    """

    def serving_input_receiver_fn():
        """A ServingInputReceiver with one input, "examples"."""
        serialized = ops.placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_like(tensor, batch_size):
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    try:
        name = tensor.op.name
    except AttributeError:  # in eager execution tensors have no names
        name = None
    return ops.placeholder(tensor.dtype, shape, name=name)


def _placeholders_like(tensors, batch_size, single_name):
    """A placeholder for each tensor of a dict, or for a single one; and {name: placeholder}."""
    if isinstance(tensors, dict):
        found = {name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()}
        return found, found
    single = _placeholder_like(tensors, batch_size)
    return single, {single_name: single}


@public("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that makes a receiver of the features themselves.

    Args:
      features: {name: tensor}: callers feed tensors of these types and shapes, but for the first dimension.
      default_batch_size: the first dimension; None for any.
    """

    def serving_input_receiver_fn():
        """A ServingInputReceiver whose features are what callers feed."""
        tensors = {name: _placeholder_like(tensor, default_batch_size) for name, tensor in features.items()}
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


@public(
    "estimator.experimental.build_raw_supervised_input_receiver_fn",
    "contrib.estimator.build_raw_supervised_input_receiver_fn",
)
def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """A function that makes a receiver of features and labels.

    Args:
      features: {name: tensor}, or a single tensor, which is called "input".
      labels: {name: tensor}, or a single tensor, which is called "label".
      default_batch_size: the first dimension; None for any.

    Raises ValueError for names that are both.
    """
    names = set(features if hasattr(features, "keys") else [SINGLE_RECEIVER_DEFAULT_NAME])
    both = names & set(labels if hasattr(labels, "keys") else [SINGLE_LABEL_DEFAULT_NAME])
    if both:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

    def supervised_input_receiver_fn():
        """A receiver whose features and labels are what callers feed."""
        fed_features, inputs = _placeholders_like(features, default_batch_size, SINGLE_RECEIVER_DEFAULT_NAME)
        fed_labels, more = _placeholders_like(labels, default_batch_size, SINGLE_LABEL_DEFAULT_NAME)
        return SupervisedInputReceiver(fed_features, fed_labels, {**inputs, **more})

    return supervised_input_receiver_fn


@public("contrib.estimator.build_supervised_input_receiver_fn_from_input_fn")
def build_supervised_input_receiver_fn_from_input_fn(input_fn, **input_fn_args):
    """A function that makes a receiver of what an input function returns, which is called with these arguments."""
    with Graph().as_default():
        features, labels, _ = input_functions.parse(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
