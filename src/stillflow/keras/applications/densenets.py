"""Densely connected networks: each block sees the outputs of all before it."""

from __future__ import annotations

from stillflow.keras.applications.frame import Frame, kernel_files
from stillflow.keras.layers.borders import ZeroPadding2D
from stillflow.keras.layers.merging import Concatenate
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.pooling import AveragePooling2D, MaxPooling2D
from stillflow.names import public

_ORIGIN = "https://github.com/keras-team/keras-applications/releases/download/densenet/"
_GROWTH = 32


def _activated(frame, x, norm_name, name):
    x = BatchNormalization(axis=frame.channel_axis, epsilon=1.001e-5, name=norm_name)(x)
    return Activation("relu", name=name)(x)


def _dense_block(frame, x, count, name):
    for i in range(1, count + 1):
        prefix = f"{name}_block{i}"
        new = _activated(frame, x, f"{prefix}_0_bn", f"{prefix}_0_relu")
        new = Conv2D(4 * _GROWTH, 1, use_bias=False, name=f"{prefix}_1_conv")(new)
        new = _activated(frame, new, f"{prefix}_1_bn", f"{prefix}_1_relu")
        new = Conv2D(_GROWTH, 3, padding="same", use_bias=False, name=f"{prefix}_2_conv")(new)
        x = Concatenate(axis=frame.channel_axis, name=f"{prefix}_concat")([x, new])
    return x


def _transition(frame, x, name):
    x = _activated(frame, x, f"{name}_bn", f"{name}_relu")
    x = Conv2D(int(frame.channels(x) * 0.5), 1, use_bias=False, name=f"{name}_conv")(x)
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _densenet(counts, name, arguments, hashes):
    frame = Frame(*arguments, 224, 32)  # type: ignore[call-arg]
    x = ZeroPadding2D(padding=((3, 3), (3, 3)))(frame.input)
    x = Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = _activated(frame, x, "conv1/bn", "conv1/relu")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, count in enumerate(counts, 2):
        if stage > 2:
            x = _transition(frame, x, f"pool{stage - 1}")
        x = _dense_block(frame, x, count, f"conv{stage}")
    x = _activated(frame, x, "bn", "relu")
    x = frame.topped(x, "fc1000", "avg_pool", "max_pool", "avg_pool")
    return frame.model(x, name, _ORIGIN, kernel_files(name, *hashes))


@public("keras.applications.DenseNet121", "keras.applications.densenet.DenseNet121")
def DenseNet121(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The densely connected network of 121 layers of Huang et al., 2017: arXiv:1608.06993.

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
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"
    return _densenet((6, 12, 24, 16), "densenet121", arguments, hashes)


@public("keras.applications.DenseNet169", "keras.applications.densenet.DenseNet169")
def DenseNet169(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The densely connected network of 169 layers of Huang et al., 2017; see `DenseNet121`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"
    return _densenet((6, 12, 32, 32), "densenet169", arguments, hashes)


@public("keras.applications.DenseNet201", "keras.applications.densenet.DenseNet201")
def DenseNet201(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The densely connected network of 201 layers of Huang et al., 2017; see `DenseNet121`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"
    return _densenet((6, 12, 48, 32), "densenet201", arguments, hashes)
