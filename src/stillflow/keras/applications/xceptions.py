"""Xception: separable convolutions with shortcuts."""

from __future__ import annotations

from stillflow.keras.applications.frame import Frame, kernel_files
from stillflow.keras.layers.merging import add
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.pooling import MaxPooling2D
from stillflow.layers.core.separable_convolution import SeparableConv2D
from stillflow.names import public

_ORIGIN = "https://github.com/fchollet/deep-learning-models/releases/download/v0.4/"


class _Blocks:
    def __init__(self, frame):
        self._axis = 1 if frame.channels_first else -1

    def convolution(self, x, filters, name, strides=(1, 1)):
        x = Conv2D(filters, (3, 3), strides=strides, use_bias=False, name=name)(x)
        x = BatchNormalization(axis=self._axis, name=f"{name}_bn")(x)
        return Activation("relu", name=f"{name}_act")(x)

    def separable(self, x, filters, name):
        x = SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x)
        return BatchNormalization(axis=self._axis, name=f"{name}_bn")(x)

    def smaller(self, x, filters, block, begins_activated=False):
        """A block of two convolutions that halves lengths."""
        shortcut = Conv2D(filters[1], (1, 1), strides=(2, 2), padding="same", use_bias=False)(x)
        shortcut = BatchNormalization(axis=self._axis)(shortcut)
        for i in (1, 2):
            if i > 1 or not begins_activated:
                x = Activation("relu", name=f"block{block}_sepconv{i}_act")(x)
            x = self.separable(x, filters[i - 1], f"block{block}_sepconv{i}")
        x = MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=f"block{block}_pool")(x)
        return add([x, shortcut])


@public("keras.applications.Xception", "keras.applications.xception.Xception")
def Xception(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The network of separable convolutions of Chollet, 2017: arXiv:1610.02357.

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
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, 299, 71)
    blocks = _Blocks(frame)
    x = blocks.convolution(frame.input, 32, "block1_conv1", strides=(2, 2))
    x = blocks.convolution(x, 64, "block1_conv2")
    x = blocks.smaller(x, (128, 128), 2, begins_activated=True)
    x = blocks.smaller(x, (256, 256), 3)
    x = blocks.smaller(x, (728, 728), 4)
    for block in range(5, 13):
        before = x
        for i in (1, 2, 3):
            x = Activation("relu", name=f"block{block}_sepconv{i}_act")(x)
            x = blocks.separable(x, 728, f"block{block}_sepconv{i}")
        x = add([x, before])
    x = blocks.smaller(x, (728, 1024), 13)
    for i, filters in ((1, 1536), (2, 2048)):
        x = blocks.separable(x, filters, f"block14_sepconv{i}")
        x = Activation("relu", name=f"block14_sepconv{i}_act")(x)
    x = frame.topped(x, "predictions", "avg_pool")
    hashes = "0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97"
    return frame.model(x, "xception", _ORIGIN, kernel_files("xception", *hashes))
