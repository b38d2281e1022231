"""model_to_estimator: an Estimator goes on from a model's weights, and does what the model would."""

import logging

import numpy as np
import pytest

import stillflow as tf

X = np.sin(np.arange(32)).reshape(8, 4).astype(np.float32)
Y = np.cos(np.arange(16)).reshape(8, 2).astype(np.float32)


def chain():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(3, activation="tanh", input_shape=(4,)), layers.Dense(2)])


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(3, activation="tanh")
        self.out = tf.keras.layers.Dense(2)

    def call(self, inputs):
        return self.out(self.hidden(inputs))


def compiled(make=chain, optimizer="adam"):
    model = make()
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def batch():
    return tf.data.Dataset.from_tensors((X, Y)).repeat(3)


@pytest.mark.parametrize("checkpoint_format", ["saver", "checkpoint"])
def test_estimator_trains_as_the_model_does(tmp_path, checkpoint_format):
    with tf.Graph().as_default():
        model = compiled()
        start = model.get_weights()
        estimator = tf.keras.estimator.model_to_estimator(
            model, model_dir=str(tmp_path), checkpoint_format=checkpoint_format
        )
        predictions = [row["dense_1"] for row in estimator.predict(batch)][:8]
        np.testing.assert_allclose(predictions, model.predict(X), rtol=1e-6)
        estimator.train(batch, steps=1)
        estimator.train(batch, max_steps=3)
        for _ in range(3):
            model.train_on_batch(X, Y)
        expected = model.evaluate(X, Y, verbose=0)
        found = estimator.evaluate(batch, steps=1)
        np.testing.assert_allclose([found["loss"], found["mean_absolute_error"]], expected, rtol=1e-6)
        assert found["global_step"] == 3
        if checkpoint_format == "checkpoint":
            trained = model.get_weights()
            model.set_weights(start)
            model.load_weights(estimator.latest_checkpoint())
            for mine, theirs in zip(model.get_weights(), trained, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-6)
        else:
            assert "dense/kernel" in estimator.get_variable_names()


def test_estimator_of_a_file_exports_what_serves(tmp_path):
    pytest.importorskip("h5py")
    with tf.Graph().as_default():
        model = compiled()
        model.save(str(tmp_path / "model.h5"))
        expected = model.predict(X)
    estimator = tf.keras.estimator.model_to_estimator(
        keras_model_path=str(tmp_path / "model.h5"), model_dir=str(tmp_path / "made")
    )
    estimator.train(batch, steps=1)
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"dense_input": tf.placeholder(tf.float32, (None, 4))}
    )
    folder = estimator.export_saved_model(str(tmp_path / "exported"), receiver)
    predict = tf.contrib.predictor.from_saved_model(folder)
    served = predict({"dense_input": X})["dense_1"]
    assert served.shape == expected.shape
    assert np.abs(served - expected).max() < 0.01


def test_subclassed_model_has_its_state_again_afterwards(tmp_path):
    with tf.Graph().as_default():
        model = compiled(Net, "sgd")
        model.train_on_batch(X, Y)
        weights = model.get_weights()
        hidden, optimizer = model.hidden, model.optimizer
        estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
        losses = [estimator.train(batch, steps=20).evaluate(batch)["loss"] for _ in range(2)]
        assert losses[1] < losses[0]
        assert model.hidden is hidden
        assert model.optimizer is optimizer
        for before, after in zip(weights, model.get_weights(), strict=True):
            np.testing.assert_array_equal(before, after)
        model.train_on_batch(X, Y)


def test_layers_in_lists_cannot_be_made_anew(tmp_path):
    class Listed(Net):
        def __init__(self):
            super().__init__()
            self.blocks = [tf.keras.layers.Dense(2)]

    estimator = tf.keras.estimator.model_to_estimator(compiled(Listed), model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="We do not support the use of list-of-layers attributes"):
        estimator.train(batch, steps=1)


def test_refusals(tmp_path):
    convert = tf.keras.estimator.model_to_estimator
    with pytest.raises(ValueError, match="Either `keras_model` or `keras_model_path` needs to be provided"):
        convert()
    with pytest.raises(ValueError, match="but not both"):
        convert(chain(), "file.h5")
    with pytest.raises(ValueError, match="has not been compiled yet"):
        convert(chain(), model_dir=str(tmp_path))
    with pytest.raises(ValueError, match='must be one of "checkpoint" or "saver". Got h5'):
        convert(compiled(), model_dir=str(tmp_path), checkpoint_format="h5")
    with pytest.raises(ValueError, match="not supported with subclassed models"):
        convert(compiled(Net), model_dir=str(tmp_path), checkpoint_format="checkpoint")
    estimator = convert(compiled(), model_dir=str(tmp_path))
    with pytest.raises(KeyError, match="does not have the expected inputs keys"):
        estimator.train(lambda: ({"other": tf.constant(X)}, tf.constant(Y)), steps=1)


def test_model_that_has_run_keeps_its_session(tmp_path, caplog):
    with tf.Graph().as_default(), caplog.at_level(logging.INFO, "tensorflow"):
        model = compiled()
        model.predict(X)
        config = tf.estimator.RunConfig(session_config=tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)))
        tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path), config=config)
    assert "The Keras backend session has already been set." in caplog.text


def test_subclassed_model_of_a_dictionary(tmp_path):
    class Sum(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.out = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.out(inputs["a"] + inputs["b"])

    model = Sum()
    model._set_inputs({name: tf.keras.Input((4,), name=name) for name in ("b", "a")})
    model.compile("sgd", "mse")
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))

    def batches():
        return tf.data.Dataset.from_tensors(({"a": X, "b": -X}, Y)).repeat(3)

    estimator.train(batches)
    (predicted,) = [each["output_1"] for each in estimator.predict(lambda: batches().take(1))][:1]
    np.testing.assert_array_equal(predicted, estimator.get_variable_value("sum/dense/bias"))
    with pytest.raises(KeyError, match="features keys: {'a'}"):
        estimator.train(lambda: batches().map(lambda x, y: ({"a": x["a"]}, y)))
