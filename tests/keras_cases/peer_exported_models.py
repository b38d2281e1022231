"""Keras models that are written as SavedModels and loaded; runs here and under a real TensorFlow.

    python peer_exported_models.py write FOLDER KIND    trains, writes FOLDER/model and FOLDER/written.json
    python peer_exported_models.py read FOLDER KIND     loads it and writes what it computes to FOLDER/read.json

Kinds: chain (dropout and batch normalization, trained), network (two inputs and outputs, metrics), plain (not compiled).
"""

import json
import os
import sys

import numpy as np

X = np.sin(np.arange(24)).reshape(6, 4).astype(np.float32)
Y = np.cos(np.arange(12)).reshape(6, 2).astype(np.float32)


def build(tf, kind):
    layers = tf.keras.layers
    if kind == "network":
        left, right = tf.keras.Input((4,), name="left"), tf.keras.Input((2,), name="right")
        joined = layers.concatenate([layers.Dense(3, activation="tanh")(left), right])
        outputs = [layers.Dense(2, name="first")(joined), layers.Dense(1, name="second")(joined)]
        model = tf.keras.Model([left, right], outputs)
        model.compile("adam", ["mse", "mae"], metrics=["mae"], loss_weights=[1.0, 0.5])
        model.fit([X, Y], [Y, Y[:, :1]], epochs=2, verbose=0, shuffle=False)
        return model
    model = tf.keras.Sequential(
        [
            layers.Dense(3, activation="relu", input_shape=(4,)), layers.BatchNormalization(), layers.Dropout(0.5),
            layers.Dense(2),
        ]
    )  # fmt: skip
    if kind == "chain":
        model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.5), "mse", metrics=["mse"])
        model.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    return model


def inputs(kind):
    return [X, Y] if kind == "network" else X


def lists(values):
    return [each.tolist() for each in (values if isinstance(values, list) else [values])]


def main(tf, what, folder, kind):
    """Writes or reads a model; returns what it predicts."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        tf.set_random_seed(5)
        path = os.path.join(folder, "model")
        if what == "write":
            model = build(tf, kind)
            tf.keras.experimental.export_saved_model(model, path)
        else:
            model = tf.keras.experimental.load_from_saved_model(path)
        results = {"predictions": lists(model.predict(inputs(kind)))}
    if what == "read":
        results["served"] = served(tf, path, kind)
    with open(os.path.join(folder, "written.json" if what == "write" else "read.json"), "w") as file:
        json.dump(results, file)
    return results


def served(tf, path, kind):
    """What the graph that serves computes."""
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path)
        signature = loaded.signature_def["serving_default"]
        values = inputs(kind) if kind == "network" else [X]
        feeds = {signature.inputs[name].name: value for name, value in zip(sorted(signature.inputs), values)}
        outputs = [signature.outputs[name].name for name in sorted(signature.outputs)]
        return lists(session.run(outputs, feeds))


if __name__ == "__main__":
    import tensorflow

    main(tensorflow, *sys.argv[1:])
