"""Networks of tf.keras.applications: their layers, weights and connections are those of TensorFlow 1.15.5."""

import hashlib

import numpy as np

# The deeper ones of a kind differ in the numbers of blocks only; tops are made in one place for all.
NETWORKS = (
    "DenseNet121 InceptionResNetV2 InceptionV3 MobileNet MobileNetV2 ResNet50 ResNet50V2 VGG16 VGG19 Xception"
).split()
OTHERS = {
    "MobileNet": {"alpha": 0.5, "include_top": False, "pooling": "avg", "input_shape": (96, 64, 3)},
    "MobileNetV2": {"alpha": 1.4, "classes": 7, "input_shape": (96, 96, 3)},
    "ResNet50": {"include_top": False, "pooling": "max"},
    "NASNetMobile": {"include_top": False, "input_shape": (64, 96, 3)},
}


def _described(layer):
    """A layer's class, name, shape of outputs, weights, and where its inputs come from."""
    inputs = layer.inbound_nodes[0].inbound_layers if layer.inbound_nodes else []
    inputs = inputs if isinstance(inputs, list) else [inputs]
    weights = [(weight.name, weight.shape.as_list()) for weight in layer.weights]
    shape = layer.output_shape[0] if isinstance(layer.output_shape, list) else layer.output_shape
    return [type(layer).__name__, layer.name, list(shape), weights, [each.name for each in inputs]]


def description(tf, name, arguments):
    with tf.Graph().as_default():
        model = getattr(tf.keras.applications, name)(weights=None, **arguments)
        layers = [_described(layer) for layer in model.layers]
    return [model.name, len(layers), model.count_params(), hashlib.md5(repr(layers).encode()).hexdigest(), layers[-1]]


def preprocessed(tf):
    pictures = (np.arange(2 * 2 * 3 * 3).reshape(2, 2, 3, 3) * 7 % 256).astype("uint8")
    applications = tf.keras.applications
    return [
        module.preprocess_input(pictures.copy()).ravel().round(3).tolist()
        for module in (applications.vgg16, applications.densenet, applications.xception)
    ]


def outcomes(tf):
    found = {name: description(tf, name, {}) for name in NETWORKS}
    found.update({f"{name} otherwise": description(tf, name, OTHERS[name]) for name in OTHERS})
    found["pixels"] = preprocessed(tf)
    return found
