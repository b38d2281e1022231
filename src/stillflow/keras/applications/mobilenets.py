"""MobileNet and MobileNetV2: small networks of depthwise convolutions."""

from __future__ import annotations

import warnings

from stillflow.keras.applications.frame import KERNELS, Frame
from stillflow.keras.backend.values import int_shape, is_keras_tensor
from stillflow.keras.layers.activations import ReLU
from stillflow.keras.layers.borders import ZeroPadding2D
from stillflow.keras.layers.depthwise_convolution import DepthwiseConv2D
from stillflow.keras.layers.global_pooling import GlobalAveragePooling2D
from stillflow.keras.layers.merging import Add
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation, Dropout, Reshape
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.settings import image_data_format
from stillflow.names import public

_ORIGIN = "https://github.com/fchollet/deep-learning-models/releases/download/v0.6/"
_ORIGIN_V2 = "https://github.com/JonathanCMitchell/mobilenet_v2_keras/releases/download/v1.1/"
_SIZES = (128, 160, 192, 224)
_SIZES_V2 = (96, *_SIZES)


def _default_size(shape, sizes):
    """The size that weights are of, if pictures have one such; else 224."""
    if shape is None:
        return 224
    rows, columns = shape[1:3] if image_data_format() == "channels_first" else shape[:2]
    return rows if rows == columns and rows in sizes else 224


def _rows(frame, sizes):
    """The lengths of pictures, for the model's name and the weights'."""
    rows, columns = frame.input_shape[1:3] if frame.channels_first else frame.input_shape[:2]
    if frame.weights == "imagenet" and (rows != columns or rows not in sizes):
        warnings.warn(
            f"`input_shape` is undefined or non-square, or `rows` is not in {list(sizes)}. Weights for input shape "
            "(224, 224) will be loaded as the default.",
            stacklevel=4,
        )
        return 224
    return rows


def _activated(frame, x, norm_name, name, **options):
    x = BatchNormalization(axis=1 if frame.channels_first else -1, name=norm_name, **options)(x)
    return ReLU(6.0, name=name)(x)


# ---- The first version --------------------------------------------------------------------------------------


def _depthwise_block(frame, x, filters, depth_multiplier, strides, block):
    if strides == (1, 1):
        padding = "same"
    else:
        x, padding = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{block}")(x), "valid"
    x = DepthwiseConv2D(
        (3, 3), padding=padding, depth_multiplier=depth_multiplier, strides=strides, use_bias=False,
        name=f"conv_dw_{block}",
    )(x)  # fmt: skip
    x = _activated(frame, x, f"conv_dw_{block}_bn", f"conv_dw_{block}_relu")
    x = Conv2D(filters, (1, 1), padding="same", use_bias=False, strides=(1, 1), name=f"conv_pw_{block}")(x)
    return _activated(frame, x, f"conv_pw_{block}_bn", f"conv_pw_{block}_relu")


@public("keras.applications.MobileNet", "keras.applications.mobilenet.MobileNet")
def MobileNet(  # noqa: N802
    input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3, include_top=True, weights="imagenet",
    input_tensor=None, pooling=None, classes=1000,
):  # fmt: skip
    """The network of depthwise convolutions of Howard et al., 2017: arXiv:1704.04861.

    Args:
      input_shape: the shape of pictures.
      alpha: a factor of all numbers of channels.
      depth_multiplier: how many channels each becomes in depthwise convolutions.
      dropout: the share of what is dropped before the top.
      include_top, weights, input_tensor, pooling, classes: see `VGG16`.

    Raises:
      ValueError: for weights that are neither, and arguments that do not fit them.
    """
    frame = Frame(
        include_top, weights, input_tensor, input_shape, pooling, classes, _default_size(input_shape, _SIZES), 32
    )
    if weights == "imagenet":
        if depth_multiplier != 1:
            raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1")
        if alpha not in (0.25, 0.50, 0.75, 1.0):
            raise ValueError(
                "If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or `1.0` only."
            )
    rows = _rows(frame, _SIZES)
    x = ZeroPadding2D(padding=((0, 1), (0, 1)), name="conv1_pad")(frame.input)
    x = Conv2D(int(32 * alpha), (3, 3), padding="valid", use_bias=False, strides=(2, 2), name="conv1")(x)
    x = _activated(frame, x, "conv1_bn", "conv1_relu")
    for block, filters in enumerate((64, 128, 128, 256, 256, *[512] * 6, 1024, 1024), 1):
        strides = (2, 2) if block in (2, 4, 6, 12) else (1, 1)
        x = _depthwise_block(frame, x, int(filters * alpha), depth_multiplier, strides, block)
    if include_top:
        width = int(1024 * alpha)
        x = GlobalAveragePooling2D()(x)
        x = Reshape((width, 1, 1) if frame.channels_first else (1, 1, width), name="reshape_1")(x)
        x = Dropout(dropout, name="dropout")(x)
        x = Conv2D(classes, (1, 1), padding="same", name="conv_preds")(x)
        x = Reshape((classes,), name="reshape_2")(x)
        x = Activation("softmax", name="act_softmax")(x)
    else:
        x = frame.pooled(x)
    text = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0"}.get(alpha, "2_5")
    files = [(f"mobilenet_{text}_{rows}_tf{ending}.h5",) * 2 + (None,) for ending in ("", "_no_top")]
    return frame.model(x, f"mobilenet_{alpha:0.2f}_{rows}", _ORIGIN, files)


# ---- The second version -------------------------------------------------------------------------------------

_NORM_V2 = {"epsilon": 1e-3, "momentum": 0.999}


def _divisible(value):
    """The nearest multiple of 8, that is not less than 0.9 times the value."""
    found = max(8, int(value + 4) // 8 * 8)
    return found + 8 if found < 0.9 * value else found


def _inverted_block(frame, inputs, filters, alpha, stride, expansion, block):
    channels = frame.channels(inputs)
    filters = _divisible(int(filters * alpha))
    prefix = f"block_{block}_" if block else "expanded_conv_"
    x = inputs
    if block:
        x = Conv2D(
            expansion * channels, kernel_size=1, padding="same", use_bias=False, activation=None,
            name=f"{prefix}expand",
        )(x)  # fmt: skip
        x = _activated(frame, x, f"{prefix}expand_BN", f"{prefix}expand_relu", **_NORM_V2)
    if stride == 2:
        x = ZeroPadding2D(padding=frame.padding_for_strides(x, 3), name=f"{prefix}pad")(x)
    x = DepthwiseConv2D(
        kernel_size=3, strides=stride, activation=None, use_bias=False, padding="same" if stride == 1 else "valid",
        name=f"{prefix}depthwise",
    )(x)  # fmt: skip
    x = _activated(frame, x, f"{prefix}depthwise_BN", f"{prefix}depthwise_relu", **_NORM_V2)
    x = Conv2D(filters, kernel_size=1, padding="same", use_bias=False, activation=None, name=f"{prefix}project")(x)
    axis = 1 if frame.channels_first else -1
    x = BatchNormalization(axis=axis, name=f"{prefix}project_BN", **_NORM_V2)(x)
    return Add(name=f"{prefix}add")([inputs, x]) if channels == filters and stride == 1 else x


def _check_tensor(input_tensor, input_shape):
    """The shape of an input tensor of a model, if there is one. Raises ValueError if the given one is another."""
    if input_tensor is None:
        return input_shape
    if input_shape is None:
        return int_shape(input_tensor)[1:] if is_keras_tensor(input_tensor) else None
    if not is_keras_tensor(input_tensor):
        raise ValueError("input_tensor specified: ", input_tensor, "is not a keras tensor")
    if int_shape(input_tensor)[2] != input_shape[1]:
        raise ValueError(
            "input_shape: ",
            input_shape,
            "and input_tensor: ",
            input_tensor,
            "do not meet the same shape requirements",
        )
    return input_shape


@public("keras.applications.MobileNetV2", "keras.applications.mobilenet_v2.MobileNetV2")
def MobileNetV2(  # noqa: N802
    input_shape=None, alpha=1.0, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000
):
    """The network of inverted residuals of Sandler et al., 2018: arXiv:1801.04381.

    Args:
      input_shape: the shape of pictures.
      alpha: a factor of all numbers of channels.
      include_top, weights, input_tensor, pooling, classes: see `VGG16`.

    Raises:
      ValueError: for weights that are neither, and arguments that do not fit them.
    """
    size = _default_size(_check_tensor(input_tensor, input_shape), _SIZES_V2)
    frame = Frame(include_top, weights, input_tensor, input_shape, pooling, classes, size, 32)
    if weights == "imagenet" and alpha not in (0.35, 0.50, 0.75, 1.0, 1.3, 1.4):
        raise ValueError(
            "If imagenet weights are being loaded, alpha can be one of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4` "
            "only."
        )
    rows = _rows(frame, _SIZES_V2)
    x = ZeroPadding2D(padding=frame.padding_for_strides(frame.input, 3), name="Conv1_pad")(frame.input)
    x = Conv2D(_divisible(32 * alpha), kernel_size=3, strides=(2, 2), padding="valid", use_bias=False, name="Conv1")(
        x
    )
    x = _activated(frame, x, "bn_Conv1", "Conv1_relu", **_NORM_V2)
    x = _inverted_block(frame, x, 16, alpha, 1, 1, 0)
    widths = (*[24] * 2, *[32] * 3, *[64] * 4, *[96] * 3, *[160] * 3, 320)
    for block, filters in enumerate(widths, 1):
        x = _inverted_block(frame, x, filters, alpha, 2 if block in (1, 3, 6, 13) else 1, 6, block)
    last = _divisible(1280 * alpha) if alpha > 1.0 else 1280
    x = Conv2D(last, kernel_size=1, use_bias=False, name="Conv_1")(x)
    x = _activated(frame, x, "Conv_1_bn", "out_relu", **_NORM_V2)
    x = frame.topped(x, "Logits")
    files = [(f"mobilenet_v2{KERNELS}_{alpha}_{rows}{ending}.h5",) * 2 + (None,) for ending in ("", "_no_top")]
    return frame.model(x, f"mobilenetv2_{alpha:0.2f}_{rows}", _ORIGIN_V2, files)
