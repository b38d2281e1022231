"""The names and calls that other libraries have dropped and that old programs use, a module for each library.

What TensorFlow 1.15's programs were written for: scipy 1.1, h5py 2, Pillow 6, pandas 0.25, matplotlib 2, scikit-learn
0.20, networkx 2.3, PyYAML 3. A library is touched when a program imports it.
"""

from __future__ import annotations

import importlib
import sys

from stillflow.runner.old_modules import OldModule, OldModules, after_import, load_when_used

_OLD_MODULES: dict[str, OldModule] = {
    "scipy.misc": "stillflow.runner.libraries.scipy_misc",
    "scipy.sparse.linalg.eigen": "scipy.sparse.linalg",
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.grid_search": "sklearn.model_selection",
    "sklearn.datasets.samples_generator": "sklearn.datasets",
    "sklearn.externals.joblib": "joblib",
    "sklearn.externals.six": "six",
    "sklearn.linear_model.logistic": "sklearn.linear_model",
    "sklearn.metrics.classification": "sklearn.metrics",
    "sklearn.metrics.ranking": "sklearn.metrics",
    "sklearn.preprocessing.data": "sklearn.preprocessing",
    "sklearn.preprocessing.label": "sklearn.preprocessing",
}

# The module that is imported, and the module and function here that restore what it had.
_RESTORED = {
    "PIL.Image": "pillow.restore_filters",
    "PIL.ImageDraw": "pillow.restore_text_size_of_images",
    "PIL.ImageFont": "pillow.restore_text_size_of_fonts",
    "h5py": "h5py.restore",
    "matplotlib": "matplotlib.restore",
    "matplotlib.axes": "matplotlib.restore_axes",
    "matplotlib.backend_bases": "matplotlib.restore_window_title",
    "matplotlib.cm": "matplotlib.restore_colormaps",
    "matplotlib.figure": "matplotlib.restore_figure",
    "matplotlib.mlab": "matplotlib.restore_mlab",
    "matplotlib.pyplot": "matplotlib.restore_pyplot",
    "matplotlib.style": "matplotlib.restore_styles",
    "networkx": "networkx.restore",
    "pandas": "pandas.restore",
    "scipy": "scipy.restore",
    "scipy.integrate": "scipy.restore_integrate",
    "scipy.signal": "scipy.restore_signal",
    "skimage.measure": "scikit_image.restore_measure",
    "sklearn.preprocessing": "scikit_learn.restore_preprocessing",
    "yaml": "pyyaml.restore",
}

# Parts of libraries that few programs use, and which need what stillflow does not have: TensorFlow Probability 0.8
# batches programs by AutoGraph's inner transformations of sources.
_LATE = {
    "tensorflow_probability.python.experimental.auto_batching", "tensorflow_probability.python.experimental.mcmc",
}  # fmt: skip


def _restoring(place):
    module, _, function = place.partition(".")

    def restore(library):
        getattr(importlib.import_module(f"{__name__}.{module}"), function)(library)

    return restore


def install():
    """Makes other libraries answer to what they have dropped, when a program imports them."""
    sys.meta_path.insert(0, OldModules(_OLD_MODULES))
    after_import({library: _restoring(place) for library, place in _RESTORED.items()})
    load_when_used(_LATE)
