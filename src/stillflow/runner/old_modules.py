"""Finds modules as they were, and changes others when they have been imported."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

OldModule = dict[str, object] | str  # what is in a module, or the name of a module that has it


class OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are no longer there, {name: OldModule}."""

    def __init__(self, modules):
        self._modules = modules

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self._modules:
            return None
        is_package = any(name.startswith(f"{fullname}.") for name in self._modules)
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        content = self._modules[module.__name__]
        if isinstance(content, str):
            other = importlib.import_module(content)
            content = {name: getattr(other, name) for name in dir(other) if not name.startswith("__")}
            module.__getattr__ = functools.partial(getattr, other)
        module.__dict__.update(content)


def answer(module, names):
    """Lets a module have further attributes, a mapping of names to values, which `dir` does not list."""
    ask_module = module.__dict__.get("__getattr__")

    def find(name):
        if name in names:
            return names[name]
        if ask_module is not None:
            return ask_module(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = find


def after_import(functions):
    """Calls functions with modules, {name: function}: now if they are imported, else when they have been."""
    for name, function in functions.items():
        if name in sys.modules:
            function(sys.modules[name])
    sys.meta_path.insert(0, _AfterImport({name: functions[name] for name in functions if name not in sys.modules}))


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls functions with modules that have just been imported, {name: function}."""

    def __init__(self, functions):
        self._functions = functions

    def find_spec(self, fullname, path=None, target=None):
        function = self._functions.get(fullname)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if function else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            function(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def load_when_used(names):
    """Has modules loaded when one of their attributes is first asked for, not when they are imported."""
    sys.meta_path.insert(0, _WhenUsed(names))


class _WhenUsed(importlib.abc.MetaPathFinder):
    """Finds modules that are to be loaded late, by their full names."""

    def __init__(self, names):
        self._names = names

    def find_spec(self, fullname, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if fullname in self._names else None
        if spec is not None and spec.loader is not None:
            spec.loader = importlib.util.LazyLoader(spec.loader)  # type: ignore[arg-type]
        return spec
