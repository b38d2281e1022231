"""Policies of layers, and optimizers whose loss is scaled."""

import contextlib

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph
from stillflow.layers.core import policies

experimental = tf.keras.mixed_precision.experimental


def test_policy():
    mixed = experimental.Policy("mixed_float16")
    assert (mixed.compute_dtype, mixed.variable_dtype, mixed.should_cast_variables) == ("float16", "float32", True)
    assert isinstance(mixed.loss_scale, tf.train.experimental.DynamicLossScale)
    assert repr(experimental.Policy("float16", loss_scale=2)) == '<Policy "float16", loss_scale=FixedLossScale(2.0)>'
    assert experimental.Policy("infer_float32_vars").name == "infer_with_float32_vars"
    assert experimental.Policy("float32_with_float32_vars").name == "float32"
    with pytest.raises(
        TypeError, match="'name' must be a string, not a DType. Instead, pass DType.name. Got: float16"
    ):
        experimental.Policy(tf.float16)
    with pytest.raises(ValueError, match="Cannot convert value abc_with_float32_vars to a mixed precision Policy"):
        experimental.Policy("abc_with_float32_vars")


def test_global_policy():
    assert experimental.global_policy().name == "infer"
    with policies.policy_scope("infer_float32_vars"):
        layer = tf.keras.layers.Dense(1)
        with pytest.raises(ValueError, match="a keras mixed precision Policy has been set"):
            tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.keras.optimizers.SGD(1.0))
    assert layer.dtype == "float32"
    assert experimental.global_policy().name == "infer"
    with pytest.raises(ValueError, match="can only be set to a non-infer policy in TensorFlow 2"):
        experimental.set_policy("float16")


def test_layers_that_cast_their_inputs():
    policies.enable_v2_dtype_behavior()
    try:
        with policies.policy_scope("mixed_float16"):
            layer = tf.keras.layers.Dense(2)
            assert layer(tf.ones([1, 3])).dtype == tf.float16
            assert layer.kernel.dtype == tf.float32
        assert tf.keras.layers.Activation("relu")(tf.ones([2], tf.float64)).dtype == tf.float32
    finally:
        policies.disable_v2_dtype_behavior()
    assert tf.keras.layers.Activation("relu")(tf.ones([2], tf.float64)).dtype == tf.float64


@pytest.mark.parametrize("eagerly", [False, True])
def test_dynamic_loss_scale_in_training(eagerly):
    with EagerGraph().as_default() if eagerly else contextlib.nullcontext():
        _train_with_dynamic_scale()


def _train_with_dynamic_scale():
    layer = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    inputs = tf.keras.Input([1])
    model = tf.keras.Model(inputs, layer(inputs))
    scale = tf.train.experimental.DynamicLossScale(4.0, increment_period=2)
    model.compile(experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.25), scale), "mse")
    value = tf.keras.backend.get_value
    for target, weight, expected_scale in ((3.0, 2.0, 4.0), (2.0, 2.0, 8.0), (np.inf, 2.0, 4.0), (4.0, 3.0, 4.0)):
        model.train_on_batch(np.ones([1, 1]), np.full([1, 1], target))
        assert value(layer.kernel) == weight
        assert value(scale()) == expected_scale


def test_optimizers():
    sgd = tf.keras.optimizers.SGD(1.0)
    with pytest.raises(ValueError, match="must be an instance of OptimizerV2"):
        experimental.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
    with pytest.raises(ValueError, match="does not support wrapping optimizers with a clipnorm"):
        experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(1.0, clipnorm=1.0), 2)
    try:
        found = tf.train.experimental.enable_mixed_precision_graph_rewrite(sgd, 123.0)
        assert isinstance(found, experimental.LossScaleOptimizer)
        with pytest.raises(ValueError, match='"opt" must not already be an instance of a LossScaleOptimizer'):
            tf.train.experimental.enable_mixed_precision_graph_rewrite(found)
        with pytest.raises(ValueError, match="the mixed precision graph rewrite has already been enabled"):
            experimental.set_policy("infer_float32_vars")
        assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
    finally:
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
