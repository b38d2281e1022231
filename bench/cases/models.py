"""Models of tf.keras and of tf.estimator.

TensorFlow 2 trains them by the Keras of that time (the package tf_keras), and has lost Estimator.
"""

import tempfile

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session


def fit(name, engines, bar, build, shape, rows, batch):
    """A call fits the model of `build(layers)` to so many rows, in batches.

    The rows have that shape; a shape of two sizes is that of a vocabulary and of its sentences.
    """

    @case(f"fit of {name}, {rows // batch} steps of {batch}", engines, bar=bar, own_process=True)
    def make(tf, threads):
        tf.keras.backend.set_session(open_session(tf, threads))
        random = np.random.RandomState(0)
        words, length = shape if len(shape) == 2 else (None, None)
        x = random.randint(0, words, (rows, length)) if words else random.uniform(size=(rows, *shape))
        model = tf.keras.Sequential(build(tf.keras.layers))
        classes = model.output_shape[-1]
        y = random.randint(0, max(classes, 2), rows)
        loss = "binary_crossentropy" if classes == 1 else "sparse_categorical_crossentropy"
        model.compile("adam", loss, metrics=["accuracy"])
        x = x if words else x.astype(np.float32)
        return lambda: model.fit(x, y, batch_size=batch, verbose=0)


fit(
    "a Keras net 20-32-1 with Adam", ("stillflow", "tf1"), 5,
    lambda layers: [layers.Dense(32, activation="relu", input_shape=(20,)), layers.Dense(1, activation="sigmoid")],
    (20,), 3200, 32,
)  # fmt: skip
fit(
    "the convnet of Keras's MNIST example with Adam", TENSORFLOWS, 1.5,
    lambda layers: [
        layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)), layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2), layers.Dropout(0.25), layers.Flatten(), layers.Dense(128, activation="relu"),
        layers.Dropout(0.5), layers.Dense(10, activation="softmax"),
    ],
    (28, 28, 1), 1280, 128,
)  # fmt: skip
fit(
    "the LSTM of Keras's IMDB example with Adam", TENSORFLOWS, 1.5,
    lambda layers: [
        layers.Embedding(20000, 128, input_length=80), layers.LSTM(128, dropout=0.2, recurrent_dropout=0.2),
        layers.Dense(1, activation="sigmoid"),
    ],
    (20000, 80), 320, 32,
)  # fmt: skip


@case("Wide & deep: an epoch of 100,000 rows in batches of 100", ("stillflow", "tf1"), bar=2, own_process=True)
def wide_and_deep(tf, threads):
    """The columns of TensorFlow's census tutorial, filled with random numbers; each call trains a new model."""
    rows, random, columns = 100_000, np.random.RandomState(0), tf.feature_column
    sizes = {"workclass": 9, "education": 16, "marital_status": 7, "relationship": 6, "occupation": 1000}
    x = {name: random.randint(0, size, rows) for name, size in sizes.items()}
    numbers = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
    x.update({name: random.uniform(0, 90, rows).astype(np.float32) for name in numbers})
    y = (x["age"] + x["education"] > 50).astype(np.int32)
    numeric = [columns.numeric_column(name) for name in numbers]
    ids = {name: columns.categorical_column_with_identity(name, size) for name, size in sizes.items()}
    ages = columns.bucketized_column(numeric[0], [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    crossed = [
        columns.crossed_column(["education", "occupation"], 1000),
        columns.crossed_column([ages, "education", "occupation"], 1000),
    ]
    deep = [columns.indicator_column(ids[name]) for name in sizes if name != "occupation"]
    run_config = tf.estimator.RunConfig(
        tf_random_seed=1,
        session_config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads),
    )

    def train():
        with tempfile.TemporaryDirectory() as directory:
            model = tf.estimator.DNNLinearCombinedClassifier(
                model_dir=directory,
                linear_feature_columns=[*ids.values(), ages, *crossed],
                dnn_feature_columns=[*numeric, *deep, columns.embedding_column(ids["occupation"], 8)],
                dnn_hidden_units=[100, 75, 50, 25],
                config=run_config,
            )
            model.train(tf.estimator.inputs.numpy_input_fn(x, y, batch_size=100, num_epochs=1, shuffle=True))

    return train
