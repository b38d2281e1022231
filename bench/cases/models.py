"""Models of tf.keras."""

import numpy as np

from bench.cases.registry import case, open_session


@case("fit of a Keras net 20-32-1 with Adam, 100 steps of 32", ("stillflow", "tf1"), bar=5, own_process=True)
def small_dense_net(tf, threads):
    tf.keras.backend.set_session(open_session(tf, threads))
    random = np.random.RandomState(0)
    x = random.uniform(size=(3200, 20)).astype(np.float32)
    y = (x.sum(axis=1) > 10).astype(np.float32)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(32, activation="relu", input_shape=(20,)), layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return lambda: model.fit(x, y, batch_size=32, verbose=0)
