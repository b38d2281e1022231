"""Trainings in eager execution, with what comes of them: TensorFlow 1.15.5 and stillflow do the same."""

import numpy as np
from keras_cases import feeding_scenarios, training_scenarios
from keras_cases.feeding_scenarios import Y, _regression
from keras_cases.training_scenarios import CLASSES, X, _plain


def _normalizing(tf, **kwargs):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(6, activation="relu", input_shape=(4,), kernel_regularizer=tf.keras.regularizers.l2(0.01)),
            layers.BatchNormalization(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], **kwargs)
    return model


def _pairs(gradients, variables):
    assert len(gradients) == len(variables)
    return [(gradients[i], variables[i]) for i in range(len(variables))]


def arrays(tf, folder):
    model = _normalizing(tf)
    kept = {"batch_size": 6, "epochs": 3, "verbose": 0}
    fits = [
        model.fit(X, CLASSES, validation_split=0.2, **kept).history,
        model.fit(X, CLASSES, validation_data=(X, CLASSES), class_weight={0: 1.0, 1: 0.5, 2: 2.0}, **kept).history,
        model.fit(X, CLASSES, sample_weight=np.linspace(0.5, 1.5, 20), validation_freq=2, **kept).history,
    ]
    asked = [model.evaluate(X, CLASSES, verbose=0), model.predict(X[:3]), model.predict_on_batch(X[:2])]
    asked += [model.train_on_batch(X[:5], CLASSES[:5]), model.test_on_batch(X[:5], CLASSES[:5])]
    names = [each.name for each in model.weights + model.optimizer.weights]
    return {"values": _plain([fits, asked, model.get_weights()]), "names": names, "metrics": model.metrics_names}


def dropout_operation_by_operation(tf, folder):
    model = training_scenarios._classifier(tf)
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"], run_eagerly=True)
    history = model.fit(X, CLASSES, batch_size=5, epochs=2, verbose=0).history
    return {"values": _plain([history, model.evaluate(X, CLASSES, verbose=0)]), "is_eager": model.run_eagerly}


def datasets(tf, folder):
    model = _regression(tf)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y))
    weighted = tf.data.Dataset.from_tensor_slices((X, Y, np.linspace(0, 1, 20, dtype=np.float32))).batch(5)
    fits = [
        model.fit(dataset.batch(6), epochs=3, verbose=0).history,
        model.fit(
            dataset.repeat().batch(5), steps_per_epoch=3, epochs=2, verbose=0, validation_data=weighted
        ).history,
        model.fit(X, Y, verbose=0, epochs=2, validation_data=dataset.batch(5), validation_steps=2).history,
        model.fit(weighted, verbose=0, epochs=2, validation_data=dataset.batch(4)).history,
    ]
    asked = [model.evaluate(dataset.batch(3), verbose=0), model.predict(dataset.batch(7))]
    return {"values": _plain([fits, asked])}


def subclassed_models(tf, folder):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.outcome = tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(1)

        def call(self, x, training=None):
            self.add_loss(0.1 * tf.reduce_mean(x * x))
            return self.outcome(self.hidden(x))

    net = Net()
    net.compile("adam", "mse", metrics=["mae"])
    history = net.fit(X, Y, epochs=2, verbose=0, batch_size=8).history
    return {"values": _plain([history, net.predict(X), net.get_weights()]), "names": [w.name for w in net.weights]}


def loops_with_a_tape(tf, folder):
    model = _normalizing(tf)
    optimizer = tf.keras.optimizers.Adam(0.01)
    compute_loss = tf.keras.losses.SparseCategoricalCrossentropy()
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    losses = []
    for _ in range(4):
        with tf.GradientTape() as tape:
            predictions = model(X, training=True)
            loss = compute_loss(CLASSES, predictions) + tf.add_n(model.losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(_pairs(gradients, model.trainable_variables))
        accuracy(CLASSES, predictions)
        losses.append(loss.numpy())
    return {"values": _plain([losses, accuracy.result().numpy(), model(X[:2]).numpy(), model.get_weights()])}


def checkpoints_with_deferred_restoration(tf, folder):
    def make():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
        return model, tf.keras.optimizers.Adam(0.05)

    def step(model, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(X) - Y))
        variables = model.trainable_variables
        optimizer.apply_gradients(_pairs(tape.gradient(loss, variables), variables))
        return loss.numpy()

    model, optimizer = make()
    losses = [step(model, optimizer) for _ in range(3)]
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(folder + "/net")
    again, other = make()
    status = tf.train.Checkpoint(model=again, optimizer=other).restore(path)
    more = [[step(model, optimizer), step(again, other)] for _ in range(2)]
    status.assert_consumed()
    names = sorted(name for name, _ in tf.train.list_variables(path))
    return {"values": _plain([losses, more]), "same": bool(more[0][0] == more[0][1]), "names": names}


def functions_between_layers(tf, folder):
    model = _normalizing(tf)
    function = tf.keras.backend.function([model.input], [model.layers[0].output, model.output])
    return {"values": _plain(function([X[:2]]))}


def optimizers_of_training(tf, folder):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile(tf.train.AdamOptimizer(0.1), "mse")
    return {"values": _plain(model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history)}


SCENARIOS = {
    function.__name__: function
    for function in (
        arrays, dropout_operation_by_operation, datasets, subclassed_models, loops_with_a_tape,
        checkpoints_with_deferred_restoration, functions_between_layers, optimizers_of_training,
        training_scenarios.several_outputs_with_weights, training_scenarios.model_that_is_built_by_its_data,
        feeding_scenarios.added_losses_and_metrics,
    )
}  # fmt: skip


def outcome(tf, function):
    """What comes of one, where operations run when they are called."""
    tf.keras.backend.clear_session()
    tf.set_random_seed(11)
    np.random.seed(5)
    return training_scenarios.in_folder(lambda folder: function(tf, folder))


def outcomes(tf):
    """{name: outcome} of all."""
    from tensorflow.python.eager import context

    with context.eager_mode():
        return {name: outcome(tf, function) for name, function in sorted(SCENARIOS.items())}
