"""InceptionV3 and InceptionResNetV2: windows of several sizes beside each other."""

from __future__ import annotations

from stillflow.keras.applications.frame import Frame, kernel_files
from stillflow.keras.backend.values import int_shape
from stillflow.keras.layers.functional import Lambda
from stillflow.keras.layers.merging import Concatenate, concatenate
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.pooling import AveragePooling2D, MaxPooling2D
from stillflow.names import public

_ORIGIN = "https://github.com/fchollet/deep-learning-models/releases/download/v0.5/"
_ORIGIN_RESNET = "https://github.com/fchollet/deep-learning-models/releases/download/v0.7/"


class _Branches:
    """Convolutions that are normalized and activated, in rows of (filters, window)."""

    def __init__(self, frame):
        self._axis = frame.channel_axis

    def convolution(
        self, x, filters, window, strides=1, padding="same", activation="relu", use_bias=False, name=None
    ):
        x = Conv2D(filters, window, strides=strides, padding=padding, use_bias=use_bias, name=name)(x)
        if not use_bias:
            x = BatchNormalization(axis=self._axis, scale=False, name=None if name is None else f"{name}_bn")(x)
        if activation is None:
            return x
        return Activation(activation, name=None if name is None else f"{name}_ac")(x)

    def row(self, x, *steps, last_is_smaller=False):
        for i, (filters, window) in enumerate(steps, 1):
            options = {"strides": 2, "padding": "valid"} if last_is_smaller and i == len(steps) else {}
            x = self.convolution(x, filters, window, **options)
        return x

    def pooled(self, x, filters):
        return self.convolution(AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), filters, 1)

    def beside(self, branches, name=None):
        return concatenate(branches, axis=self._axis, name=name)

    def stem(self, x):
        """What both networks begin with."""
        x = self.convolution(x, 32, 3, strides=2, padding="valid")
        x = self.convolution(x, 32, 3, padding="valid")
        x = MaxPooling2D((3, 3), strides=(2, 2))(self.convolution(x, 64, 3))
        x = self.convolution(x, 80, 1, padding="valid")
        return MaxPooling2D((3, 3), strides=(2, 2))(self.convolution(x, 192, 3, padding="valid"))


# ---- InceptionV3 --------------------------------------------------------------------------------------------


def _wide(b, x, filters, name):
    """Windows of 7 pixels, in rows and columns."""
    branches = [
        b.row(x, (192, 1)),
        b.row(x, (filters, 1), (filters, (1, 7)), (192, (7, 1))),
        b.row(x, (filters, 1), (filters, (7, 1)), (filters, (1, 7)), (filters, (7, 1)), (192, (1, 7))),
        b.pooled(x, 192),
    ]
    return b.beside(branches, name)


def _forked(b, x, i):
    """Windows of 3 pixels, in rows and columns beside each other."""
    first = b.row(x, (320, 1))
    second = b.row(x, (384, 1))
    second = b.beside([b.row(second, (384, (1, 3))), b.row(second, (384, (3, 1)))], f"mixed9_{i}")
    third = b.row(x, (448, 1), (384, 3))
    third = b.beside([b.row(third, (384, (1, 3))), b.row(third, (384, (3, 1)))])
    return b.beside([first, second, third, b.pooled(x, 192)], f"mixed{9 + i}")


@public("keras.applications.InceptionV3", "keras.applications.inception_v3.InceptionV3")
def InceptionV3(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The third network of Szegedy et al., 2016, with windows of several sizes: arXiv:1512.00567.

    Args:
      include_top: whether there are the layers that tell classes.
      weights: None for random ones, "imagenet" for those of a file that is copied from elsewhere, or a file.
      input_tensor: a tensor to see, or None for a new input.
      input_shape: the shape of pictures.
      pooling: "avg" or "max" for one number of each channel, where there is no top; None for none.
      classes: how many classes there are.

    Raises:
      ValueError: for weights that are neither, and shapes or numbers of classes that do not fit them.
    """
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, 299, 75)
    b = _Branches(frame)
    x = b.stem(frame.input)
    for i, filters in enumerate((32, 64, 64)):
        branches = [b.row(x, (64, 1)), b.row(x, (48, 1), (64, 5)), b.row(x, (64, 1), (96, 3), (96, 3))]
        x = b.beside([*branches, b.pooled(x, filters)], f"mixed{i}")
    branches = [
        b.row(x, (384, 3), last_is_smaller=True),
        b.row(x, (64, 1), (96, 3), (96, 3), last_is_smaller=True),
        MaxPooling2D((3, 3), strides=(2, 2))(x),
    ]
    x = b.beside(branches, "mixed3")
    for i, filters in enumerate((128, 160, 160, 192), 4):
        x = _wide(b, x, filters, f"mixed{i}")
    branches = [
        b.row(x, (192, 1), (320, 3), last_is_smaller=True),
        b.row(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3), last_is_smaller=True),
        MaxPooling2D((3, 3), strides=(2, 2))(x),
    ]
    x = b.beside(branches, "mixed8")
    for i in range(2):
        x = _forked(b, x, i)
    x = frame.topped(x, "predictions", "avg_pool")
    hashes = "9a0d58056eeedaa3f26cb7ebd46da564", "bcbd6486424b2319ff4ef7d526e38f63"
    return frame.model(x, "inception_v3", _ORIGIN, kernel_files("inception_v3", *hashes))


# ---- InceptionResNetV2 --------------------------------------------------------------------------------------

_ROWS = {
    "block35": ([(32, 1)], [(32, 1), (32, 3)], [(32, 1), (48, 3), (64, 3)]),
    "block17": ([(192, 1)], [(128, 1), (160, [1, 7]), (192, [7, 1])]),
    "block8": ([(192, 1)], [(192, 1), (224, [1, 3]), (256, [3, 1])]),
}


def _scaled_sum(inputs, scale):
    return inputs[0] + inputs[1] * scale


def _residual(frame, b, x, scale, kind, i, activation="relu"):
    name = f"{kind}_{i}"
    mixed = Concatenate(axis=frame.channel_axis, name=f"{name}_mixed")([b.row(x, *row) for row in _ROWS[kind]])
    up = b.convolution(mixed, frame.channels(x), 1, activation=None, use_bias=True, name=f"{name}_conv")
    x = Lambda(_scaled_sum, output_shape=int_shape(x)[1:], arguments={"scale": scale}, name=name)([x, up])
    return x if activation is None else Activation(activation, name=f"{name}_ac")(x)


@public("keras.applications.InceptionResNetV2", "keras.applications.inception_resnet_v2.InceptionResNetV2")
def InceptionResNetV2(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The network of Szegedy et al., 2017, with windows of several sizes and shortcuts: arXiv:1602.07261.

    Arguments are those of `InceptionV3`.
    """
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, 299, 75)
    b = _Branches(frame)
    x = b.stem(frame.input)
    branches = [b.row(x, (96, 1)), b.row(x, (48, 1), (64, 5)), b.row(x, (64, 1), (96, 3), (96, 3)), b.pooled(x, 64)]
    x = Concatenate(axis=frame.channel_axis, name="mixed_5b")(branches)
    for i in range(1, 11):
        x = _residual(frame, b, x, 0.17, "block35", i)
    branches = [
        b.row(x, (384, 3), last_is_smaller=True),
        b.row(x, (256, 1), (256, 3), (384, 3), last_is_smaller=True),
        MaxPooling2D(3, strides=2, padding="valid")(x),
    ]
    x = Concatenate(axis=frame.channel_axis, name="mixed_6a")(branches)
    for i in range(1, 21):
        x = _residual(frame, b, x, 0.1, "block17", i)
    branches = [
        b.row(x, (256, 1), (384, 3), last_is_smaller=True),
        b.row(x, (256, 1), (288, 3), last_is_smaller=True),
        b.row(x, (256, 1), (288, 3), (320, 3), last_is_smaller=True),
        MaxPooling2D(3, strides=2, padding="valid")(x),
    ]
    x = Concatenate(axis=frame.channel_axis, name="mixed_7a")(branches)
    for i in range(1, 10):
        x = _residual(frame, b, x, 0.2, "block8", i)
    x = _residual(frame, b, x, 1.0, "block8", 10, activation=None)
    x = b.convolution(x, 1536, 1, name="conv_7b")
    x = frame.topped(x, "predictions", "avg_pool")
    hashes = "e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4"
    return frame.model(x, "inception_resnet_v2", _ORIGIN_RESNET, kernel_files("inception_resnet_v2", *hashes))
