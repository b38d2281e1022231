"""`import tensorflow` and its modules, served by stillflow, in this process.

A module below tensorflow is the namespace of that name below stillflow; see names.namespace. What is not here fails
with a sentence that says what is missing. So are those of tensorflow_estimator and tf_slim, packages of their own.
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


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it, or says what is missing."""

    def find_spec(self, fullname, path=None, target=None):
        top = fullname.partition(".")[0]
        if top == "stillflow":
            return _own_spec(fullname, path)
        if top not in (*_PACKAGES, "tf_slim"):
            return None
        if not namespace.is_namespace(_served_name(fullname)):
            # A name of None: `from package import name` must not replace the sentence by its own.
            raise ModuleNotFoundError(f"stillflow has no {fullname}: this part of TensorFlow 1.15 is missing")
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        sys.modules[module.__name__] = importlib.import_module(f"stillflow.{_served_name(module.__name__)}")


def _own_spec(fullname, path):
    """For `from tensorflow import keras`, which asks for stillflow.keras."""
    name = fullname.partition(".")[2]
    if path is None or namespace.is_namespace(name):
        return
    if importlib.machinery.PathFinder.find_spec(fullname, path) is None:
        raise ModuleNotFoundError(f"stillflow has no tensorflow.{name}: this part of TensorFlow 1.15 is missing")


def _served_name(fullname):
    """The namespace below stillflow that a module is. `tensorflow.compat.v1` is tensorflow over again."""
    top, _, name = fullname.partition(".")
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
