"""The names and calls that scipy, h5py, Pillow and PyYAML have dropped and that old programs use."""

from __future__ import annotations

import functools
import sys

import numpy as np

from stillflow.runner.old_modules import AfterImport, OldModule, OldModules

_OLD_MODULES: dict[str, OldModule] = {
    "scipy.misc": "stillflow.runner.scipy_misc",
    "scipy.sparse.linalg.eigen": "scipy.sparse.linalg",
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "sklearn.externals.joblib": "joblib",
}


def _name_filters(image):
    """PIL.Image.ANTIALIAS and its kin."""
    for old, name in (("ANTIALIAS", "LANCZOS"), ("CUBIC", "BICUBIC"), ("LINEAR", "BILINEAR")):
        if not hasattr(image, old):
            setattr(image, old, getattr(image.Resampling, name))


class _Text(str):
    """A text of an HDF5 file, which was bytes once."""

    def decode(self, encoding="utf-8", errors="strict"):
        """The text itself."""
        return str(self)


def _read_as_h5py_2(h5py):
    """h5py.Dataset.value, all that is in the file, and attributes whose texts can be decoded."""
    if not hasattr(h5py.Dataset, "value"):
        h5py.Dataset.value = property(lambda dataset: dataset[()])
    get_item = h5py.AttributeManager.__getitem__

    def get_text_to_decode(attributes, name):
        value = get_item(attributes, name)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return np.array([_Text(each) for each in value.flat], object).reshape(value.shape)
        return _Text(value) if type(value) is str else value

    h5py.AttributeManager.__getitem__ = get_text_to_decode


def _load_without_loader(yaml):
    """yaml.load(text), which has to be told how by now."""
    load = yaml.load

    @functools.wraps(load)
    def load_without_loader(stream, Loader=yaml.FullLoader):  # noqa: N803
        return load(stream, Loader)

    yaml.load = load_without_loader


def install():
    """Makes other libraries answer to what they have dropped, when a program imports them."""
    sys.meta_path.insert(0, OldModules(_OLD_MODULES))
    sys.meta_path.insert(
        0, AfterImport({"PIL.Image": _name_filters, "h5py": _read_as_h5py_2, "yaml": _load_without_loader})
    )
