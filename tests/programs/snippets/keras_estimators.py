"""Models of tf.keras as Estimators: the graphs that they train, evaluate and predict in, and losses step by step."""

import tempfile

import numpy as np

X = np.sin(np.arange(24)).reshape(6, 4).astype(np.float32)
Y = np.cos(np.arange(12)).reshape(6, 2).astype(np.float32)


def _estimator(tf, make, **compiled):
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        model = make(tf)
        model.compile(**{"optimizer": "sgd", "loss": "mse", **compiled})
        return tf.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())


def _spec(tf, estimator, mode, features, labels=None):
    tf.set_random_seed(7)
    tf.train.get_or_create_global_step()
    return estimator.model_fn(features, labels, mode, estimator.config)


def _results(tf, spec):
    """Of two steps of training, or two updates of metrics."""
    fetches = [value for _, value in sorted(spec.predictions.items())]
    if spec.loss is not None:
        fetches.append(spec.loss)
    if spec.train_op is None:
        return fetches
    with tf.control_dependencies([spec.train_op]):
        done = tf.identity(tf.train.get_global_step())
    return fetches, [done], [spec.loss], [done], [spec.loss]


def _chain(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Dense(3, activation="relu", input_shape=(4,)), layers.BatchNormalization(), layers.Dropout(0.5),
            layers.Dense(2),
        ]
    )  # fmt: skip


def _network(tf):
    layers = tf.keras.layers
    left, right = tf.keras.Input((4,), name="left"), tf.keras.Input((2,), name="right")
    joined = layers.concatenate([layers.Dense(3)(left), right])
    outputs = [layers.Dense(2, name="first")(joined), layers.Dense(1, activation="sigmoid", name="second")(joined)]
    return tf.keras.Model([left, right], outputs)


def _subclassed(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = tf.keras.layers.Dense(3, activation="tanh")
            self.out = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.out(self.hidden(inputs))

    return Net()


def _pairs(tf):
    return {"left": tf.constant(X), "right": tf.constant(Y)}, {
        "first": tf.constant(Y), "second": tf.constant(Y[:, :1] > 0, tf.float32)
    }  # fmt: skip


def chain_in_training(tf):
    estimator = _estimator(tf, _chain, optimizer="adam", metrics=["mae", "mse"])
    return _results(tf, _spec(tf, estimator, "train", tf.constant(X), tf.constant(Y)))


def chain_in_evaluation(tf):
    estimator = _estimator(tf, _chain, metrics=["mae"])
    spec = _spec(tf, estimator, "eval", {"dense_input": tf.constant(X)}, tf.constant(Y))
    return [update for _, (_, update) in sorted(spec.eval_metric_ops.items())], _results(tf, spec)


def chain_in_prediction(tf):
    estimator = _estimator(tf, _chain)
    return _results(tf, _spec(tf, estimator, "infer", tf.constant(X)))


def chain_with_optimizer_of_tf_train(tf):
    estimator = _estimator(tf, _chain, optimizer=tf.train.MomentumOptimizer(0.1, 0.9))
    return _results(tf, _spec(tf, estimator, "train", tf.constant(X), tf.constant(Y)))


def network_in_training(tf):
    losses = {"first": "mse", "second": "binary_crossentropy"}
    estimator = _estimator(tf, _network, loss=losses, loss_weights={"first": 2.0, "second": 0.5}, metrics=["mae"])
    return _results(tf, _spec(tf, estimator, "train", *_pairs(tf)))


def network_in_evaluation(tf):
    estimator = _estimator(tf, _network, loss=["mse", "mae"], metrics=[["mae"], ["acc"]])
    spec = _spec(tf, estimator, "eval", *_pairs(tf))
    return [update for _, (_, update) in sorted(spec.eval_metric_ops.items())], _results(tf, spec)


def weights_of_samples(tf):
    estimator = _estimator(tf, _chain, optimizer="adagrad")
    features = {"features": tf.constant(X), "sample_weights": tf.constant([1.0, 0.0, 2.0, 0.5, 1.0, 3.0])}
    return _results(tf, _spec(tf, estimator, "train", features, tf.constant(Y)))


def subclassed_in_training(tf):
    estimator = _estimator(tf, _subclassed, metrics=["mae"])
    return _results(tf, _spec(tf, estimator, "train", tf.constant(X), tf.constant(Y)))
