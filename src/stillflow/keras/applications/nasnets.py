"""NASNetLarge and NASNetMobile: networks whose cells were searched for."""

from __future__ import annotations

import warnings

from stillflow.graph.name_scope import name_scope
from stillflow.keras.applications.frame import Frame
from stillflow.keras.backend.values import int_shape
from stillflow.keras.layers.borders import Cropping2D, ZeroPadding2D
from stillflow.keras.layers.merging import add, concatenate
from stillflow.keras.layers.normalization import BatchNormalization
from stillflow.keras.layers.plain import Activation
from stillflow.layers.core.convolution import Conv2D
from stillflow.layers.core.pooling import AveragePooling2D, MaxPooling2D
from stillflow.layers.core.separable_convolution import SeparableConv2D
from stillflow.layers.core.settings import image_data_format, set_image_data_format
from stillflow.names import public

_ORIGIN = "https://github.com/titu1994/Keras-NASNet/releases/download/v1.2/"
_MADE = {"use_bias": False, "kernel_initializer": "he_normal"}


def _normalized(x, name):
    return BatchNormalization(axis=-1, momentum=0.9997, epsilon=1e-3, name=name)(x)


def _projected(x, filters, name, **options):
    return Conv2D(filters, (1, 1), padding="same", name=name, **_MADE, **options)(x)


class _Cells:
    def __init__(self, frame):
        self._frame = frame

    def _separable(self, x, filters, window, name, strides=(1, 1)):
        """Two separable convolutions."""
        with name_scope(f"separable_conv_block_{name}"):
            x = Activation("relu")(x)
            padding = "same"
            if strides == (2, 2):
                padding = "valid"
                borders = self._frame.padding_for_strides(x, window)
                x = ZeroPadding2D(padding=borders, name=f"separable_conv_1_pad_{name}")(x)
            window = (window, window)
            x = SeparableConv2D(
                filters, window, strides=strides, name=f"separable_conv_1_{name}", padding=padding, **_MADE
            )(x)
            x = _normalized(x, f"separable_conv_1_bn_{name}")
            x = Activation("relu")(x)
            x = SeparableConv2D(filters, window, name=f"separable_conv_2_{name}", padding="same", **_MADE)(x)
            return _normalized(x, f"separable_conv_2_bn_{name}")

    def _adjusted(self, p, x, filters, name):
        """The input before the last one, of the shape of the last."""
        with name_scope("adjust_block"):
            if p is None:
                return x
            if int_shape(p)[2] != int_shape(x)[2]:
                with name_scope(f"adjust_reduction_block_{name}"):
                    return self._halved(p, filters, name)
            if int_shape(p)[3] != filters:
                with name_scope(f"adjust_projection_block_{name}"):
                    p = Activation("relu")(p)
                    p = _projected(p, filters, f"adjust_conv_projection_{name}", strides=(1, 1))
                    return _normalized(p, f"adjust_bn_{name}")
            return p

    def _halved(self, p, filters, name):
        p = Activation("relu", name=f"adjust_relu_1_{name}")(p)

        def half(x, i):
            x = AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name=f"adjust_avg_pool_{i}_{name}")(x)
            return _projected(x, filters // 2, f"adjust_conv_{i}_{name}")

        first = half(p, 1)
        moved = Cropping2D(cropping=((1, 0), (1, 0)))(ZeroPadding2D(padding=((0, 1), (0, 1)))(p))
        return _normalized(concatenate([first, half(moved, 2)], axis=-1), f"adjust_bn_{name}")

    def _begun(self, x, p, filters, kind, name):
        p = self._adjusted(p, x, filters, name)
        h = Activation("relu")(x)
        h = _projected(h, filters, f"{kind}_conv_1_{name}", strides=(1, 1))
        return p, _normalized(h, f"{kind}_bn_1_{name}")

    def normal(self, x, p, filters, name):
        """(outputs, x) of a cell that keeps lengths."""
        with name_scope(f"normal_A_block_{name}"):
            p, h = self._begun(x, p, filters, "normal", name)

            def average(y, side):
                return AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=f"normal_{side}_{name}")(y)

            def separable(y, window, side):
                return self._separable(y, filters, window, f"normal_{side}_{name}")

            with name_scope("block_1"):
                first = add([separable(h, 5, "left1"), separable(p, 3, "right1")], name=f"normal_add_1_{name}")
            with name_scope("block_2"):
                second = add([separable(p, 5, "left2"), separable(p, 3, "right2")], name=f"normal_add_2_{name}")
            with name_scope("block_3"):
                third = add([average(h, "left3"), p], name=f"normal_add_3_{name}")
            with name_scope("block_4"):
                fourth = add([average(p, "left4"), average(p, "right4")], name=f"normal_add_4_{name}")
            with name_scope("block_5"):
                fifth = add([separable(h, 3, "left5"), h], name=f"normal_add_5_{name}")
            parts = [p, first, second, third, fourth, fifth]
            return concatenate(parts, axis=-1, name=f"normal_concat_{name}"), x

    def reduction(self, x, p, filters, name):
        """(outputs, x) of a cell that halves lengths."""
        with name_scope(f"reduction_A_block_{name}"):
            p, h = self._begun(x, p, filters, "reduction", name)
            padded = ZeroPadding2D(padding=self._frame.padding_for_strides(h, 3), name=f"reduction_pad_1_{name}")(h)

            def pool(kind, side):
                return kind((3, 3), strides=(2, 2), padding="valid", name=f"reduction_{side}_{name}")(padded)

            def separable(y, window, side, strides=(2, 2)):
                return self._separable(y, filters, window, f"reduction_{side}_{name}", strides)

            with name_scope("block_1"):
                first = add([separable(h, 5, "left1"), separable(p, 7, "right1")], name=f"reduction_add_1_{name}")
            with name_scope("block_2"):
                parts = [pool(MaxPooling2D, "left2"), separable(p, 7, "right2")]
                second = add(parts, name=f"reduction_add_2_{name}")
            with name_scope("block_3"):
                parts = [pool(AveragePooling2D, "left3"), separable(p, 5, "right3")]
                third = add(parts, name=f"reduction_add3_{name}")
            with name_scope("block_4"):
                fourth = AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=f"reduction_left4_{name}")(
                    first
                )
                fourth = add([second, fourth])
            with name_scope("block_5"):
                parts = [separable(first, 3, "left4", (1, 1)), pool(MaxPooling2D, "right5")]
                fifth = add(parts, name=f"reduction_add4_{name}")
            parts = [second, third, fourth, fifth]
            return concatenate(parts, axis=-1, name=f"reduction_concat_{name}"), x


def _nasnet(frame, penultimate_filters, count, stem_filters, skips_reduction, files):
    filters = penultimate_filters // 24
    cells = _Cells(frame)
    x = Conv2D(stem_filters, (3, 3), strides=(2, 2), padding="valid", name="stem_conv1", **_MADE)(frame.input)
    x = _normalized(x, "stem_bn1")
    x, p = cells.reduction(x, None, filters // 4, "stem_1")
    x, p = cells.reduction(x, p, filters // 2, "stem_2")
    for stage in range(3):
        if stage:
            x, before = cells.reduction(x, p, filters * 2**stage, f"reduce_{stage * count}")
            p = p if skips_reduction else before
        for i in range(count):
            x, p = cells.normal(x, p, filters * 2**stage, str(stage * count + i + bool(stage)))
    x = Activation("relu")(x)
    return frame.model(frame.topped(x, "predictions"), "NASNet", _ORIGIN, files)


def _with_channels_last(make, size, *arguments):
    """The network made with channels last, which is all there is."""
    input_shape, include_top, weights, input_tensor, pooling, classes = arguments
    if isinstance(input_shape, tuple) and None in input_shape and weights == "imagenet":
        raise ValueError(
            "When specifying the input shape of a NASNet and loading `ImageNet` weights, the input_shape argument "
            f"must be static (no None entries). Got: `input_shape={input_shape}`."
        )
    data_format = image_data_format()
    if data_format != "channels_last":
        warnings.warn(
            'The NASNet family of models is only available for the input data format "channels_last" (width, height, '
            'channels). However your settings specify the default data format "channels_first" (channels, width, '
            'height). You should set `image_data_format="channels_last"` in your Keras config located at '
            "~/.keras/keras.json. The model being returned right now will expect inputs to follow the "
            '"channels_last" data format.',
            stacklevel=3,
        )
    set_image_data_format("channels_last")
    try:
        return make(Frame(include_top, weights, input_tensor, input_shape, pooling, classes, size, 32, True))
    finally:
        set_image_data_format(data_format)


@public("keras.applications.NASNetLarge", "keras.applications.nasnet.NASNetLarge")
def NASNetLarge(  # noqa: N802
    input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000
):
    """The large network of Zoph et al., 2018, whose cells were searched for: arXiv:1707.07012.

    Args:
      input_shape: the shape of pictures.
      include_top, weights, input_tensor, pooling, classes: see `VGG16`.

    Raises:
      ValueError: for weights that are neither, and arguments that do not fit them.
    """
    files = [
        ("NASNet-large.h5", "nasnet_large.h5", "11577c9a518f0070763c2b964a382f17"),
        ("NASNet-large-no-top.h5", "nasnet_large_no_top.h5", "d81d89dc07e6e56530c4e77faddd61b5"),
    ]
    arguments = input_shape, include_top, weights, input_tensor, pooling, classes
    return _with_channels_last(lambda frame: _nasnet(frame, 4032, 6, 96, True, files), 331, *arguments)


@public("keras.applications.NASNetMobile", "keras.applications.nasnet.NASNetMobile")
def NASNetMobile(  # noqa: N802
    input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000
):
    """The small network of Zoph et al., 2018, whose cells were searched for; see `NASNetLarge`."""
    files = [
        ("NASNet-mobile.h5", "nasnet_mobile.h5", "020fb642bf7360b370c678b08e0adf61"),
        ("NASNet-mobile-no-top.h5", "nasnet_mobile_no_top.h5", "1ed92395b5b598bdda52abe5c0dbfd63"),
    ]
    arguments = input_shape, include_top, weights, input_tensor, pooling, classes
    return _with_channels_last(lambda frame: _nasnet(frame, 1056, 4, 32, False, files), 224, *arguments)
