"""Registries: objects under names, as TensorFlow's own modules and programs keep them."""

from __future__ import annotations

import sys

from stillflow.names import public
from stillflow.platform.compat import as_text


@public("python.framework.registry.Registry")
class Registry:
    """Objects under names that are given once. `name` says in errors what they are."""

    def __init__(self, name):
        self._name = name
        self._registry = {}

    def register(self, candidate, name=None):
        """Adds an object; by default under its `__name__`. Raises KeyError if the name is taken."""
        name = name or candidate.__name__
        if name in self._registry:
            _, file, line, function = self._registry[name]
            raise KeyError(
                f"Registering two {self._name} with name '{name}'! "
                f"(Previous registration was in {function} {file}:{line})"
            )
        caller = sys._getframe(1)
        self._registry[name] = candidate, caller.f_code.co_filename, caller.f_lineno, caller.f_code.co_name

    def list(self):
        """The names."""
        return self._registry.keys()

    def lookup(self, name):
        """The object of that name. Raises LookupError if there is none."""
        name = as_text(name)
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name][0]
