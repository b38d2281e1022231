"""ImageDataGenerator: pictures transformed at random, and made of mean 0 and variance 1."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from stillflow.keras.preprocessing.augmentation import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
    flip_axis,
)
from stillflow.keras.preprocessing.batches import NumpyArrayIterator
from stillflow.keras.preprocessing.folders import DataFrameIterator, DirectoryIterator
from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.names import public


@public("keras.preprocessing.image.ImageDataGenerator")
class ImageDataGenerator:
    """Batches of pictures that are transformed at random.

    Args:
      featurewise_center, featurewise_std_normalization: whether the mean of each channel becomes 0, and its deviation
        1, as `fit` found them.
      samplewise_center, samplewise_std_normalization: the same, of each picture on its own.
      zca_whitening, zca_epsilon: whether pixels are made independent of each other, and what is added to variances.
      rotation_range: by how many degrees pictures are turned.
      width_shift_range, height_shift_range: by which share, or how many pixels, or one of which numbers of pixels,
        they are moved.
      brightness_range: a pair of factors of brightness.
      shear_range: by how many degrees they are sheared.
      zoom_range: by which share they are zoomed, or a pair of factors.
      channel_shift_range: which number is added to channels.
      fill_mode, cval: see `apply_affine_transform`.
      horizontal_flip, vertical_flip: whether half of them is flipped.
      rescale: a factor of all pixels.
      preprocessing_function: a function of a picture, applied after the transformations.
      data_format: "channels_last" or "channels_first".
      validation_split: the share of pictures for validation.
      dtype: the type of batches; `floatx` by default.

    Raises:
      ValueError: for another format, split or range.
    """

    def __init__(
        self, featurewise_center=False, samplewise_center=False, featurewise_std_normalization=False,
        samplewise_std_normalization=False, zca_whitening=False, zca_epsilon=1e-6, rotation_range=0,
        width_shift_range=0.0, height_shift_range=0.0, brightness_range=None, shear_range=0.0, zoom_range=0.0,
        channel_shift_range=0.0, fill_mode="nearest", cval=0.0, horizontal_flip=False, vertical_flip=False,
        rescale=None, preprocessing_function=None, data_format=None, validation_split=0.0, dtype=None,
    ):  # fmt: skip
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.shear_range = shear_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = dtype or floatx()
        self.interpolation_order = 1
        self.mean: Any = None
        self.std: Any = None
        self.principal_components: Any = None
        self._set_axes(data_format or image_data_format())
        if validation_split and not 0 < validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {validation_split}")
        self._validation_split = validation_split
        self.zoom_range = _zoom_factors(zoom_range)
        self._complete_options()
        if brightness_range is not None and (
            not isinstance(brightness_range, (tuple, list)) or len(brightness_range) != 2
        ):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
        self.brightness_range = brightness_range

    def _set_axes(self, data_format):
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` '
                f"(channel before row and column). Received: {data_format}"
            )
        self.data_format = data_format
        axes = (1, 2, 3) if data_format == "channels_first" else (3, 1, 2)
        self.channel_axis, self.row_axis, self.col_axis = axes

    def _complete_options(self):
        """Sets options that others need."""

        def override(option, value, other):
            if getattr(self, option) != value:
                setattr(self, option, value)
                warnings.warn(
                    f"This ImageDataGenerator specifies `{other}`, which overrides setting of `{option}`.",
                    stacklevel=4,
                )

        if self.zca_whitening:
            override("featurewise_center", True, "zca_whitening")
            override("featurewise_std_normalization", False, "zca_whitening")
        if self.featurewise_std_normalization:
            override("featurewise_center", True, "featurewise_std_normalization")
        if self.samplewise_std_normalization:
            override("samplewise_center", True, "samplewise_std_normalization")

    # ---- Batches --------------------------------------------------------------------------------------------

    def flow(
        self, x, y=None, batch_size=32, shuffle=True, sample_weight=None, seed=None, save_to_dir=None, save_prefix="",
        save_format="png", subset=None,
    ):  # fmt: skip
        """Batches of an array; see `NumpyArrayIterator`."""
        return NumpyArrayIterator(
            x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight, seed=seed,
            data_format=self.data_format, save_to_dir=save_to_dir, save_prefix=save_prefix, save_format=save_format,
            subset=subset, dtype=self.dtype,
        )  # fmt: skip

    def flow_from_directory(
        self, directory, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
        batch_size=32, shuffle=True, seed=None, save_to_dir=None, save_prefix="", save_format="png",
        follow_links=False, subset=None, interpolation="nearest",
    ):  # fmt: skip
        """Batches of folders; see `DirectoryIterator`."""
        return DirectoryIterator(
            directory, self, target_size=target_size, color_mode=color_mode, classes=classes, class_mode=class_mode,
            data_format=self.data_format, batch_size=batch_size, shuffle=shuffle, seed=seed, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format, follow_links=follow_links, subset=subset,
            interpolation=interpolation, dtype=self.dtype,
        )  # fmt: skip

    def flow_from_dataframe(
        self, dataframe, directory=None, x_col="filename", y_col="class", weight_col=None, target_size=(256, 256),
        color_mode="rgb", classes=None, class_mode="categorical", batch_size=32, shuffle=True, seed=None,
        save_to_dir=None, save_prefix="", save_format="png", subset=None, interpolation="nearest",
        validate_filenames=True, **kwargs,
    ):  # fmt: skip
        """Batches of the files that a data frame of pandas names.

        Args:
          dataframe: the data frame.
          directory: the folder that names are relative to.
          x_col, y_col, weight_col: the columns of names, of targets (or a list of columns), and of weights.
          class_mode: what targets are: "binary", "categorical", "sparse", "input", "raw" (as they are),
            "multi_output" (of a list of columns), or None for none.
          classes: the names of classes; by default all that there are.
          validate_filenames: whether to leave out what is no picture.
          The rest: see `DirectoryIterator`.

        Raises:
          TypeError, ValueError: for columns that do not fit the mode.
        """
        if class_mode == "other":
            warnings.warn(
                '`class_mode` "other" is deprecated, please use `class_mode` "raw".', DeprecationWarning, stacklevel=2
            )
            class_mode = "raw"
        for key in kwargs:
            if key in ("has_ext", "sort", "drop_duplicates"):
                warnings.warn(f"{key} is deprecated.", DeprecationWarning, stacklevel=2)
        return DataFrameIterator(
            dataframe, directory, self, x_col=x_col, y_col=y_col, weight_col=weight_col, target_size=target_size,
            color_mode=color_mode, classes=classes, class_mode=class_mode, data_format=self.data_format,
            batch_size=batch_size, shuffle=shuffle, seed=seed, save_to_dir=save_to_dir, save_prefix=save_prefix,
            save_format=save_format, subset=subset, interpolation=interpolation,
            validate_filenames=validate_filenames, dtype=self.dtype,
        )  # fmt: skip

    # ---- Single pictures ------------------------------------------------------------------------------------

    def standardize(self, x):
        """A picture, or several, with mean and deviation as the options say. Changes the array, if it can."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._is_fitted("featurewise_center", self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._is_fitted("featurewise_std_normalization", self.std):
            x /= self.std + 1e-6
        if self.zca_whitening and self._is_fitted("zca_whitening", self.principal_components):
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(np.dot(flat, self.principal_components), x.shape)
        return x

    def _is_fitted(self, option, value):
        if value is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{option}`, but it hasn't been fit on any training data. Fit it "
                "first by calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return value is not None

    def get_random_transform(self, img_shape, seed=None):
        """A dictionary of what to do to a picture of that shape, for `apply_transform`."""
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _random_shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _random_shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        flips = [(np.random.random() < 0.5) * flip for flip in (self.horizontal_flip, self.vertical_flip)]
        shift, brightness = None, None
        if self.channel_shift_range != 0:
            shift = np.random.uniform(-self.channel_shift_range, self.channel_shift_range)
        if self.brightness_range is not None:
            brightness = np.random.uniform(self.brightness_range[0], self.brightness_range[1])
        return {
            "theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy, "flip_horizontal": flips[0],
            "flip_vertical": flips[1], "channel_shift_intensity": shift, "brightness": brightness,
        }  # fmt: skip

    def apply_transform(self, x, transform_parameters):
        """A picture, transformed as a dictionary says; see `get_random_transform`."""
        parameters = transform_parameters
        row, column, channel = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        defaults = {"theta": 0, "tx": 0, "ty": 0, "shear": 0, "zx": 1, "zy": 1}
        x = apply_affine_transform(
            x, **{key: parameters.get(key, value) for key, value in defaults.items()}, row_axis=row, col_axis=column,
            channel_axis=channel, fill_mode=self.fill_mode, cval=self.cval, order=self.interpolation_order,
        )  # fmt: skip
        if parameters.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, parameters["channel_shift_intensity"], channel)
        if parameters.get("flip_horizontal", False):
            x = flip_axis(x, column)
        if parameters.get("flip_vertical", False):
            x = flip_axis(x, row)
        if parameters.get("brightness") is not None:
            x = apply_brightness_shift(x, parameters["brightness"])
        return x

    def random_transform(self, x, seed=None):
        """A picture, transformed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    # ---- Statistics -----------------------------------------------------------------------------------------

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Finds what "featurewise" options and whitening need, of an array of pictures.

        Args:
          x: an array of four dimensions.
          augment: whether to transform pictures at random before.
          rounds: how often each one, then.
          seed: the seed of that.

        Raises:
          ImportError: for whitening without SciPy.
          ValueError: for another rank.
        """
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        channels = x.shape[self.channel_axis]
        if channels not in (1, 3, 4):
            axis = self.channel_axis
            warnings.warn(
                f'Expected input to be images (as Numpy array) following the data format convention "'
                f'{self.data_format}" (channels on axis {axis}), i.e. expected either 1, 3 or 4 channels on axis '
                f"{axis}. However, it was passed an array with shape {x.shape} ({channels} channels).",
                stacklevel=2,
            )
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(picture) for _ in range(rounds) for picture in x]).astype(self.dtype)
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = channels
        axes = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = np.reshape(np.mean(x, axis=axes), shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.reshape(np.std(x, axis=axes), shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            self._fit_whitening(x.reshape(len(x), -1))

    def _fit_whitening(self, flat):
        try:
            from scipy import linalg
        except ImportError:
            raise ImportError("Using zca_whitening requires SciPy. Install SciPy.") from None
        vectors, variances, _ = linalg.svd(np.dot(flat.T, flat) / len(flat))
        inverse = 1.0 / np.sqrt(variances[np.newaxis] + self.zca_epsilon)
        self.principal_components = (vectors * inverse).dot(vectors.T)


def _zoom_factors(zoom_range):
    if isinstance(zoom_range, (float, int)):
        return [1 - zoom_range, 1 + zoom_range]
    if len(zoom_range) == 2 and all(isinstance(factor, (float, int)) for factor in zoom_range):
        return list(zoom_range)
    raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {zoom_range}")


def _random_shift(shift_range, size):
    """How many pixels to move, by a share of the size, a number of pixels, or one of several numbers."""
    if not shift_range:
        return 0
    try:
        shift = np.random.choice(shift_range)
        shift *= np.random.choice([-1, 1])
    except ValueError:
        shift = np.random.uniform(-shift_range, shift_range)
    return shift * size if np.max(shift_range) < 1 else shift
