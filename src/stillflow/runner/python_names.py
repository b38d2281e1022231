"""The names that Python's own modules, and scipy's, have dropped since TensorFlow 1 and that old programs use."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import functools
import importlib
import importlib.abc
import importlib.util
import inspect
import math
import sys
import threading
import time
import types

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(func):
    """inspect.getargspec of Python 3.10. Raises ValueError for what it cannot express."""
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError(
            "Function has keyword-only parameters or annotations, use inspect.signature() API which can support them"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _formatargspec(args, varargs=None, varkw=None, defaults=None, *_, **__):
    """inspect.formatargspec of Python 3.10, for functions without annotations and keyword-only arguments."""
    first_default = len(args) - len(defaults or ())
    parts = [
        name if index < first_default else f"{name}={defaults[index - first_default]!r}"
        for index, name in enumerate(args)
    ]
    parts += [f"*{varargs}"] if varargs else []
    parts += [f"**{varkw}"] if varkw else []
    return f"({', '.join(parts)})"


def _load_source(name, path, file=None):
    """imp.load_source."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules[name] = module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


_DROPPED: dict[types.ModuleType, dict[str, object]] = {
    collections: {name: getattr(collections.abc, name) for name in (
        "Awaitable", "Callable", "Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable",
        "Iterator", "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet",
        "Reversible", "Sequence", "Set", "Sized", "ValuesView",
    )},
    inspect: {"ArgSpec": ArgSpec, "getargspec": _getargspec, "formatargspec": _formatargspec},
    time: {"clock": time.process_time},
    fractions: {"gcd": math.gcd},
    base64: {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes},
}  # fmt: skip
_DROPPED_METHODS = {threading.Thread: {"isAlive": threading.Thread.is_alive}}
# {module: what is in it, or the name of a module that has it}: for modules that are no longer there, and those that
# are there still with nothing in them.
_DROPPED_MODULES: dict[str, dict[str, object] | str] = {
    "imp": {"load_source": _load_source, "reload": importlib.reload, "new_module": types.ModuleType},
}  # fmt: skip
_EMPTIED_MODULES: dict[str, dict[str, object] | str] = {
    "scipy.misc": "stillflow.runner.scipy_misc",
    "scipy.sparse.linalg.eigen": "scipy.sparse.linalg",
    "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
}


def install():
    """Makes Python's modules answer to the names that they have dropped."""
    for module, names in _DROPPED.items():
        _answer(module, {name: value for name, value in names.items() if not hasattr(module, name)})
    for owner, methods in _DROPPED_METHODS.items():
        for name, method in methods.items():
            if not hasattr(owner, name):
                setattr(owner, name, method)
    sys.meta_path.append(_OldModules(_DROPPED_MODULES))
    sys.meta_path.insert(0, _OldModules(_EMPTIED_MODULES))


def _answer(module, names):
    """Lets a module have further attributes, which `dir` does not list."""
    if not names:
        return
    ask_module = module.__dict__.get("__getattr__")

    def find(name):
        if name in names:
            return names[name]
        if ask_module is not None:
            return ask_module(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = find


class _OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules as they were: {name: what is in it, or the name of a module that has it}."""

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
