"""Submodules that TensorFlow 1.15 had loaded by itself: `import urllib`, and then `urllib.request` without more.

Programs that forget to import them worked. They are loaded here when they are first asked for.
"""

from __future__ import annotations

import importlib
import importlib.util

from stillflow.runner.old_modules import after_import, answer

_PACKAGES = (
    "PIL", "concurrent", "distutils", "email", "google.protobuf", "http", "importlib", "multiprocessing", "unittest",
    "urllib", "xml", "xml.dom",
)  # fmt: skip


class _Submodules:
    """The submodules of a package, by name, imported when one is read."""

    def __init__(self, package):
        self._package = package

    def __contains__(self, name):
        return not name.startswith("__") and importlib.util.find_spec(f"{self._package}.{name}") is not None

    def __getitem__(self, name):
        return importlib.import_module(f"{self._package}.{name}")


def _serve_submodules(package):
    answer(package, _Submodules(package.__name__))


def install():
    """Gives these packages their submodules."""
    after_import(dict.fromkeys(_PACKAGES, _serve_submodules))
