"""An Estimator over feature columns; runs here and, in its own Python, under a real TensorFlow 1.

python peer_estimator.py train FOLDER MAX_STEPS     trains, and prints where it began and what it predicts
python peer_estimator.py export FOLDER TARGET       writes a SavedModel, and prints its path and its answers
python peer_estimator.py load MODEL                 prints the answers of a SavedModel
"""

import json
import os
import sys

import numpy as np

PRICES = np.linspace(0.5, 9.5, 12, dtype=np.float32).reshape(12, 1)
COLORS = np.array([["red"], ["green"], ["blue"], ["black"]] * 3)
LABELS = (PRICES > 4).astype(np.float32) + (COLORS == "red")


def columns(tf):
    fc = tf.feature_column
    price = fc.numeric_column("price")
    color = fc.categorical_column_with_vocabulary_list("color", ["red", "green"], num_oov_buckets=1)
    cross = fc.crossed_column([fc.bucketized_column(price, [2, 5]), "color"], 8)
    return [price, fc.bucketized_column(price, [1.0, 4.0]), color, cross], [price, fc.embedding_column(color, 3)]


def estimator(tf, folder):
    wide, deep = columns(tf)

    def model_fn(features, labels, mode):
        hidden = tf.feature_column.input_layer(features, deep)
        weights = tf.get_variable("weights", [4, 1], initializer=tf.constant_initializer(0.25))
        predictions = tf.feature_column.linear_model(features, wide) + tf.matmul(hidden, weights)
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {"serving_default": tf.estimator.export.RegressionOutput(predictions)}
            return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions}, export_outputs=outputs)
        loss = tf.reduce_mean(tf.square(predictions - labels))
        optimizer = tf.train.AdagradOptimizer(0.1)
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions}, loss=loss, train_op=train_op)

    config = tf.estimator.RunConfig(tf_random_seed=3, save_checkpoints_steps=4)
    return tf.estimator.Estimator(model_fn, folder, config)


def input_fn(tf):
    data = tf.data.Dataset.from_tensor_slices(({"price": PRICES, "color": COLORS}, LABELS))
    return data.batch(4).repeat()


def train(tf, folder, max_steps):
    made = estimator(tf, folder)
    begin = int(made.get_variable_value("global_step")) if made.latest_checkpoint() else 0
    made.train(lambda: input_fn(tf), max_steps=int(max_steps))
    answers = [float(p["y"][0]) for p in made.predict(lambda: input_fn(tf).take(3))]
    return {"begin": begin, "answers": answers, "variables": made.get_variable_names()}


def export(tf, folder, target):
    made = estimator(tf, folder)
    spec = tf.feature_column.make_parse_example_spec(columns(tf)[0])
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = made.export_saved_model(target, receiver).decode()
    return {"path": path, "answers": load(tf, path)["answers"]}


def load(tf, path):
    examples = []
    for price, color in zip(PRICES, COLORS):  # noqa: B905
        example = tf.train.Example()
        example.features.feature["price"].float_list.value.extend(price)
        example.features.feature["color"].bytes_list.value.append(color[0].encode())
        examples.append(example.SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        fetch = signature.outputs["outputs"].name
        values = session.run(fetch, {signature.inputs["inputs"].name: examples})
    return {"answers": values.ravel().tolist(), "method": signature.method_name}


def main(tf, command, *arguments):
    return {"train": train, "export": export, "load": load}[command](tf, *arguments)


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    print(json.dumps(main(tensorflow, *sys.argv[1:])))
