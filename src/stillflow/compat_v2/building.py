"""Constants, conversions and parts of graphs, as TensorFlow 2 spells them."""

from __future__ import annotations

import math

import numpy as np

import stillflow as tf
from stillflow.graph import dtypes
from stillflow.graph import name_scope as first
from stillflow.names import public


@public("compat.v2.convert_to_tensor")
def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """tf.convert_to_tensor."""
    return tf.convert_to_tensor(value=value, dtype=dtype, dtype_hint=dtype_hint, name=name)


@public("compat.v2.feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size=None, dtype=dtypes.string, default_value=None, num_oov_buckets=0
):
    """tf.feature_column.categorical_column_with_vocabulary_file."""
    return tf.feature_column.categorical_column_with_vocabulary_file(
        key=key,
        vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size,
        dtype=dtype,
        default_value=default_value,
        num_oov_buckets=num_oov_buckets,
    )


@public("compat.v2.autograph.to_graph")
def to_graph(entity, recursive=True, experimental_optional_features=None):
    """tf.autograph.to_graph."""
    return tf.autograph.to_graph(
        entity=entity, recursive=recursive, experimental_optional_features=experimental_optional_features
    )


@public("compat.v2.autograph.to_code")
def to_code(entity, recursive=True, experimental_optional_features=None):
    """tf.autograph.to_code."""
    return tf.autograph.to_code(
        entity=entity, recursive=recursive, experimental_optional_features=experimental_optional_features
    )


@public("compat.v2.constant", "python.framework.constant_op.constant")
def constant(value, dtype=None, shape=None, name="Const"):
    """A constant tensor of a number, or of values that are as many as the shape asks for.

    Raises:
      TypeError: if the value is not of the dtype, or neither one value nor as many as the shape holds.
      ValueError: for None and ragged lists.
    """
    if shape is not None:
        given, asked = np.shape(value), tuple(int(size) for size in tf.TensorShape(shape).as_list())
        if given not in ((), (1,)) and math.prod(given) != math.prod(asked):
            raise TypeError(f"Expected Tensor's shape: {asked}, got {given}.")
    return tf.constant(value, dtype, shape, name)


@public("compat.v2.random.set_seed")
def set_seed(seed):
    """tf.set_random_seed."""
    tf.set_random_seed(seed)


@public("compat.v2.device")
def device(device_name):
    """tf.device, for names only. Raises RuntimeError for functions."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return tf.device(device_name)


@public("compat.v2.name_scope")
class name_scope(first.name_scope):  # noqa: N801
    """tf.name_scope of a name. Raises ValueError for what is no text."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)


@public("compat.v2.test.assert_equal_graph_def")
def assert_equal_graph_def(expected, actual):
    """tf.test.assert_equal_graph_def, which has them the other way round."""
    tf.test.assert_equal_graph_def(actual, expected)


@public("compat.v2.keras.estimator.model_to_estimator")
def model_to_estimator(
    keras_model=None,
    keras_model_path=None,
    custom_objects=None,
    model_dir=None,
    config=None,
    checkpoint_format="checkpoint",
):
    """tf.keras.estimator.model_to_estimator, which writes checkpoints of objects."""
    return tf.keras.estimator.model_to_estimator(
        keras_model, keras_model_path, custom_objects, model_dir, config, checkpoint_format
    )
