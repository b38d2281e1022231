"""A recurrent net of Keras as a SavedModel; run by a real TensorFlow.

python peer_recurrent_models.py save FOLDER     writes the model, and FOLDER/results.json: how it goes on
"""

import json
import os
import sys

import numpy as np

X = np.arange(8 * 5).reshape(8, 5) * 7 % 20
Y = np.sin(np.arange(8, dtype=np.float32)).reshape(8, 1)


def new_model(tf):
    layers = tf.keras.layers
    tf.set_random_seed(1)
    model = tf.keras.Sequential(
        [
            layers.Embedding(20, 4, input_length=5),
            layers.LSTM(6, return_sequences=True),
            layers.GRU(3),
            layers.Dense(1),
        ]
    )
    model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    return model


def losses(model):
    """Those of three steps."""
    return [float(model.train_on_batch(X, Y)) for _ in range(3)]


if __name__ == "__main__":
    import tensorflow

    written = new_model(tensorflow)
    written.train_on_batch(X, Y)
    written.save(os.path.join(sys.argv[2], "model"), save_format="tf")
    with open(os.path.join(sys.argv[2], "results.json"), "w") as results_file:
        json.dump(losses(written), results_file)
