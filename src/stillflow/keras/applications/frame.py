"""What all networks have in common: the input, what is on top, and weights of a file."""

from __future__ import annotations

import os
import warnings

from stillflow.keras.backend.values import int_shape, is_keras_tensor
from stillflow.keras.cached_files import get_file
from stillflow.keras.engine.inputs import Input, get_source_inputs
from stillflow.keras.engine.model import Model
from stillflow.keras.layers.global_pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from stillflow.layers.core.dense import Dense
from stillflow.layers.core.settings import image_data_format

KERNELS = "_weights_tf_dim_ordering_tf_kernels"


class Frame:
    """One network that is being made.

    Args:
      include_top: whether there are the layers that tell classes.
      weights: None for random ones, "imagenet", or a file.
      input_tensor: a tensor to see, or None for a new input.
      input_shape: the shape of pictures.
      pooling: "avg" or "max" for one number of each channel, where there is no top; None for none.
      classes: how many classes there are.
      default_size, min_size: lengths of pictures.
      has_fixed_size: whether lengths have to be known; by default that is so where there is a top.

    Raises:
      ValueError: for weights that are neither, and shapes or numbers of classes that do not fit them.
    """

    def __init__(
        self, include_top, weights, input_tensor, input_shape, pooling, classes, default_size, min_size,
        has_fixed_size=None,
    ):  # fmt: skip
        if weights not in ("imagenet", None) and not os.path.exists(weights):  # noqa: PTH110
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                "ImageNet), or the path to the weights file to be loaded."
            )
        if weights == "imagenet" and include_top and classes != 1000:
            raise ValueError(
                'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000'
            )
        self.include_top = include_top
        self.weights = weights
        self.pooling = pooling
        self.classes = classes
        self.channels_first = image_data_format() == "channels_first"
        self.channel_axis = 1 if self.channels_first else 3
        is_fixed = include_top if has_fixed_size is None else has_fixed_size
        self.input_shape = self._shape(input_shape, default_size, min_size, is_fixed)
        self._input_tensor = input_tensor
        if input_tensor is None:
            self.input = Input(shape=self.input_shape)
        elif is_keras_tensor(input_tensor):
            self.input = input_tensor
        else:
            self.input = Input(tensor=input_tensor, shape=self.input_shape)

    def _shape(self, shape, default_size, min_size, is_fixed):
        channels = 3
        if self.weights != "imagenet" and shape and len(shape) == 3:
            channels = shape[0 if self.channels_first else -1]
            if channels not in (1, 3):
                warnings.warn(
                    "This model usually expects 1 or 3 input channels. However, it was passed an input_shape with "
                    f"{channels} input channels.",
                    stacklevel=4,
                )
        default = self._ordered(default_size, default_size, channels)
        if self.weights == "imagenet" and is_fixed:
            if shape is not None and tuple(shape) != default:
                raise ValueError(
                    "When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                    f"{default}."
                )
            return default
        if not shape:
            shape = default if is_fixed else self._ordered(None, None, 3)
        else:
            self._check(shape, min_size)
        if is_fixed and None in shape:
            raise ValueError(
                f"If `include_top` is True, you should specify a static `input_shape`. Got `input_shape={shape}`"
            )
        return shape

    def _ordered(self, rows, columns, channels):
        return (channels, rows, columns) if self.channels_first else (rows, columns, channels)

    def _check(self, shape, min_size):
        if len(shape) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers.")
        if self.weights == "imagenet" and shape[0 if self.channels_first else -1] != 3:
            raise ValueError(f"The input must have 3 channels; got `input_shape={shape}`")
        lengths = shape[1:] if self.channels_first else shape[:2]
        if any(length is not None and length < min_size for length in lengths):
            raise ValueError(f"Input size must be at least {min_size}x{min_size}; got `input_shape={shape}`")

    def channels(self, x):
        """How many channels a tensor has."""
        return int_shape(x)[self.channel_axis]

    def lengths(self, x):
        """The lengths of pictures."""
        first = 2 if self.channels_first else 1
        return int_shape(x)[first : first + 2]

    def padding_for_strides(self, x, window):
        """The padding with which a window that moves two pixels sees what "same" padding shows it."""
        return tuple(
            (size // 2 - (1 if length is None else 1 - length % 2), size // 2)
            for length, size in zip(self.lengths(x), (window, window), strict=True)
        )

    # ---- Top ------------------------------------------------------------------------------------------------

    def topped(self, x, dense_name, average_name=None, max_name=None, own_average_name=None):
        """x with its classes, or pooled as the arguments say."""
        if self.include_top:
            x = GlobalAveragePooling2D(name=average_name)(x)
            return Dense(self.classes, activation="softmax", name=dense_name)(x)
        return self.pooled(x, own_average_name, max_name)

    def pooled(self, x, average_name=None, max_name=None):
        """x pooled as `pooling` says."""
        if self.pooling == "avg":
            return GlobalAveragePooling2D(name=average_name)(x)
        return GlobalMaxPooling2D(name=max_name)(x) if self.pooling == "max" else x

    def model(self, x, name, origin, files):
        """The model, with its weights.

        Args:
          x: the output.
          name: the model's name.
          origin: the address of the folder with weights.
          files: (name there, name here, hash or None) of weights with a top, and of those without.
        """
        inputs = self.input if self._input_tensor is None else get_source_inputs(self._input_tensor)
        model = Model(inputs, x, name=name)
        path = self.weights
        if path == "imagenet":
            there, here, file_hash = files[0 if self.include_top else 1]
            path = get_file(here, origin + there, cache_subdir="models", file_hash=file_hash)
        if path is not None:
            model.load_weights(path)
        return model


def kernel_files(stem, *hashes):
    """Names and hashes of files that are called as most are."""
    names = [f"{stem}{KERNELS}{ending}.h5" for ending in ("", "_notop")]
    return [(name, name, file_hash) for name, file_hash in zip(names, hashes, strict=True)]
