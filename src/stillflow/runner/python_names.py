"""The names that Python's own modules have dropped since TensorFlow 1 and that old programs use."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import importlib
import importlib.util
import inspect
import math
import sys
import threading
import time
import types

from stillflow.runner.old_modules import OldModule, OldModules

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
_DROPPED_MODULES: dict[str, OldModule] = {
    "imp": {"load_source": _load_source, "reload": importlib.reload, "new_module": types.ModuleType},
}  # fmt: skip


def install():
    """Makes Python's modules answer to the names that they have dropped."""
    for module, names in _DROPPED.items():
        _answer(module, {name: value for name, value in names.items() if not hasattr(module, name)})
    for owner, methods in _DROPPED_METHODS.items():
        for name, method in methods.items():
            if not hasattr(owner, name):
                setattr(owner, name, method)
    sys.meta_path.append(OldModules(_DROPPED_MODULES))


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
