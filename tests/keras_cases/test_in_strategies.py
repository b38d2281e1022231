"""Models of tf.keras in the scopes of strategies: what is refused, and how steps follow from batches."""

import pytest

import stillflow as tf


def helpers():
    return tf.python.keras.distribute.distributed_training_utils


def on_cpu():
    return tf.distribute.OneDeviceStrategy("/cpu:0")


def small_model():
    return tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])


def test_a_model_of_the_scope_is_compiled_and_keeps_its_strategy():
    strategy = on_cpu()
    with strategy.scope():
        model = small_model()
        model.compile("sgd", "mse")
    model.compile("sgd", "mse")
    assert model._distribution_strategy is strategy


def test_variables_of_other_scopes_are_refused():
    model = small_model()
    with on_cpu().scope(), pytest.raises(ValueError, match="was not created in the distribution strategy scope"):
        model.compile("sgd", "mse")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sample_weight_mode": "temporal"}, NotImplementedError, "sample_weight_mode is not supported"),
        ({"weighted_metrics": ["mae"]}, NotImplementedError, "weighted_metrics is not supported"),
        ({"target_tensors": [1.0]}, ValueError, "target_tensors is not supported"),
    ],
)
def test_arguments_that_no_strategy_takes(arguments, error, message):
    with on_cpu().scope():
        model = small_model()
        with pytest.raises(error, match=message):
            model.compile("sgd", "mse", **arguments)


def test_models_without_inputs_are_refused_in_graphs():
    with on_cpu().scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        with pytest.raises(ValueError, match="created without `input_shape`/`input_dim`"):
            model.compile("sgd", "mse")


def test_losses_do_not_take_means_of_parts():
    with on_cpu().scope(), pytest.raises(ValueError, match="Please use `tf.keras.losses.Reduction.SUM`"):
        tf.keras.losses.MeanSquaredError()([1.0], [2.0])


@pytest.mark.parametrize(
    ("given", "expected"),
    [((64, None, None), (2, 32)), ((20, None, None), (1, 20)), ((64, 1, None), (1, 64)), ((64, None, 16), (4, 16)),
     ((64, 5, 3), (5, 3))],
)  # fmt: skip
def test_steps_and_batches(given, expected):
    assert helpers().get_input_params(on_cpu(), *given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [((63, 2, None), "not divisible by steps 2"), ((63, None, 8), "not divisible by batch size 8"),
     ((64, 10, 13), "less than samples required")],
)  # fmt: skip
def test_batches_that_do_not_fit(given, message):
    with pytest.raises(ValueError, match=message):
        helpers().get_input_params(on_cpu(), *given)


def test_training_may_leave_samples_over():
    assert helpers().get_input_params(on_cpu(), 63, None, 8, mode="train") == (8, 8)


@pytest.mark.parametrize("kind", ["LearningRateScheduler", "ReduceLROnPlateau"])
def test_rates_of_older_optimizers_are_not_changed_by_callbacks(kind):
    callback = {
        "LearningRateScheduler": lambda: tf.keras.callbacks.LearningRateScheduler(lambda _: 0.1),
        "ReduceLROnPlateau": tf.keras.callbacks.ReduceLROnPlateau,
    }[kind]()
    helpers().validate_callbacks([callback], tf.keras.optimizers.Adam())
    with pytest.raises(ValueError, match="You must specify a Keras Optimizer V2"):
        helpers().validate_callbacks([callback], tf.train.AdamOptimizer())


def test_gradients_are_not_written():
    callback = tf.keras.callbacks.TensorBoard(write_grads=True)
    helpers().validate_callbacks([callback], tf.keras.optimizers.SGD())
    assert not callback.write_grads


def test_variables_that_are_read_as_other_types_are_of_the_scope():
    with on_cpu().scope():
        policy = tf.keras.mixed_precision.experimental.Policy("mixed_float16", loss_scale=None)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), dtype=policy)])
        model.compile("sgd", "mse")
        assert model.variables[0].dtype == tf.float32
