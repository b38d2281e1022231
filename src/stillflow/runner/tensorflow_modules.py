"""`import tensorflow` and its modules, served by stillflow, in this process.

A module below tensorflow is the namespace of that name below stillflow; see names.namespace. What is not here fails
with a sentence that says what is missing. So are the packages tensorflow_estimator and tf_slim, and keras where it is
not installed: `import keras` is tf.keras, whose modules may be called as Keras 2.2 called them.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys

from stillflow.names import namespace, public

_PACKAGES = ("tensorflow", "tensorflow_estimator")

# tf_slim, the package that tf.contrib.slim became: where its modules are here. What is not listed is as in it.
_SLIM = {
    "data": "contrib.slim",
    "ops": "contrib.framework.python.ops",
    "ops.arg_scope": "contrib.framework.python.ops.arg_scope",
    "ops.variables": "contrib.framework.python.ops.variables",
    "training": "contrib.training",
    "training.evaluation": "contrib.training.python.training.evaluation",
    "training.training": "contrib.training.python.training.training",
}

# Modules of Keras 2.2 whose names tf.keras has elsewhere.
_MODULES_OF_KERAS = {
    "backend.tensorflow_backend": "backend", "callbacks.callbacks": "callbacks", "engine": "layers",
    "engine.base_layer": "layers", "engine.input_layer": "layers", "engine.network": "models",
    "engine.sequential": "models", "engine.topology": "layers", "engine.training": "models", "objectives": "losses",
    **dict.fromkeys(
        (
            "layers.advanced_activations", "layers.convolutional", "layers.convolutional_recurrent", "layers.core",
            "layers.embeddings", "layers.local", "layers.merge", "layers.noise", "layers.normalization",
            "layers.pooling", "layers.recurrent", "layers.wrappers",
        ),
        "layers",
    ),
    **dict.fromkeys(
        (
            "utils.data_utils", "utils.generic_utils", "utils.io_utils", "utils.np_utils", "utils.training_utils",
            "utils.vis_utils",
        ),
        "utils",
    ),
}  # fmt: skip

# Where Keras 2.7 and later keep the cells of TensorFlow 1.
_CELLS_OF_KERAS = {"layers.legacy_rnn": "nn.rnn_cell", "layers.legacy_rnn.rnn_cell_impl": "python.ops.rnn_cell_impl"}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it, or says what is missing."""

    def find_spec(self, fullname, path=None, target=None):
        top = fullname.partition(".")[0]
        if top == "stillflow":
            return _own_spec(fullname, path)
        if top == "keras":
            return self._keras_spec(fullname)
        if top not in (*_PACKAGES, "tf_slim"):
            return None
        if not namespace.is_namespace(_served_name(fullname)):
            raise _not_found(fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def _keras_spec(self, fullname):
        """For `keras` and what is below it, unless another keras is there."""
        known = sys.modules.get("keras")
        found = None if known is not None else importlib.machinery.PathFinder.find_spec("keras")
        if found is not None and found.loader is not None:  # a mere folder of that name would not hide Keras either
            return None
        if known is not None and known is not sys.modules.get("stillflow.keras"):
            return None
        if not namespace.is_namespace(_served_name(fullname)):
            raise ModuleNotFoundError(f"stillflow has no {fullname}: this part of Keras is missing")
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = _served_name(module.__name__.removeprefix("stillflow."))
        sys.modules[module.__name__] = importlib.import_module(f"stillflow.{name}")


def _not_found(fullname):
    """The error for what is no module.

    Programs that look for a class by its path try its path as a module first, and so does pydoc.locate, which asks
    for the error's name. What is not here at all has none: `from package import name` must not replace the sentence
    by its own.
    """
    try:
        namespace.find(_served_name(fullname))
    except KeyError:
        return ModuleNotFoundError(f"stillflow has no {fullname}: this part of TensorFlow 1.15 is missing")
    return ModuleNotFoundError(f"No module named {fullname!r}: it is a name in a module", name=fullname)


def _name_of_keras(name):
    """The namespace that a module of Keras is: keras.layers.core is keras.layers."""
    if name in _CELLS_OF_KERAS:
        return _CELLS_OF_KERAS[name]
    name = _MODULES_OF_KERAS.get(name, name)
    return f"keras.{name}" if name else "keras"


def _own_spec(fullname, path):
    """For `from tensorflow import keras`, which asks for stillflow.keras."""
    name = fullname.partition(".")[2]
    if path is None or namespace.is_namespace(name):
        return None
    if name.startswith("keras.utils.") and name.partition(".")[2] in _MODULES_OF_KERAS:
        return importlib.machinery.ModuleSpec(fullname, _FINDER, is_package=True)
    if importlib.machinery.PathFinder.find_spec(fullname, path) is None:
        raise ModuleNotFoundError(f"stillflow has no tensorflow.{name}: this part of TensorFlow 1.15 is missing")
    return None


def _served_name(fullname):
    """The namespace below stillflow that a module is. `tensorflow.compat.v1` is tensorflow over again."""
    top, _, name = fullname.partition(".")
    if top == "keras":
        return _name_of_keras(name)
    if top != "tf_slim":
        return name.removeprefix("compat.v1.")
    if name in _SLIM:
        return _SLIM[name]
    return f"contrib.slim.{name.removeprefix('data.')}".removesuffix(".")


_FINDER = _Finder()


@public("install_as_tensorflow")
def install():
    """Makes `import tensorflow` in this process mean stillflow, with the modules that it has.

    Raises RuntimeError if another tensorflow has been imported already.
    """
    import stillflow

    found = sys.modules.get("tensorflow")
    if found is not None and found is not stillflow:
        raise RuntimeError(
            "Another tensorflow has been imported already; install_as_tensorflow must come before that"
        )
    for name in _PACKAGES:
        sys.modules[name] = stillflow
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
