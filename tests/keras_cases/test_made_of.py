"""What models are made of stays theirs: losses and updates in eager execution, layers of clones, configs, batches."""

import subprocess
import sys

import numpy as np

import stillflow as tf
from stillflow.eager.modes import eager_mode
from stillflow.names import namespace


def test_a_model_keeps_losses_and_updates_in_eager_execution():
    layers, l1 = tf.keras.layers, tf.keras.regularizers.l1
    with eager_mode():
        model = tf.keras.Sequential([layers.Dense(3, activity_regularizer=l1(), input_shape=(2,))])
        model.add(layers.BatchNormalization())
        model.compile("sgd", "mse")
        assert len(model.losses) == 1
        assert len(model.get_updates_for(model.inputs)) == 2
        before = model.layers[1].moving_mean.numpy()
        model.fit(np.ones((4, 2), np.float32), np.zeros((4, 3), np.float32), verbose=0)
        assert not np.array_equal(model.layers[1].moving_mean.numpy(), before)


def test_clones_may_share_layers():
    clone = namespace.find("python.keras.models._clone_sequential_model")
    share = namespace.find("python.keras.models.share_weights")
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))])
        assert clone(model, layer_fn=share).layers[0] is model.layers[0]
        on_variable = clone(model, tf.keras.backend.variable(np.ones((4, 2))))
        assert on_variable.layers[0].kernel is not model.layers[0].kernel
        assert on_variable.predict(None, steps=1).shape == (4, 3)


def test_optimizers_rename_the_learning_rate_in_the_config_they_are_made_of():
    config = {"class_name": "SGD", "config": {"lr": 0.5}}
    tf.keras.optimizers.deserialize(config)
    assert config == {"class_name": "sgd", "config": {"learning_rate": 0.5}}


def test_batches_are_normalized_by_channels_in_front():
    with tf.Graph().as_default():
        x, mean, variance = np.ones((2, 3, 4, 4)), np.zeros(3), np.full(3, 4.0)
        tensors = [tf.constant(each, tf.float32) for each in (x, mean, variance)]
        normed = tf.keras.backend.batch_normalization(*tensors, None, None, axis=1)
        assert normed.op.type == "FusedBatchNormV3" and normed.op.get_attr("data_format") == b"NCHW"


def test_a_dataset_may_have_less_batches_than_steps():
    with tf.Graph().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        dataset = tf.data.Dataset.from_tensor_slices((np.ones((6, 2)), np.ones((6, 1)))).batch(2)
        history = model.fit(dataset, epochs=2, steps_per_epoch=5, verbose=0)
        assert history.epoch == [0] and model.optimizer.iterations.eval(tf.keras.backend.get_session()) == 3


def test_progress_names_the_metrics_of_a_model_that_its_first_batch_compiles(capsys):
    with eager_mode():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=["mae"])
        model.fit(tf.data.Dataset.from_tensors((np.ones((6, 2)), np.ones((6, 1)))), epochs=1)
    assert "- mean_absolute_error: " in capsys.readouterr().out


def test_operations_between_layers_are_layers_before_there_is_a_model():
    program = """
import stillflow as tf
sliced = tf.keras.Input([2])[:, :1]
tf.keras.layers.Dense(1)(sliced)
assert sliced._keras_history.layer.name == "tf_op_layer_strided_slice"
"""
    subprocess.run([sys.executable, "-c", program], check=True)  # a process that has loaded nothing else of Keras
