"""Loss scales as training goes on, with gradients that are infinite now and then."""

import numpy as np
import pytest

import stillflow as tf

experimental = tf.train.experimental


def test_a_dynamic_scale_rises_and_falls():
    gradient = tf.placeholder(tf.float32, [2])
    scale = experimental.DynamicLossScale(8.0, increment_period=2, multiplier=2)
    update, is_good = scale.update([gradient])
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (1.0, 1.0, 1.0, np.inf, 1.0, 1.0, np.nan, np.nan, np.nan, np.nan, np.nan):
            good, _ = session.run([is_good, update], {gradient: [value, 0.0]})
            assert good == np.isfinite(value)
            seen.append(float(session.run(scale())))
    assert seen == [8, 16, 16, 8, 8, 16, 8, 4, 2, 1, 1]


def test_a_step_with_infinite_gradients_is_left_out():
    x = tf.get_variable("x", initializer=1.0)
    factor = tf.placeholder(tf.float32, [])
    step = tf.train.create_global_step()
    optimizer = experimental.MixedPrecisionLossScaleOptimizer(
        tf.train.GradientDescentOptimizer(0.25), experimental.DynamicLossScale(4.0)
    )
    train = optimizer.minimize(x * factor, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for value in (1.0, np.inf, 2.0):
            session.run(train, {factor: value})
            seen.append((float(session.run(x)), int(session.run(step))))
    assert seen == [(0.75, 1), (0.75, 1), (0.25, 2)]


def test_a_checkpoint_keeps_the_scale(tmp_path):
    def build():
        x = tf.get_variable("x", initializer=1.0)
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(
            tf.train.MomentumOptimizer(0.25, 0.9), experimental.DynamicLossScale(4.0, increment_period=1)
        )
        return optimizer.minimize(x * x), tf.train.Checkpoint(optimizer=optimizer, x=x), optimizer._loss_scale()

    with tf.Graph().as_default(), tf.Session() as session:
        train, checkpoint, scale = build()
        session.run(tf.global_variables_initializer())
        session.run(train)
        path = checkpoint.save(str(tmp_path / "c"), session=session)
        assert session.run(scale) == 8
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert "optimizer/loss_scale/current_loss_scale/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "x/.OPTIMIZER_SLOT/optimizer/base_optimizer/momentum/.ATTRIBUTES/VARIABLE_VALUE" in keys
    with tf.Graph().as_default(), tf.Session() as session:
        _, checkpoint, scale = build()
        checkpoint.restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(scale) == 8


def test_scales_describe_themselves():
    fixed = experimental.FixedLossScale(8)
    assert repr(fixed) == "FixedLossScale(8.0)"
    assert repr(experimental.FixedLossScale.from_config(fixed.get_config())) == repr(fixed)
    dynamic = experimental.DynamicLossScale(8, 3, 4)
    assert repr(dynamic) == "DynamicLossScale(initial_loss_scale=8.0, increment_period=3, multiplier=4.0)"
    assert dynamic.get_config() == {"initial_loss_scale": 8.0, "increment_period": 3, "multiplier": 4.0}
    assert (dynamic.initial_loss_scale, dynamic.increment_period, dynamic.multiplier) == (8.0, 3, 4.0)


def test_what_is_no_scale():
    with pytest.raises(ValueError, match="at least 1"):
        experimental.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="int or float"):
        experimental.FixedLossScale("x")
    with pytest.raises(ValueError, match="Could not interpret loss scale identifier: x"):
        experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), "x")
    with pytest.raises(ValueError, match="must be an instance of Optimizer"):
        experimental.MixedPrecisionLossScaleOptimizer(3, 8)
    with pytest.raises(TypeError):
        experimental.LossScale()
