"""Residual networks: blocks whose outputs are added to their inputs."""

from __future__ import annotations

from stillflow.keras.applications.frame import Frame, kernel_files
from stillflow.keras.layers.borders import ZeroPadding2D
from stillflow.keras.layers.merging import Add
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.pooling import MaxPooling2D
from stillflow.names import public

_ORIGIN = "https://github.com/keras-team/keras-applications/releases/download/resnet/"
_BLOCKS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}


def _normalized(frame, x, name):
    return BatchNormalization(axis=frame.channel_axis, epsilon=1.001e-5, name=name)(x)


def _activated(frame, x, name):
    return Activation("relu", name=f"{name}_relu")(_normalized(frame, x, f"{name}_bn"))


def _block(frame, x, filters, stride, has_shortcut, name):
    shortcut = x
    if has_shortcut:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x)
        shortcut = _normalized(frame, shortcut, f"{name}_0_bn")
    x = Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x)
    x = _activated(frame, x, f"{name}_1")
    x = Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x)
    x = _activated(frame, x, f"{name}_2")
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    x = _normalized(frame, x, f"{name}_3_bn")
    return Activation("relu", name=f"{name}_out")(Add(name=f"{name}_add")([shortcut, x]))


def _preactivated_block(frame, x, filters, stride, has_shortcut, name):
    before = _activated(frame, x, f"{name}_preact")
    if has_shortcut:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(before)
    x = _activated(frame, x, f"{name}_1")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = _activated(frame, x, f"{name}_2")
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    return Add(name=f"{name}_out")([shortcut, x])


def _first_version(frame, x, counts):
    for stage, (count, filters) in enumerate(zip(counts, (64, 128, 256, 512), strict=True), 2):
        for i in range(1, count + 1):
            stride = 2 if i == 1 and stage > 2 else 1
            x = _block(frame, x, filters, stride, i == 1, f"conv{stage}_block{i}")
    return x


def _second_version(frame, x, counts):
    for stage, (count, filters) in enumerate(zip(counts, (64, 128, 256, 512), strict=True), 2):
        for i in range(1, count + 1):
            stride = 2 if i == count and stage < 5 else 1
            x = _preactivated_block(frame, x, filters, stride, i == 1, f"conv{stage}_block{i}")
    return x


def _resnet(depth, is_second, arguments, hashes):
    name = f"resnet{depth}{'v2' if is_second else ''}"
    frame = Frame(*arguments, 224, 32)  # type: ignore[call-arg]
    x = ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(frame.input)
    x = Conv2D(64, 7, strides=2, use_bias=True, name="conv1_conv")(x)
    if not is_second:
        x = _activated(frame, x, "conv1")
    x = ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    stages = _second_version if is_second else _first_version
    x = stages(frame, x, _BLOCKS[depth])
    if is_second:
        x = _activated(frame, x, "post")
    x = frame.topped(x, "probs", "avg_pool", "max_pool", "avg_pool")
    return frame.model(x, name, _ORIGIN, kernel_files(name, *hashes))


@public("keras.applications.ResNet50", "keras.applications.resnet.ResNet50", "keras.applications.resnet50.ResNet50")
def ResNet50(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 50 layers of He et al., 2015: arXiv:1512.03385.

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
    hashes = "2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"
    return _resnet("50", False, arguments, hashes)


@public("keras.applications.ResNet101", "keras.applications.resnet.ResNet101")
def ResNet101(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 101 layers of He et al., 2015; see `ResNet50`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"
    return _resnet("101", False, arguments, hashes)


@public("keras.applications.ResNet152", "keras.applications.resnet.ResNet152")
def ResNet152(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 152 layers of He et al., 2015; see `ResNet50`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"
    return _resnet("152", False, arguments, hashes)


@public("keras.applications.ResNet50V2", "keras.applications.resnet_v2.ResNet50V2")
def ResNet50V2(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 50 layers of He et al., 2016 (arXiv:1603.05027), activated first; see `ResNet50`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"
    return _resnet("50", True, arguments, hashes)


@public("keras.applications.ResNet101V2", "keras.applications.resnet_v2.ResNet101V2")
def ResNet101V2(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 101 layers of He et al., 2016 (arXiv:1603.05027), activated first; see `ResNet50`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"
    return _resnet("101", True, arguments, hashes)


@public("keras.applications.ResNet152V2", "keras.applications.resnet_v2.ResNet152V2")
def ResNet152V2(  # noqa: N802
    include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000
):
    """The residual network of 152 layers of He et al., 2016 (arXiv:1603.05027), activated first; see `ResNet50`."""
    arguments = include_top, weights, input_tensor, input_shape, pooling, classes
    hashes = "a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"
    return _resnet("152", True, arguments, hashes)
