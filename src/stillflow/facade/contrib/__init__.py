"""tf.contrib.*"""

from stillflow.facade.contrib import layers as layers


def __getattr__(name):
    if name == "eager":  # loaded when it is asked for
        import importlib

        return importlib.import_module("stillflow.facade.contrib.eager")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
