"""DirectoryIterator and DataFrameIterator: batches of pictures of files."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from stillflow.keras.preprocessing.batches import Iterator, save_pictures
from stillflow.keras.preprocessing.pictures import FORMATS, img_to_array, load_img
from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.names import public

_CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}
_WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


class _FileIterator(Iterator):
    """Batches of pictures of files, with targets by classes or of columns."""

    filepaths: list
    classes: Any = None
    labels: Any = None
    sample_weight: Any = None
    class_indices: dict
    class_mode: Any

    def _set_options(
        self, generator, target_size, color_mode, data_format, save_to_dir, save_prefix, save_format, subset,
        interpolation, dtype,
    ):  # fmt: skip
        self.image_data_generator = generator
        self.target_size = tuple(target_size)
        if color_mode not in _CHANNELS:
            raise ValueError("Invalid color mode:", color_mode, '; expected "rgb", "rgba", or "grayscale".')
        self.color_mode = color_mode
        self.data_format = data_format or image_data_format()
        channels = _CHANNELS[color_mode]
        is_last = self.data_format == "channels_last"
        self.image_shape = (*self.target_size, channels) if is_last else (channels, *self.target_size)
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        self.interpolation = interpolation
        self.dtype = dtype or floatx()
        self.subset = subset
        self.split = None
        if subset is not None:
            share = generator._validation_split
            splits = {"validation": (0, share), "training": (share, 1)}
            if subset not in splits:
                raise ValueError(f'Invalid subset name: {subset};expected "training" or "validation"')
            self.split = splits[subset]

    def _picture(self, path):
        picture = load_img(
            path, color_mode=self.color_mode, target_size=self.target_size, interpolation=self.interpolation
        )
        x = img_to_array(picture, data_format=self.data_format)
        picture.close()
        generator = self.image_data_generator
        if generator:
            parameters = generator.get_random_transform(x.shape)
            x = generator.standardize(generator.apply_transform(x, parameters))
        return x

    def _get_batches_of_transformed_samples(self, index_array):
        pictures = np.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for i, number in enumerate(index_array):
            pictures[i] = self._picture(self.filepaths[number])
        if self.save_to_dir:
            save_pictures(
                pictures, index_array, self.save_to_dir, self.save_prefix, self.save_format, self.data_format,
                10_000_000,
            )  # fmt: skip
        if self.class_mode is None:
            return pictures
        targets = self._targets_of(pictures, index_array)
        if self.sample_weight is None:
            return pictures, targets
        return pictures, targets, self.sample_weight[index_array]

    def _targets_of(self, pictures, index_array):
        if self.class_mode == "input":
            return pictures.copy()
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        if self.class_mode in ("binary", "sparse"):
            return np.array([self.classes[number] for number in index_array], dtype=self.dtype)
        targets = np.zeros((len(pictures), len(self.class_indices)), dtype=self.dtype)
        for i, number in enumerate(index_array):
            targets[i, self.classes[number]] = 1.0
        return targets


def _pictures_in(folder, follow_links):
    """The paths of pictures, sorted by folder and name."""
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda found: found[0]):
        for name in sorted(names):
            if name.lower().endswith(".tiff"):
                warnings.warn(
                    'Using ".tiff" files with multiple bands will cause distortion. Please verify your output.',
                    stacklevel=4,
                )
            if name.lower().endswith(FORMATS):
                yield os.path.join(root, name)  # noqa: PTH118


@public("keras.preprocessing.image.DirectoryIterator")
class DirectoryIterator(_FileIterator):
    """Batches of the pictures in folders, a class each.

    Args:
      directory: the folder of these folders.
      image_data_generator: an `ImageDataGenerator`, or None.
      target_size: (height, width) of pictures.
      color_mode: "rgb", "rgba" or "grayscale".
      classes: the names of folders; by default all, sorted.
      class_mode: what targets are: "categorical" (rows), "binary" or "sparse" (numbers), "input" (the pictures), or
        None for none.
      batch_size, shuffle, seed: see `Iterator`.
      data_format: "channels_last" or "channels_first".
      save_to_dir, save_prefix, save_format: see `NumpyArrayIterator`.
      follow_links: whether to follow links to folders.
      subset: "training" or "validation", if the generator splits data.
      interpolation: see `load_img`.
      dtype: the type of batches; `floatx` by default.

    Raises:
      ValueError: for another mode or subset.
    """

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(
        self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None,
        class_mode="categorical", batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None,
        save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest", dtype=None,
    ):  # fmt: skip
        self._set_options(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix, save_format, subset,
            interpolation, dtype,
        )  # fmt: skip
        self.directory = directory
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}")
        self.class_mode = class_mode
        if not classes:
            classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
        self.num_classes = len(classes)
        self.class_indices = {name: i for i, name in enumerate(classes)}
        self.filenames: list = []
        numbers: list = []
        for i, name in enumerate(classes):
            found = list(_pictures_in(os.path.join(directory, name), follow_links))  # noqa: PTH118
            if self.split:
                start, stop = (int(share * len(found)) for share in self.split)
                found = found[start:stop]
            self.filenames += [os.path.relpath(path, directory) for path in found]
            numbers += [i] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, dtype="int32")
        print(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self.filepaths = [os.path.join(directory, name) for name in self.filenames]  # noqa: PTH118
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def labels(self):
        """The numbers of classes."""
        return self.classes


class DataFrameIterator(_FileIterator):
    """Batches of the pictures whose files a data frame of pandas names; see `ImageDataGenerator`."""

    allowed_class_modes = {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}

    def __init__(
        self, dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class", weight_col=None,
        target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical", batch_size=32, shuffle=True,
        seed=None, data_format=None, save_to_dir=None, save_prefix="", save_format="png", subset=None,
        interpolation="nearest", dtype=None, validate_filenames=True,
    ):  # fmt: skip
        self._set_options(
            image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix, save_format, subset,
            interpolation, dtype,
        )  # fmt: skip
        frame = dataframe.copy()
        self.directory = directory or ""
        self.class_mode = class_mode
        self._check(frame, x_col, y_col, weight_col, classes)
        if validate_filenames:
            frame = self._with_pictures(frame, x_col)
        has_classes = class_mode not in _WITHOUT_CLASSES
        if has_classes:
            frame, classes = self._with_classes(frame, y_col, classes)
            self.class_indices = {name: i for i, name in enumerate(classes)}
        if self.split:
            start, stop = (int(share * len(frame)) for share in self.split)
            frame = frame.iloc[start:stop, :]
        if has_classes:
            self.classes = [self._class_of(label) for label in frame[y_col]]
        self.filenames = frame[x_col].tolist()
        self.sample_weight = frame[weight_col].values if weight_col else None
        self.labels = self.classes
        if class_mode == "multi_output":
            self.labels = [np.array(frame[column].tolist()) for column in y_col]
        elif class_mode == "raw":
            self.labels = frame[y_col].values
        self.samples = len(self.filenames)
        kind = "validated" if validate_filenames else "non-validated"
        ending = f" belonging to {len(classes)} classes." if has_classes else "."
        print(f"Found {self.samples} {kind} image filenames{ending}")
        self.filepaths = [os.path.join(self.directory, name) for name in self.filenames]  # noqa: PTH118
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check(self, frame, x_col, y_col, weight_col, classes):
        mode = self.class_mode
        if mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {mode}; expected one of: {self.allowed_class_modes}")
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.')
        if not all(isinstance(name, str) for name in frame[x_col]):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode in ("binary", "sparse") and not all(isinstance(label, str) for label in frame[y_col]):
            raise TypeError(f'If class_mode="{mode}", y_col="{y_col}" column values must be strings.')
        if mode == "binary":
            count = len(set(classes)) if classes else frame[y_col].nunique()
            if count != 2:
                found = f"{count} class/es were given." if classes else f"Found {count} classes."
                raise ValueError(f'If class_mode="binary" there must be 2 classes. {found}')
        if mode == "categorical" and not all(isinstance(label, (str, list, tuple)) for label in frame[y_col]):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be type string, list or tuple.'
            )
        if classes and mode in _WITHOUT_CLASSES:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=4)
        if weight_col and not issubclass(frame[weight_col].dtype.type, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_pictures(self, frame, x_col):
        """The rows whose file is a picture."""
        paths = (os.path.join(self.directory, name) for name in frame[x_col])  # noqa: PTH118
        mask = np.array([path.lower().endswith(FORMATS) and os.path.isfile(path) for path in paths], bool)  # noqa: PTH113
        if not mask.all():
            warnings.warn(
                f'Found {(~mask).sum()} invalid image filename(s) in x_col="{x_col}". These filename(s) will be '
                "ignored.",
                stacklevel=4,
            )
        return frame[mask]

    def _with_classes(self, frame, y_col, classes):
        """(the rows that have a class, the names of classes, sorted)."""
        if classes:
            names = set(classes)

            def kept(labels):
                if isinstance(labels, str):
                    return labels if labels in names else None
                return [label for label in labels if label in names] or None

            frame = frame.assign(**{y_col: [kept(labels) for labels in frame[y_col]]})
        else:
            names = set()
            for labels in frame[y_col]:
                names.update([labels] if isinstance(labels, str) else labels)
        return frame.dropna(subset=[y_col]), sorted(names)

    def _class_of(self, label):
        if isinstance(label, (list, tuple)):
            return [self.class_indices[each] for each in label]
        return self.class_indices[label]
