"""tf.contrib.*"""

from stillflow.facade.contrib import layers as layers


def __getattr__(name):
    if name in ("eager", "tensorboard"):  # loaded when they are asked for
        import importlib

        return importlib.import_module(f"stillflow.facade.contrib.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
