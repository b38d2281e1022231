"""Models of Keras as SavedModels; runs here and under a real TensorFlow.

python peer_keras_models.py save FOLDER     writes the models
python peer_keras_models.py load FOLDER     loads and calls them; writes FOLDER/results.json
"""

import json
import os
import sys

import numpy as np

X = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) / 4


def models(tf):
    """{name: model}: functional with a sublayer, Sequential, and a class of its own that takes `training`."""
    layers = tf.keras.layers

    class Scaled(layers.Layer):
        """A layer with a loss, that does something else when it is trained."""

        def build(self, input_shape):
            self.scale = self.add_weight("scale", (), initializer="ones", regularizer=tf.keras.regularizers.l2(0.5))

        def call(self, inputs, training=False):
            self.add_loss(tf.reduce_sum(inputs), inputs=True)
            return inputs * self.scale + (1.0 if training else 2.0)

    class Subclassed(tf.keras.Model):
        def __init__(self):
            super(Subclassed, self).__init__()
            self.scaled = Scaled()
            self.dense = layers.Dense(
                2, kernel_initializer="ones", activity_regularizer=tf.keras.regularizers.l2(0.1)
            )

        def call(self, inputs, training=None):
            return self.dense(self.scaled(inputs, training=training))

    inputs = tf.keras.Input((4,), name="features")
    inner = layers.Dense(3, kernel_initializer="ones", activation="relu", kernel_regularizer="l2", name="inner")
    outputs = layers.Dense(2, kernel_initializer="ones", name="outer")(inner(inputs))
    functional = tf.keras.Model(inputs, [outputs, inner.output])
    sequential = tf.keras.Sequential(
        [
            layers.Dense(3, kernel_initializer="ones", input_shape=(4,)),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(1, kernel_initializer="ones"),
        ]
    )
    sequential.compile("sgd", "mse", metrics=["mae"])
    sequential.set_weights([weight / 2 + 0.1 for weight in sequential.get_weights()])
    subclassed = Subclassed()
    subclassed.predict(X)
    return {"functional": functional, "sequential": sequential, "subclassed": subclassed}


def results(tf, model):
    """What a model is and computes."""
    return {
        "class": type(model).__name__,
        "predicted": rounded(model.predict(X)),
        "called": rounded([np.asarray(value) for value in tf.nest.flatten(model(X))]),
        "losses": sorted(rounded([np.asarray(loss) for loss in model.losses])),
        "weights": rounded(model.get_weights()),
        "trainable": [variable.name for variable in model.trainable_variables],
    }


def rounded(values):
    """Plain lists of arrays, in 5 digits."""
    if isinstance(values, list):
        return [rounded(value) for value in values]
    return np.round(values.astype(np.float64), 5).tolist()


def main(tf, task, folder):
    if task == "save":
        for name, model in models(tf).items():
            model.save(os.path.join(folder, name), save_format="tf")
        return None
    found = {}
    for name in ("functional", "sequential", "subclassed"):
        model = tf.keras.models.load_model(os.path.join(folder, name))
        found[name] = results(tf, model)
        if name == "sequential":
            found["trained"] = rounded(np.asarray(model.evaluate(X, np.ones((3, 1), np.float32), verbose=0)))
            model.fit(X, np.ones((3, 1), np.float32), batch_size=3, verbose=0)
        plain = tf.compat.v2.saved_model.load(os.path.join(folder, name))  # which keeps the variables
        served = plain.signatures["serving_default"](tf.constant(X))
        found[name + " served"] = {key: rounded(served[key].numpy()) for key in sorted(served)}
    return found


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.enable_eager_execution()
    all_results = main(tensorflow, *sys.argv[1:])
    with open(os.path.join(sys.argv[2], "results.json"), "w") as results_file:
        json.dump(all_results, results_file)
