"""Models of tf.keras: what they compute, compiled and not, and the variables that they make."""

import numpy as np

X = np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32)


def sequential_model_with_dropout(tf):
    tf.set_random_seed(4)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(5, activation="relu", input_shape=(4,), kernel_regularizer="l2"),
            layers.Dropout(0.5),
            layers.BatchNormalization(),
            layers.Dense(3, activation="softmax", use_bias=False),
        ]
    )
    return [model(tf.constant(X)), *model.losses]


def functional_model_with_two_inputs(tf):
    tf.set_random_seed(4)
    layers = tf.keras.layers
    a, b = tf.keras.Input((4,), name="a"), tf.keras.Input((2,), name="b")
    h = layers.Dense(2, activation="tanh", name="h")(a)
    joined = layers.concatenate([h, layers.Multiply()([h, b]), layers.dot([h, b], 1)])
    shared = layers.Dense(1, kernel_initializer="he_normal")
    model = tf.keras.Model([a, b], [shared(joined), layers.add([h, b])])
    return model([tf.constant(X), tf.constant(X[:, :2])])


def layers_without_variables(tf):
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(X))
    y = layers.RepeatVector(3)(x)
    y = layers.Permute((2, 1))(layers.Reshape((2, -1))(y))
    y = layers.Flatten()(layers.Lambda(lambda t, k: t * k, arguments={"k": 2.0})(y))
    return [
        y,
        *(layer(x) for layer in (layers.LeakyReLU(), layers.ELU(0.5), layers.Softmax(), layers.ReLU(0.5, 0.1))),
    ]


def embedding_with_mask(tf):
    tf.set_random_seed(5)
    layers = tf.keras.layers
    ids = tf.keras.Input(tensor=tf.constant([[1, 0, 2], [3, 3, 0]]))
    vectors = layers.Embedding(4, 3, mask_zero=True, input_length=3)(ids)
    return [vectors, vectors._keras_mask, layers.Masking()(vectors)]


def losses_of_all_kinds(tf):
    y, p = tf.placeholder_with_default(X * X, (3, 4)), tf.nn.softmax(X)
    names = (
        "mse mae mape msle hinge squared_hinge categorical_hinge logcosh kld poisson cosine_similarity "
        "categorical_crossentropy binary_crossentropy"
    )
    losses = [tf.keras.losses.get(name)(y, p) for name in names.split()]
    losses.append(
        tf.keras.losses.SparseCategoricalCrossentropy(True)(tf.constant([0, 1, 3]), p, tf.constant([1.0, 2, 0]))
    )
    losses.append(tf.keras.losses.Huber(0.3)(y, p))
    return [*losses, tf.keras.losses.BinaryCrossentropy(label_smoothing=0.1, reduction="sum")(y, p)]


def compiled_model(tf):
    tf.set_random_seed(4)
    x = tf.keras.Input((4,))
    hidden = tf.keras.layers.Dense(3, activation="sigmoid")(x)
    outputs = [tf.keras.layers.Dense(1, activation="sigmoid", name="p")(hidden), hidden]
    model = tf.keras.Model(x, outputs)
    model.compile("sgd", ["binary_crossentropy", "mse"], metrics=["accuracy", "mae"], loss_weights=[1.0, 0.5])


def updates_of_optimizers(tf):
    tf.set_random_seed(4)
    results = []
    optimizers = tf.keras.optimizers
    for optimizer in (
        optimizers.SGD(0.1), optimizers.SGD(0.1, 0.9, nesterov=True), optimizers.Adam(0.1, decay=0.1),
        optimizers.Adam(0.1, amsgrad=True), optimizers.Adamax(0.1), optimizers.RMSprop(0.1),
        optimizers.RMSprop(0.1, momentum=0.5), optimizers.RMSprop(0.1, centered=True), optimizers.Adagrad(0.1),
        optimizers.Adadelta(0.1), optimizers.Ftrl(0.1), optimizers.Nadam(0.1, clipvalue=0.5),
    ):  # fmt: skip
        dense = tf.Variable(X, use_resource=True)
        rows = tf.Variable(X, use_resource=True)
        loss = tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(tf.square(tf.gather(rows, [1, 1])))
        (update,) = optimizer.get_updates(loss, [dense, rows])
        with tf.control_dependencies([update]):
            results += [dense.read_value(), rows.read_value()]
    return results
